"""The collection pydocs on a toy package, and (slow) on the real one with its data card."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import warnings
from dataclasses import replace

import pytest

from everycell.base.errors import DataError
from papers.abolghasemi2026.ch2_docstrings import (
    Resolver,
    mask_names,
    prose,
    see_also,
    split_sections,
    walk,
)
from papers.abolghasemi2026.ch2_pydocs import (
    DifferentCollectionWarning,
    build_from_walk,
    check,
    expected_facts,
    known_item_search,
    known_items,
    query_by_example,
)
from papers.abolghasemi2026.ch2_query_by_example import (
    TASKS,
    citation_tasks,
    split_queries,
    training_positives,
)


def words(stem: str, number: int = 40) -> str:
    return " ".join(f"{stem}{position}" for position in range(number))


FILLER = words("filler")
SHAPES = f'''
import json
from os.path import join


class Base:
    """Base {FILLER} {words("base", 12)}."""

    def area(self):
        """Area of any shape, {FILLER} {words("area", 12)}."""

    def inherited(self):
        """Inherited from the base, {FILLER} {words("inherited", 12)}."""

    def _private(self):
        """Private."""


class Runs:
    """A descriptor that fails when it is asked for its value."""

    def __get__(self, instance, owner):
        raise RuntimeError("code of the package ran")


class Explosive(type):
    @property
    def __doc__(cls):
        raise RuntimeError("code of the package ran")


class Square(Base, dict):
    """Square {words("square")}.

    See Also
    --------
    Base.area : Area of whatever shape there is.
    circle_area, json
    nowhere.to_be_found : Nothing.
    """

    side = 3
    failing = Runs()

    def area(self):
        pass

    @property
    def length(self):
        """Length of the side, {words("length")}."""
        raise RuntimeError("code of the package ran")


class Bomb(metaclass=Explosive):
    pass


def circle_area():
    """Area of a circle, {words("circle")}.

    Not `Square`, nor shapes.toy.Square, but a square.
    """


def copied():
    """Area of a circle, {words("circle")}.

    Not `Square`, nor shapes.toy.Square, but a square indeed.
    """


def template():
    """Template of %(name)s {FILLER}."""


def printed():
    """{{sets}}"""


printed.__doc__ = f"One of {{set(['alpha', 'beta', 'gamma', 'delta'])}}."


def __getattr__(name):
    if name == "__path__":  # the import statement asks for it
        raise AttributeError(name)
    raise RuntimeError("code of the package ran")
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Make the package `shapes`, one module of which cannot be imported and one ends Python."""
    folder = tmp_path / "shapes"
    (folder / "tests").mkdir(parents=True)
    (folder / "__init__.py").write_text("from shapes.toy import Square\n", encoding="utf-8")
    (folder / "toy.py").write_text(SHAPES, encoding="utf-8")
    (folder / "broken.py").write_text("import no_such_module_anywhere\n", encoding="utf-8")
    (folder / "leaves.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    (folder / "_hidden.py").write_text("raise RuntimeError\n", encoding="utf-8")
    (folder / "tests" / "__init__.py").write_text("raise RuntimeError\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "shapes"]:
        del sys.modules[name]


def test_walk_finds_what_is_public_and_runs_nothing(toy):
    result = walk(["shapes"])
    names = {docstring.name.removeprefix("shapes.") for docstring in result.docstrings}
    assert names == {
        "Square",
        "Square.area",
        "Square.inherited",
        "Square.length",
        "toy.Base",
        "toy.Base.area",
        "toy.Base.inherited",
        "toy.Runs",
        "toy.Square",
        "toy.Square.area",
        "toy.Square.inherited",
        "toy.Square.length",
        "toy.circle_area",
        "toy.copied",
        "toy.printed",
    }


def test_modules_that_fail_are_skipped_and_named(toy):
    result = walk(["shapes"])
    assert result.modules == 2
    assert set(result.skipped) == {"shapes.broken", "shapes.leaves"}
    assert "no_such_module_anywhere" in result.skipped["shapes.broken"]


def test_walk_inherited_docstring(toy):
    text = {docstring.name: docstring.text for docstring in walk(["shapes"]).docstrings}
    assert text["shapes.Square.area"] == text["shapes.toy.Base.area"]


def test_walk_missing_package(toy):
    with pytest.raises(DataError) as caught:
        walk(["no_such_package"])
    assert caught.value.value == "no_such_package"


def test_build_toy_collection(toy):
    collection = build_from_walk(walk(["shapes"]), {"shapes": "1"})
    documents = collection.documents.set_index("document_id")
    # printed and Runs are too short; copied is nearly circle_area; the two areas are one.
    assert list(documents.index) == [
        "shapes.Square",
        "shapes.Square.area",
        "shapes.Square.inherited",
        "shapes.Square.length",
        "shapes.toy.Base",
        "shapes.toy.copied",
    ]
    assert documents.at["shapes.toy.copied", "names"] == (
        "shapes.toy.copied",
        "shapes.toy.circle_area",
    )
    assert documents.at["shapes.Square.length", "parent"] == "shapes.Square"
    assert collection.links.to_numpy().tolist() == [
        ["shapes.Square", "shapes.Square.area"],
        ["shapes.Square", "shapes.toy.copied"],
    ]
    assert collection.counts["names in See Also lists"] == 4
    assert collection.counts["of these names of documents"] == 2
    # circle_area is cited by Square, so Square's name is masked in it where it is a name.
    assert documents.at["shapes.toy.copied", "text"].endswith("Not , nor , but a square indeed.")


def test_near_duplicates_below_the_merging_are_kept_apart_as_negatives(toy):
    collection = build_from_walk(walk(["shapes"]), {"shapes": "1"})
    pairs = collection.near_duplicates.to_numpy().tolist()
    assert ["shapes.Square.area", "shapes.Square.inherited"] in pairs


def test_build_same_with_other_hash_seeds(toy):
    program = (
        "import papers.abolghasemi2026.ch2_pydocs as p;"
        "c = p.build_from_walk(p.walk(['shapes']), {'shapes': '1'});"
        "print(c.sha256, c.counts, c.documents.to_dict(), c.near_duplicates.to_dict())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1 and len(outputs.pop()) > 1000


def test_sha256_follows_texts_and_links(toy):
    collection = build_from_walk(walk(["shapes"]), {"shapes": "1"})
    documents = collection.documents.assign(text=collection.documents["text"] + "!")
    hashes = {
        collection.sha256,
        replace(collection, documents=documents).sha256,
        replace(collection, links=collection.links[:1]).sha256,
        replace(collection, descriptions=collection.descriptions[:0]).sha256,
    }
    assert len(hashes) == 4
    shuffled = collection.documents.sample(frac=1, random_state=1)
    assert replace(collection, documents=shuffled).sha256 == collection.sha256


def test_split_sections_other_titles():
    text = "A.\n\nCustom\n------\nb\n\nreferences:\n===========\nc\n\nNotes\n-----\nd"
    assert split_sections(text) == [
        ("", "A.\n\nCustom\n------\nb"),
        ("references", "c"),
        ("notes", "d"),
    ]
    assert prose("") == "" and prose("Examples\n--------\n>>> 1\n") == ""


@pytest.mark.parametrize(
    ("entry", "names", "description"),
    [
        ("a", ("a",), ""),
        ("a.b, c_d", ("a.b", "c_d"), ""),
        ("a, b,", ("a", "b"), ""),
        (":func:`~x.a`, :py:meth:`b` : Text: more.", ("x.a", "b"), "Text: more."),
        ("a() : Text\n\n    of two parts.", ("a",), "Text of two parts."),
        ("- `a`: Text.", ("a",), "Text."),
        ("a.\n", ("a",), ""),
    ],
)
def test_see_also_entries(entry, names, description):
    (result,) = see_also(f"See Also\n--------\n{entry}")
    assert (result.names, result.description) == (names, description)


@pytest.mark.parametrize("line", [":ref:`ufuncs-types`", "The guide says more.", "a b : no"])
def test_see_also_other_lines(line):
    assert see_also(f"See Also\n--------\n{line}\n    more : of it") == []


def test_names_are_looked_up_around_their_own_place():
    resolver = Resolver(
        {
            "p.f": "top",
            "p.C.f": "member",
            "p.m.f": "module",
            "p.m.D.g": "only g",
            "p.m.E.h": "one h",
            "p.m.F.h": "other h",
            "p.short": None,
            "numpy.f": "other package",
        }
    )
    assert resolver.resolve("f", ["p.C.k"]) == "member"
    assert resolver.resolve("f", ["p.m.D.g"]) == "module"
    assert resolver.resolve("p.f", ["p.C.k"]) == "top"
    assert resolver.resolve("np.f", ["p.C.k"]) == "other package"
    assert resolver.resolve("g", ["p.C.k"]) == "only g"
    assert resolver.resolve("h", ["p.C.k"]) is None
    assert resolver.resolve("short", ["p.C.k"]) is None
    assert resolver.resolve("g", ["numpy.f"]) is None


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a ravel of things", "a ravel of things"),
        ("see `ravel`, ``ravel`` or p.m.ravel()", "see , or"),
        ("m.ravel. Then ravel.", ". Then ravel."),
        ("x.ravel stays", "x.ravel stays"),
        ("ravel_all and ravel_all(x) go, ravel_alls stays", "and (x) go, ravel_alls stays"),
        ("Index.size goes with Index", "goes with"),
    ],
)
def test_mask_names_cases(text, masked):
    assert mask_names(text, ["p.m.ravel", "p.ravel_all", "p.Index"]) == masked


def test_check_tells_versions_and_counts(toy):
    collection = build_from_walk(walk(["shapes"]), {"shapes": "1", "numpy": "0.1"})
    with pytest.warns(DifferentCollectionWarning) as caught:
        assert check(collection) is False
    counts, versions, _ = expected_facts()
    message = str(caught[0].message)
    assert f"numpy: 0.1, expected {versions['numpy']}" in message
    assert f"documents: 6, expected {counts['documents']}" in message


def test_check_tells_the_hash_where_the_counts_agree(toy):
    counts, versions, sha256 = expected_facts()
    collection = build_from_walk(walk(["shapes"]), versions)
    with pytest.warns(DifferentCollectionWarning, match=f"sha256: .*, expected {sha256}"):
        assert check(replace(collection, counts=counts)) is False


def test_expected_facts_in_the_data_card(repository):
    card = (repository / "docs" / "data-cards" / "pydocs.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", card, re.MULTILINE)
    documented = {name: value.replace(",", "").strip("`") for name, value in rows}
    counts, versions, sha256 = expected_facts()
    target = {**versions, **counts, "sha256": sha256}
    assert {name: documented.get(name) for name in target} == {k: str(v) for k, v in target.items()}


def test_expected_facts_locked_versions(repository):
    lock = (repository / "envs" / "base.lock").read_text(encoding="utf-8")
    for name, version in expected_facts()[1].items():
        assert f"\n{name}=={version} " in lock


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Build the real collection in a process of its own, since the walk imports 800 modules."""
    path = tmp_path_factory.mktemp("pydocs") / "collection.pickle"
    program = (
        "import pathlib, pickle, sys, papers.abolghasemi2026.ch2_pydocs as p;"
        "pathlib.Path(sys.argv[1]).write_bytes(pickle.dumps(p.build()))"
    )
    subprocess.run(
        [sys.executable, "-c", program, str(path)],
        env={**os.environ, "PYTHONHASHSEED": "12345", "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    )
    return pickle.loads(path.read_bytes())


@pytest.mark.slow
def test_build_installed_packages(real):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check(real)
    ids = real.documents["document_id"]
    assert ids.is_unique and not ids.str.contains(r"\s").any()
    assert real.documents["text"].str.len().min() > 0


@pytest.mark.slow
def test_numbers_in_the_prose_of_the_data_card(real, repository):
    card = (repository / "docs" / "data-cards" / "pydocs.md").read_text(encoding="utf-8")
    card = " ".join(card.split())
    words = real.documents["words"]
    of_words = (round(words.mean()), int(words.median()), int(words.quantile(0.9)))
    assert (
        "have {} words on average; half have {} or fewer, and one in ten has more than {}".format(
            *of_words
        )
        in card
    )
    positives = citation_tasks(real.links)
    split = split_queries(positives, test=300, validation=200, seed=0)
    train = split[split["split"] == "train"].merge(positives, on=["task", "query"])
    remaining = training_positives(positives, split)["task"].value_counts()["cite"]
    before = train["task"].value_counts()["cite"]
    assert f"this leaves {remaining:,} of {before:,} pairs of cite" in card
    of = real.documents.set_index("document_id")
    shares = [
        (real.links["source_id"].map(of[column]) == real.links["target_id"].map(of[column])).mean()
        for column in ("parent", "package")
    ]
    within = "{:.0%} of the cite pairs are within one module or class and {:.0%} within one package"
    assert within.format(*shares).replace("%", " %") in card
    length = known_items(real)["text"].str.split().str.len().mean()
    assert f"is a short query ({length:.1f} words on average)" in card


@pytest.mark.slow
def test_tasks_of_the_real_collection(real):
    benchmark = query_by_example(real)
    lists = benchmark.candidates
    sizes = benchmark.queries.groupby(["task", "split"]).size()
    assert all(sizes[task, "test"] == 300 and sizes[task, "validation"] == 200 for task in TASKS)
    by_query = lists.groupby(["setting", "task", "split", "query"])["relevance"]
    assert by_query.sum().between(1, 5).all()
    assert (by_query.size() - by_query.sum() == 25).all()
    assert not lists.duplicated(["setting", "task", "split", "query", "document_id"]).any()

    pairs = set(
        citation_tasks(real.links)[["query", "document_id"]].itertuples(index=False, name=None)
    )
    alike = set(real.near_duplicates.itertuples(index=False, name=None))
    alike |= {(right, left) for left, right in alike}
    for relevant, listed in lists.groupby("relevance"):
        result = set(listed[["query", "document_id"]].itertuples(index=False, name=None))
        assert result <= pairs if relevant else result.isdisjoint(pairs | alike)
        assert not any(query == document for query, document in result)

    held_out = set(benchmark.queries.query("split != 'train'")["query"])
    trained = lists.query("split == 'train' and relevance == 1")
    assert not held_out & set(trained["query"])
    for query, document in trained[["query", "document_id"]].itertuples(index=False):
        assert document not in held_out or (document, query) not in pairs
    # Negatives of the main setting are hard: they come from the query's package.
    package = real.documents.set_index("document_id")["package"]
    main = lists.query("setting == 'package' and relevance == 0")
    assert (main["query"].map(package) == main["document_id"].map(package)).all()


@pytest.mark.slow
def test_known_items_of_the_real_collection(real):
    benchmark = known_item_search(real, settings=["package", "mixed", "random"])
    queries = benchmark.queries.set_index("query")
    assert queries["split"].value_counts().to_dict() == {"test": 300, "validation": 200}
    assert queries["origin_id"].is_unique
    lists = benchmark.candidates
    by_query = lists.groupby(["setting", "query"])["relevance"]
    assert (by_query.size() == 30).all() and (by_query.sum() == 1).all()
    relevant = lists[lists["relevance"] == 1]
    assert (relevant["document_id"] == relevant["query"].map(queries["origin_id"])).all()
    text = real.documents.set_index("document_id")["text"]
    for row in queries.itertuples():
        assert row.text.lower() not in text[row.origin_id].lower()
