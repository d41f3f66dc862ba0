"""Dry runs of targets, and the form of every rule."""

import ast
import inspect
import pickle
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest
import yaml
from harness import published
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.script import PythonScript

from everycell.base.installation import requirement
from everycell.receipts.code import script_files
from everycell.records.papers import all_artefacts, load_papers
from everycell.records.registry import read_part
from everycell.records.tables import RUNNABLE
from everycell.workflow.planned_jobs import CACHE, maker_of, makers, planned_jobs

REPOSITORY = Path(__file__).parents[2]
#: Rules that others inherit from.
PARENTS = {
    *("step", "torch_step", "asking_step", "cached_step", "table", "figure"),
    *("evaluation", "given_values"),
}
#: Surrogate results that only the embedded tier has.
PLANTED = {
    "collection_concepts",
    "collection_planted",
    "collection_pydocs",
    "lajewska2025_ch7_simulation",
}
#: Conda files that rules name.
ENVIRONMENTS = {"base", "corpora", "docs", "lucene", "torch"}


@pytest.mark.slow
def test_tier_targets(tree):
    embedded, released, both = map(tree.planned, ("embedded", "released", "all"))
    assert embedded.keys() >= PLANTED | {"errata", "page", "train"}
    # Nothing of it comes from a mirror or the network.
    assert "fetch" not in embedded and embedded["verdicts"] > 30
    assert sum(released.values()) < 420
    assert released["lajewska2025_ch4_anova"] == 3 and released["fetch"] > 0
    assert not released.keys() & {*PLANTED, "errata", "lajewska2025_chC_votes", "sakai2023_gfrc"}
    tiers = {"embedded", "released"}
    assert both.keys() - {"all"} == (embedded.keys() | released.keys()) - tiers
    assert both["verdicts"] == embedded["verdicts"] + released["verdicts"]


@pytest.mark.slow
def test_default_target_without_data(clean):
    """Without network and mirror, what needs no data is made, and the others are counted."""
    clean.edit("config.yaml", "network: true", "network: false")
    done = clean.snakemake("-n", "default")
    assert done.returncode == 0, done.stdout
    assert "config.yaml switches the network off" in done.stdout
    assert "EVERYCELL_MIRROR" in done.stdout
    planned = clean.planned("default")
    assert {"errata", "page", "sakai2023_gfrc"} <= planned.keys() and planned["verdicts"] > 20
    assert not planned.keys() & {*PLANTED, "train", "lajewska2025_ch4_anova"}


@pytest.mark.slow
def test_default_target_with_mirror(clean, mirror):
    done = clean.snakemake("-n", "default", env={"EVERYCELL_MIRROR": str(mirror)})
    assert done.returncode == 0, done.stdout
    assert "lajewska2025_ch4_anova" in done.stdout and "cannot be reached" not in done.stdout
    # Minutes of explanations are left out, and runs on surrogate data.
    assert "heuss2025_ch4_explanations" not in done.stdout
    assert not any(name in done.stdout for name in PLANTED)


def test_page_by_its_path(clean):
    """The page of what is on disk needs no data, so no server is asked for them."""
    done = clean.snakemake("-n", "results/index.html")
    assert done.returncode == 0, done.stdout
    assert "left out" not in done.stdout
    assert clean.planned("results/index.html").keys() == {"page"}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("lajewska2025", {"lajewska2025_ch4_anova", "lajewska2025_chC_votes"}),
        ("abolghasemi2026_ch3", {"abolghasemi2026_ch3_split", "abolghasemi2026_ch3_success"}),
        ("lajewska2025_chB", {"lajewska2025_chB_data_sets", "lajewska2025_chB_sample"}),
        ("lajewska2025_table_4_8", {"lajewska2025_ch4_anova", "lajewska2025_ch4_simulation"}),
    ],
)
def test_targets_of_paper_chapter_artefact(tree, target, expected):
    jobs = tree.planned(target)
    assert expected <= jobs.keys()
    assert jobs[target] == jobs["page"] == 1
    # Jobs of other chapters, or of none, are not planned.
    assert "errata" not in jobs
    if "_ch" in target or "_table" in target:
        assert not {"sakai2023_gfrc", "lajewska2025_chC_votes"} & jobs.keys()


@pytest.mark.slow
def test_target_one_file(tree):
    assert tree.planned("results/released/lajewska2025/table_4_8.csv") == {
        "fetch_cis-response-limitations-ratings": 1,
        "lajewska2025_ch4_anova": 1,
    }


