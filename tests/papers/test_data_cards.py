"""Data cards: one for each collection, whose counts are those of the files."""

import re
from pathlib import Path

import everycell
from everycell.records.registry import load_registry
from everycell.sources import fetch
from everycell.trec.runs import read_run
from papers.abolghasemi2026.ch3_planted import plant_dialogues
from papers.heuss2025 import data as fair_ranking_lists
from papers.lajewska2025 import answerability_data as answerability
from papers.lajewska2025 import cast_data as cast_turns
from papers.lajewska2025 import ch6_labels as ginger
from papers.lajewska2025 import user_study_data as user_studies
from papers.sakai2023 import data as fairweb

#: What fetched sets without a card are: weights, which docs/data.md describes; and what no chapter
#: reads yet.
NO_CARD = {
    "fair-ranking-candidates",
    "minilm",
    "nltk",
    "smollm2",
    "splade-tiny",
    "trec-cast",
    "wordpiece-vocab",
}
#: Attribute sets of FairWeb-1 by topic.
SETS = fairweb.ATTRIBUTE_SETS
#: Modules without a collection: readers, checks and builders for others.
HELPERS = {"benchmark"}


def cards(repository: Path) -> dict[str, str]:
    folder = repository / "docs" / "data-cards"
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}


def rows(text: str) -> list[list[str]]:
    """Rows of the card's tables, without thousands separators and signs of code."""
    result = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [[re.sub(r"(?<=\d),(?=\d)|`", "", cell) for cell in row] for row in result]


