"""Declarations of the full tier of all papers, and errors in them."""

from importlib import import_module

import pytest
import yaml
from harness import published
from pydantic import ValidationError
from rehearsal.targets import CHAPTERS

from everycell.cli.full_tier import select_full
from everycell.config import Config, read_config
from everycell.records.cells import RecordError
from everycell.records.full_runs import (
    FullRun,
    FullTier,
    Material,
    format_keys,
    format_number,
    load_full_tier,
    material_notes,
    minimal_settings,
    missing_settings,
    runs_in_full,
    setting_value,
    split_by_settings,
)
from everycell.records.papers import all_artefacts, load_papers


@pytest.fixture(scope="module")
def papers(repository):
    return published()


@pytest.fixture(scope="module")
def tier(repository, papers):
    return load_full_tier(repository / "published", papers)


def test_describe_requirements_of_each_artefact(papers, tier):
    result = [artefact for artefact in all_artefacts(papers) if runs_in_full(artefact)]
    assert len(result) > 60
    for artefact in result:
        assert tier.of([artefact.id]), artefact.id
        assert "GB of disk" in tier.describe_requirements([artefact.id])


def test_setting_value_of_materials_and_models(tier):
    for material in tier.materials.values():
        for key in material.settings:
            setting_value(Config(), key)
    for run in tier.runs.values():
        for key in run.models:
            setting_value(Config(), key)
    used = {name for run in tier.runs.values() for name in run.materials}
    assert used == tier.materials.keys()


def test_settings_of_records_belong_to_their_runs(papers, tier):
    for artefact in filter(runs_in_full, all_artefacts(papers)):
        runs = tier.of([artefact.id]).values()
        known = {key for run in runs for key in run.models}
        known |= {
            key for item in tier.materials_of([artefact.id]).values() for key in item.settings
        }
        waited = {
            key.rpartition(" of ")[2]
            for keys in missing_settings(Config(), artefact)
            for key in keys.split("|")
        }
        assert waited <= known, artefact.id


def test_missing_settings_several_values(papers):
    judged = {name: papers["lajewska2025"].artefacts[name] for name in ("table_6_7", "table_6_8")}
    judges = {"one": "GPT4o", "two": "Gemini"}
    config = Config.model_validate({"ginger": {"full": {"judges": judges}}})
    names, waiting = split_by_settings(config, judged.values())
    assert names == [judged["table_6_7"]]
    assert waiting == {("3 of ginger.full.judges",): [judged["table_6_8"]]}
    judges |= {"three": "Claude"}
    config = Config.model_validate({"ginger": {"full": {"judges": judges}}})
    assert split_by_settings(config, judged.values()) == ([*judged.values()], {})


def test_full_tiers_are_rehearsed(papers):
    rehearsed = {
        artefact.id
        for targets in CHAPTERS
        for target in targets
        for artefact in select_full(papers, target)[1]
    }
    missing = {
        f"full_{artefact.paper}_ch{artefact.chapter}"
        for artefact in filter(runs_in_full, all_artefacts(papers))
        if artefact.id not in rehearsed
    }
    assert not missing, (
        f"{', '.join(sorted(missing))} would run on small material nowhere: write a function that "
        "makes it, and name both in tests/rehearsal/targets.py."
    )


def test_material_notes(papers, tier):
    config = Config.model_validate(
        {
            "list_explanations": {"folders": {"mq2008": "fold"}},
            "cast_systems": {"runs_2020": "runs"},
            "attribution": {"full": {"nq": "fetch"}},
        }
    )
    figure = papers["heuss2025"].artefacts["figure_4_4"]
    assert material_notes(config, tier, figure) == [
        "without MSLR-WEB10K, fold 1, since `list_explanations.folders.mslr_web10k` is not set"
    ]
    runs = papers["lajewska2025"].artefacts["table_3_3"]
    (note,) = material_notes(config, tier, runs)
    assert note.startswith("The authors' runs of TREC CAsT 2020: no known facts")
    # A download is known by its hash; the other corpus is of other tables.
    questions = papers["abolghasemi2026"].artefacts["table_5_1"]
    assert material_notes(config, tier, questions) == []


def test_material_facts_or_nothing_known(tier):
    for name, material in tier.materials.items():
        data = material.kind in ("corpus", "runs")
        assert bool(material.facts) + material.nothing_known == data, name


def test_material_pages_exist(repository, tier):
    for name, material in tier.materials.items():
        assert (repository / "docs" / material.page).is_file(), name


def test_describe_requirements_shared_materials(tier):
    both = ["abolghasemi2024/table_1", "abolghasemi2026/table_4_1"]
    assert tier.describe_requirements(both) == tier.describe_requirements(both[:1])


def test_describe_requirements_one_line():
    run = FullRun(
        title="A training",
        artefacts=["toy/table_1"],
        materials=["squad"],
        memory_gb=8,
        work_gb=2,
        gpu_gb=16,
        gpu_hours=3,
        known_from="invented for this example",
    )
    squad = Material(title="SQuAD 2", kind="corpus", gb=0.1, licence="CC BY", page="data.md")
    tier = FullTier(materials={"squad": squad}, runs={"training": run})
    assert tier.of(["toy/table_1"]) == {"training": run}
    assert (
        tier.describe_requirements(["toy/table_1"])
        == "3 GPU hours (16 GB), 2.1 GB of disk, 8 GB of memory"
    )