@pytest.mark.slow
def test_planned_nugget_labels_of_mirror_or_authors(tree, tmp_path):
    target = "results/released/lajewska2025/table_6_8.csv"
    assert tree.planned(target) == {"fetch_ginger-tables": 1, "lajewska2025_ch6_parts": 1}
    condensed = tmp_path / "ginger" / "nugget_assignments.jsonl.gz"
    condensed.parent.mkdir()
    condensed.touch()
    assert replace(tree, mirror=tmp_path).planned(target) == {
        "fetch": 1,
        "lajewska2025_ch6_parts": 1,
    }


def test_list_target_rules(tree):
    lines = tree.snakemake("--list-target-rules").stdout.splitlines()
    listed = [line.split()[0] for line in lines if line]
    assert {
        "embedded",
        "released",
        "full",
        "full_heuss2025",
        "full_lajewska2025_chC",
        "full_lajewska2025_table_6_7",
        "all",
        "lajewska2025_figure_4_3",
        "sakai2023_table_1",
        "abolghasemi2026",
        "heuss2025_ch4",
    } <= {*listed}


def test_list_describes_targets(tree):
    lines = tree.snakemake("--list").stdout.splitlines()
    described = dict(line.rstrip(")").split(" (", 1) for line in lines if " (" in line)
    for artefact in all_artefacts(load_papers(tree.folder / "published")):
        target = f"{artefact.paper}_{artefact.name}"
        if target in described:
            assert artefact.record.title.startswith(described[target][:40])
    assert described["lajewska2025_ch4"] and described["full_heuss2025_ch5"].endswith("(full tier")
    assert described["verdicts"].startswith("Verdicts of PAPER ARTEFACT")
    assert not [text for text in described.values() if "{" in text]
    names = {line.split()[0] for line in lines if line}
    labels = {name for name in names if name.startswith(("full_", "lajewska", "sakai"))}
    assert len(labels) > 80 and labels <= described.keys()


@pytest.mark.parametrize(
    ("target", "expected_message"),
    [
        ("lajewska2025_table_4_88", "lajewska2025_table_4_88"),
        ("results/released/lajewska2025/table_99_1.csv", "table_99_1.csv"),
    ],
)
def test_target_unknown(tree, target, expected_message):
    done = tree.snakemake("-n", target)
    assert done.returncode != 0
    assert "MissingRuleException" in done.stdout and expected_message in done.stdout
    assert "Traceback" not in done.stdout


def test_target_full(tree):
    done = tree.snakemake("-n", "full")
    assert done.returncode == 0
    message = re.search(r"`full` makes (\d+) of (\d+) artefacts; this needs (.+)\.\n", done.stdout)
    result, known = map(int, message.groups()[:2])
    assert "GPU hours" in message[3] and "GB of disk" in message[3] and "requests" in message[3]
    assert "Omitted, since their settings are missing in config.yaml:" in done.stdout
    assert 0 < result < known and known > 60
    assert (
        "abolghasemi2026/table_2_2: set query_by_example.scidocs.folder\n    needs 1 CPU hour, 2 GB"
        in done.stdout
    )
    # Its models come from the hub, and it needs nothing else.
    assert "results/full/abolghasemi2026/table_3_6" in done.stdout


def test_target_full_without_settings(tree):
    done = tree.snakemake("-n", "full_heuss2025_ch5")
    assert done.returncode != 0
    assert "config.yaml has no corpus or model for `full_heuss2025_ch5`: set" in done.stdout
    assert (
        "set citation_faithfulness.full.models and (citation_faithfulness.full.data or "
        "citation_faithfulness.full.kilt.pages)" in done.stdout
    )


def full_artefacts():
    """An artefact for each set of settings that the full tier waits for."""
    result = {}
    for artefact in all_artefacts(published()):
        record = artefact.record.tiers.get("full")
        if record is not None and record.state in RUNNABLE:
            result.setdefault(tuple(record.settings), (artefact, record.settings))
    return [pytest.param(*item, id=item[0].id) for item in result.values()]


@pytest.mark.slow
@pytest.mark.parametrize(("artefact", "settings"), full_artefacts())
def test_target_full_settings_of_record(tree, artefact, settings):
    done = tree.snakemake("-n", f"full_{artefact.paper}_{artefact.name}")
    requests = re.findall(r"config\.yaml: `([a-z0-9_.]+)` is (?:null|empty)", done.stdout)
    # "3 of key" wants so many entries there.
    assert set(requests) <= {key.rpartition(" ")[2] for keys in settings for key in keys.split("|")}
    assert (done.returncode == 0) == (not settings)
    assert bool(requests) == bool(settings)