def test_data_cards_complete(repository):
    result = cards(repository)
    text = "\n".join(result.values())
    lacking = {name for name in load_registry().sets if f"`{name}/" not in text}
    assert lacking == NO_CARD
    modules = {path.stem for path in (Path(everycell.__file__).parent / "collections").glob("*.py")}
    unnamed = {
        name for name in modules if not re.search(rf"everycell\.collections\.{name}\b", text)
    }
    assert unnamed == HELPERS | {"__init__"}
    index = (repository / "docs" / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(data-cards/(.+?)\.md\)", index)) >= set(result)


def test_fairweb(mirror, tmp_path, repository):
    def got(key):
        return fetch(key, tmp_path, mirror=mirror, network=False)

    card = rows(cards(repository)["fairweb"])
    gains = fairweb.read_gains(got(fairweb.QRELS), {"L0": 0, "L1": 1, "L2": 3})
    runs = [read_run(got(key), ranks="error") for key in fairweb.RUNS.values()]
    [pages] = {len(fairweb.ranked_pages(run, topic)) for run in runs for topic in SETS}
    for what, count in {
        "topics": len({topic for topic, _ in gains}),
        "judged pages": len(gains),
        "judged pages of level L1": list(gains.values()).count(1),
        "judged pages of level L2": list(gains.values()).count(3),
        "runs": len(runs),
        "pages per run and topic": pages,
    }.items():
        assert [what, str(count)] in card
    for topic, names in SETS.items():
        [line] = [row for row in card if row[0] == topic]
        for name in names:
            target = fairweb.read_target(got(fairweb.TARGETS[name]))
            groups = fairweb.read_memberships(got(fairweb.MEMBERSHIPS[name]))
            assert f"{name} ({len(target)}" in line[2]
            assert {len(shares) for shares in groups.values()} == {len(target)}
            assert {where for where, _ in groups} == {topic}


def test_answerability(mirror, tmp_path, repository):
    got = {
        name: fetch(key, tmp_path, mirror=mirror, network=False)
        for name, key in answerability.FILES.items()
        if "classifier" not in name
    }
    card = rows(cards(repository)["cast-answerability"])
    labels = answerability.read_passage_labels(got["snippets"], got["unanswerable"])
    counts = labels.groupby(["dataset", "partition"])["answerable"].agg(["size", "sum"])
    for (half, partition), (size, answers) in counts.iterrows():
        assert [half, partition, str(size), str(answers)] in card
    for half, name in (
        ("CAsT-snippets", "snippets_sentences"),
        ("CAsT-unanswerable", "unanswerable_sentences"),
    ):
        sentences = answerability.read_sentence_labels(got[name])
        turns = labels.loc[labels["dataset"] == half, "turn_id"].nunique()
        answers = int(sentences["answers"].sum())
        assert [half, str(turns), str(len(sentences)), str(answers)] in card


def test_turns_and_runs(mirror, tmp_path, repository):
    got = {
        name: fetch(key, tmp_path, mirror=mirror, network=False)
        for name, key in cast_turns.FILES.items()
    }
    card = dict(row for row in rows(cards(repository)["cast-turns"]) if len(row) == 2)
    turns = cast_turns.read_turns(got["topics"])
    assert int(card["turns of 2020"]) == len(turns)
    assert int(card["conversations of 2020"]) == turns["topic"].nunique()
    for name, message in (
        ("canard-org", "T5 CANARD with the organisers' context"),
        ("canard", "T5 CANARD"),
        ("qrecc", "T5 QReCC"),
    ):
        rewrites = cast_turns.read_rewrites(got[name], turns)
        assert int(card[f"rewrites by {message}"]) == len(rewrites)
    runs = [key for key in load_registry().keys("cast-reproducibility") if "/runs-2021/" in key]
    assert int(card["runs of 2021"]) == len(runs)


def test_nugget_labels(mirror, tmp_path, repository):
    path = fetch(ginger.CONDENSED, tmp_path, mirror=mirror, network=False)
    result = ginger.read_nugget_labels(path)
    card = rows(cards(repository)["nugget-labels"])
    for judge, responses in result.responses.groupby("judge"):
        labels = result.nuggets[result.nuggets["judge"] == judge]
        numbers = (
            responses["run"].nunique(),
            responses["topic"].nunique(),
            len(responses),
            len(labels.drop_duplicates(["topic", "nugget"])),
            len(labels),
        )
        assert [judge, *map(str, numbers)] in card


def test_fair_ranking_lists(mirror, tmp_path, repository):
    card = rows(cards(repository)["fair-ranking-lists"])
    for (dataset, part), key in fair_ranking_lists.FILES.items():
        lists = fair_ranking_lists.read_fair_lists(
            fetch(key, tmp_path, mirror=mirror, network=False)
        )
        sizes = lists.groupby("query").size()
        counts = [len(sizes), len(lists), int(lists["relevance"].sum()), (sizes >= 20).sum()]
        assert [dataset, part, *map(str, counts)] in card


def test_user_studies(mirror, tmp_path, repository):
    card = {row[1]: row[2:] for row in rows(cards(repository)["user-studies"]) if len(row) == 5}
    for name, study in (
        ("answerability_first_run.csv", user_studies.ANSWERABILITY),
        ("answerability_both_runs.csv", user_studies.ANSWERABILITY),
        ("viewpoints.csv", user_studies.VIEWPOINTS),
    ):
        path = fetch(f"cis-response-limitations/{name}", tmp_path, mirror=mirror, network=False)
        ratings = user_studies.read_response_limitations(path, study)
        numbers = ratings["Query"].nunique(), ratings["Condition"].nunique(), len(ratings)
        assert card[name] == [*map(str, numbers)]
    path = fetch("transparent-cis/user_study.csv", tmp_path, mirror=mirror, network=False)
    ratings = user_studies.read_transparency(path)
    numbers = ratings["Query"].nunique(), ratings["Condition"].nunique(), len(ratings)
    assert card["user_study.csv"] == [*map(str, numbers)]


def test_planted_dialogues(repository):
    text = cards(repository)["planted-dialogues"]
    planted = plant_dialogues()
    counts = planted.truth["fault"].replace("", "none").value_counts()
    card = {row[0]: row[1] for row in rows(text) if row[1].isdigit()}
    assert card == {fault: str(count) for fault, count in counts.items()}
    assert f"100 dialogues with {len(planted.samples)} system turns" in text