#: Runs that ask language models -> chapter whose code counts their requests, and the steps.
COUNTED = {
    "abolghasemi2026_ch3_few_shot": ("papers.abolghasemi2026.ch3_scale", {"labels": 1}),
    "abolghasemi2026_ch3_counterfactuals": (
        "papers.abolghasemi2026.ch3_scale",
        {"counterfactuals": 1},
    ),
    # A benchmark each; paraphrases are counted for one of the two.
    "abolghasemi2026_ch5_answers": (
        "papers.abolghasemi2026.ch5_scale",
        {"answers to Natural Questions": 1, "answers to MS MARCO QA": 1},
    ),
    "abolghasemi2026_ch5_paraphrases": (
        "papers.abolghasemi2026.ch5_scale",
        {"paraphrases (each benchmark, first attempts)": 2},
    ),
    "heuss2025_ch5_citations": ("papers.heuss2025.ch5_scale", {"cited answers": 1}),
    "lajewska2025_ch5_asked": ("papers.lajewska2025.ch5_scale", {"answerability": 1}),
    "lajewska2025_ch6_pipeline": (
        "papers.lajewska2025.ch6_scale",
        {"rephrased passages": 1, "nuggets": 1, "responses": 1},
    ),
    "lajewska2025_ch6_ragas": ("papers.lajewska2025.ch6_scale", {"ratings": 1}),
    "lajewska2025_ch6_judges": ("papers.lajewska2025.ch6_scale", {"judgements": 1}),
}


def test_requests_equal_those_counted_by_chapters(repository, tier):
    assert COUNTED.keys() == {name for name, run in tier.runs.items() if run.requests}
    config = read_config(repository / "config.yaml")
    for name, (chapter, steps) in COUNTED.items():
        loads = import_module(chapter).full_loads(config)
        loads = [(load, steps[load.step]) for load in loads if load.step in steps]
        assert len(loads) == len(steps), name
        run = tier.runs[name]
        assert run.requests == sum(times * load.requests for load, times in loads), name
        read = sum(times * load.prompt_tokens for load, times in loads)
        assert run.requests * run.prompt_tokens == pytest.approx(read, rel=0.01), name
        maximum = sum(times * load.answer_tokens for load, times in loads)
        assert run.requests * run.answer_tokens <= maximum, name


RECORD = """
chapter: "1"
title: First
artefacts:
  table_1:
    {kind: table, title: A toy table, source: p. 1,
     tiers: {full: {state: reproduced, needs: a corpus}}}
  table_2:
    {kind: table, title: A toy table, source: p. 1,
     tiers: {full: {state: not run, needs: a crowd}}}
"""
RUN = {
    "title": "A training",
    "artefacts": ["toy/table_1"],
    "memory_gb": 4,
    "work_gb": 1,
    "known_from": "made up for this test",
}


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ({}, "no run lists toy/table_1"),
        ({"a": RUN | {"materials": ["sqad"]}}, "a reads 'sqad', which is not declared"),
        ({"a": RUN | {"artefacts": ["toy/table_2"]}}, "'toy/table_2'"),
        ({"a": RUN | {"requests": 3}}, "`seconds_per_request` must be used together"),
        ({"a": RUN | {"gpu_hours": 3}}, "`gpu_hours` requires `gpu_gb`"),
        ({"a": {key: RUN[key] for key in RUN if key != "known_from"}}, "runs.a.known_from"),
    ],
)
def test_load_full_tier_invalid_run(tmp_path, runs, message):
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "paper.yaml").write_text(
        "{title: Toy paper, authors: N. N., year: 2026, kind: paper, reference: none}"
    )
    (folder / "ch1.yaml").write_text(RECORD)
    (folder / "full.yaml").write_text(yaml.safe_dump({"runs": runs}))
    with pytest.raises(RecordError) as error:
        load_full_tier(tmp_path, load_papers(tmp_path))
    assert message in str(error.value) and "full.yaml" in str(error.value)


def test_material_facts_and_nothing_known(tier):
    stated = tier.materials["mq2008"].model_dump(exclude_defaults=True)
    with pytest.raises(ValidationError, match="`facts` cannot be combined with `nothing_known`"):
        Material.model_validate(stated | {"nothing_known": True})


def test_load_full_tier_name_in_two_files(tmp_path, repository):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "paper.yaml").write_text(
            "{title: Toy paper, authors: N. N., year: 2026, kind: paper, reference: none}"
        )
        (tmp_path / name / "full.yaml").write_text(yaml.safe_dump({"runs": {"a": RUN}}))
    with pytest.raises(RecordError, match="a is also in another file"):
        load_full_tier(tmp_path, load_papers(tmp_path))


@pytest.mark.parametrize(
    ("number", "text"), [(0.049, "0.049"), (2.0, "2"), (2.06, "2.1"), (138.2, "138")]
)
def test_format_number_two_digits(number, text):
    assert format_number(number) == text


def test_format_keys_alternatives():
    assert format_keys(["a.folder", "b.model|b.scores"]) == "a.folder and (b.model or b.scores)"


def test_minimal_settings_supersets_dropped():
    keys = [("a",), ("a", "b"), ("c", "d"), ("c", "d|e"), ("3 of f",), ("f",)]
    assert minimal_settings(keys) == [("a",), ("c", "d|e"), ("f",)]