def test_snakefile_unknown_snakemake_version(clean):
    clean.edit("src/everycell/workflow/rules/snakemake_internals.smk", '">=9.20,<10"', '"<9"')
    done = clean.snakemake("--list")
    assert done.returncode != 0 and f"pip install '{requirement()}'" in done.stdout
    (clean.folder / "Makefile").touch()
    assert "make setup" in clean.snakemake("--list").stdout


def test_snakemake_internals(rules):
    for rule in (rule for rule in rules if rule.name not in PARENTS):
        # The report shows scripts without a parameter in their names, `--list` descriptions.
        assert Path(rule.script).is_file(), rule.name
        assert rule.docstring, rule.name
        # A result's title and layout come from its record.
        assert ("faces" in rule.params.keys()) == ("receipt" in rule.output.keys()), rule.name
        # Constraints of wildcards are in the names of files, those of path variables included.
        for wildcard, pattern in rule.wildcard_constraints.items():
            files = [str(file) for file in rule.output if f"{{{wildcard}" in file]
            assert all(f"{{{wildcard},{pattern}}}" in file for file in files), rule.name
    # The first statements of jobs are put before it.
    assert "PythonScript.generate_preamble(" in inspect.getsource(PythonScript.get_preamble)
    # `remove_start_limit` sets this to None.
    assert "self.job_rate_limiter is None" in inspect.getsource(JobScheduler)


@pytest.mark.slow
def test_rules_before_as_planned(tree):
    [figure] = planned_jobs(tree.folder, "results/embedded/lajewska2025/figure_6_1.csv")
    rules = pickle.loads(figure.context).params["rules"][""]
    jobs = planned_jobs(tree.folder, "results/released/lajewska2025/table_C_7.csv")
    makers_of_files = makers(jobs)
    before = defaultdict(set)
    for job in jobs:
        if not job.rule.startswith("fetch"):
            files = [maker_of(path, makers_of_files) for path in job.all_inputs]
            before[job.rule] |= {
                maker.rule for maker in files if maker and not maker.rule.startswith("fetch")
            }
    assert {name: set(rule["after"]) for name, rule in rules.items()} == before
    assert len(rules) > 7
    # Wildcards have their values.
    assert rules["lajewska2025_ch6_write"]["message"] == "Responses by smollm2"
    assert rules["lajewska2025_ch6_ranks"]["script"] == "lajewska2025/ch6_clusters:ranks"


@pytest.mark.slow
def test_lint(tree):
    done = tree.snakemake("--lint")
    assert done.returncode == 0, done.stdout
    assert "in a good condition" in done.stdout


@pytest.fixture(scope="module")
def rules(tree):
    return tree.rules()


def test_profile_prioritised_rules(rules):
    profile = yaml.safe_load((REPOSITORY / "profiles/default/config.yaml").read_text())
    names = {rule.name: rule for rule in rules}
    for name in profile["prioritize"]:
        # Snakemake takes any other name for a file to be made, and makes a rule without wildcards.
        assert name in names and names[name].has_wildcards(), (
            f"{name} was renamed or removed, or has no wildcards: correct `prioritize`"
        )


def test_rules_log_message_resources(rules):
    assert len(rules) > 15
    for rule in rules:
        assert len(rule.log) == 1, rule.name
        # Snakemake refuses both: what comes from the cache took no time.
        assert bool(rule.benchmark) != bool(rule.cache.flag), rule.name
        assert rule.message, rule.name
        assert Path(rule.conda_env).stem in ENVIRONMENTS, rule.name
        assert {"mem_mb", "runtime"} <= rule.resources.keys(), rule.name


def test_rules_code(rules):
    without = [rule.name for rule in rules if rule.params.get("code") is None]
    assert len(without) > 10 and all(name.startswith("fetch") for name in without)


def test_rules_distinct_logs_and_benchmarks(rules):
    # Rules made from another one with `use rule` share its form; their wildcards differ.
    inherited = {"lajewska2025_ch4_oneway", "fetch_weights"}
    for part in ("log", "benchmark"):
        positions = [
            (str(getattr(rule, part)), str(sorted(rule.wildcard_constraints.items())))
            for rule in rules
            if rule.name not in inherited | PARENTS
        ]
        positions = [position for position in positions if position[0] != "None"]
        assert len(positions) == len(set(positions)), part


def code_of(rule) -> ast.AST:
    """Code of a rule: its script, or its function of a chapter."""
    script = rule.params.get("script", "")
    file = script_files(script, Path(rule.workflow.basedir))[-1] if script else Path(rule.script)
    module = ast.parse(file.read_text(encoding="utf-8"))
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    return functions[script.partition(":")[2]] if ":" in script else module


def read_names(code: ast.AST, part: str) -> set[str]:
    """Names that code reads from `params` or `output` of its job."""
    nodes = list(ast.walk(code))
    sources = {f"{owner}.{part}" for owner in ("snakemake", "job.snakemake", "job")}
    for node in nodes:
        if isinstance(node, ast.Assign):
            targets, values = ast.unparse(node.targets[0]), ast.unparse(node.value)
            pairs = zip(
                targets.strip("()").split(", "), values.strip("()").split(", "), strict=False
            )
            sources |= {target for target, value in pairs if value in sources}
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in sources
    }


@pytest.mark.parametrize("part", ["params", "output"])
def test_rules_set_names_that_code_reads(rules, part):
    names_by_code, codes = defaultdict(set), {}
    for rule in rules:
        if rule.name not in PARENTS:
            name = rule.params.get("script", rule.script)
            names_by_code[name] |= set(getattr(rule, part).keys())
            codes[name] = code_of(rule)
    assert len(names_by_code) > 100
    for name, names in names_by_code.items():
        unknown = read_names(codes[name], part) - names - {"get", "items", "keys", "values"}
        assert not unknown, name


@pytest.mark.slow
def test_rules_missing_function(clean):
    clean.edit("workflow/papers/lajewska2025/ch4_queries.py", "def viewpoints(", "def other(")
    done = clean.snakemake("-n", "lajewska2025_ch4")
    assert done.returncode != 0
    assert "ch4_queries.py has no function `viewpoints`" in done.stdout


def test_rules_absolute_paths(tree):
    folders = (tree.folder / "workflow", tree.folder / "src/everycell/workflow/rules")
    for path in sorted(file for folder in folders for file in folder.rglob("*.smk")):
        assert not re.search(r'"/[a-z]', path.read_text()), path.name


@pytest.mark.slow
@pytest.mark.parametrize("collection", ["cast", "grepbiasmaleswapped"])
def test_encode_input_length(tree, tmp_path, collection):
    small = tree.copy_to(tmp_path / "small")
    small.edit("config.yaml", "  text: 96\n", "  text: 40\n")
    read = []
    for project in (tree, small):
        (encode,) = [rule for rule in project.rules() if rule.name == "encode"]
        model = {"kind": "splade", "model": "splade-tiny.zero-shot"}
        read.append(encode.params["input_options"](SimpleNamespace(collection=collection, **model)))
    assert read[0] == {**read[1], "length": 96} and read[1]["length"] == 40


@pytest.mark.slow
def test_swapped_collections_pronouns(clean):
    """With tags, another function swaps genders, and it needs the tagger."""

    def swap():
        (rule,) = [rule for rule in clean.rules() if rule.name == "collection_swapped"]
        return rule.params["script"].rpartition(":")[2], "tagger" in rule.input.keys()

    assert swap() == ("collection_swapped", False)
    clean.edit("config.yaml", "  pronouns: words\n", "  pronouns: tags\n")
    assert swap() == ("collection_swapped_by_tags", True)
    assert (
        clean.planned("results/released/abolghasemi2026/table_4_2.csv")["collection_swapped"] == 2
    )


@pytest.mark.slow
def test_feeds_of_registries(tree):
    """A data set feeds the artefacts that the released tier reproduces from its files."""
    papers = load_papers(REPOSITORY / "published")
    artefacts = {artefact.id: artefact for artefact in all_artefacts(papers)}
    jobs = planned_jobs(tree.folder, "released")
    jobs_by_output = makers(jobs)
    sets_of: dict[str, set[str]] = {}
    feeds = defaultdict(set)
    for job in jobs:
        sets = set()
        for path in job.all_inputs:
            # A job may download several data sets.
            if PurePosixPath(path).is_relative_to(CACHE):
                sets.add(PurePosixPath(path).parts[1])
            elif maker := maker_of(path, jobs_by_output):
                sets |= sets_of[maker.outputs[0]]
        sets_of[job.outputs[0]] = sets
        for path in job.outputs:
            if match := re.fullmatch(r"results/released/(.+)\.receipt\.json", path):
                artefact = artefacts[match[1]]
                if artefact.record.tiers["released"].state == "reproduced":
                    for name in sets:
                        feeds[artefact.paper, name].add(artefact.id)
    for path in sorted((REPOSITORY / "published").glob("*/registry.yaml")):
        for name, data_set in read_part(path).sets.items():
            assert set(data_set.feeds) == feeds[path.parent.name, name], name
