"""Code identity: import closures of the workflow's scripts."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from everycell.receipts.code import (
    CALLING,
    LIBRARY,
    files_by_code,
    files_of_sources,
    hash_of_sources,
    ignored_scripts,
    imported_files,
    name_of_code,
    script_files,
    shared_scripts,
)

SCRIPTS = Path(__file__).parents[3] / "workflow" / "scripts"
SOURCE = SCRIPTS.parents[1] / "src"
PAPERS = SCRIPTS.with_name("papers")
#: Name of each script or module with functions of rules -> its file.
FILES = {
    path.relative_to(folder).as_posix(): path
    for folder in (SCRIPTS, SOURCE / "everycell" / "workflow" / "scripts", PAPERS)
    for path in folder.rglob("*.py")
    if folder != PAPERS or re.search(r"^def \w+\(job\b", path.read_text(), re.MULTILINE)
}
#: Modules whose outputs take hours; only a change of their method may rerun them.
COSTLY = (
    "shared/retrieval_training.py",
    "shared/retrieval_indexing.py",
    "shared/retrieval_encoding.py",
)
#: Code for display, verdicts and configuration.
NO_METHOD = re.compile(
    r"everycell/(config\.py|cli/"
    r"|render/|verdicts/|records/(tables|cells|papers))"
    r"|papers/.*(figures|settings|audits)\.py"
)
PAGE = re.compile(r"render/page/")


@cache
def closure(script: Path) -> frozenset[str]:
    """Files below `src` or `workflow` that a script or the module of a chapter runs."""
    roots = (SOURCE, SCRIPTS.parent)
    return frozenset(
        path.relative_to(root).as_posix()
        for path in imported_files(script, roots)
        for root in roots
        if path.is_relative_to(root)
    )


@pytest.mark.parametrize("name", COSTLY)
def test_imported_files_of_training_and_indexing(name):
    result = closure(PAPERS / name)
    assert "everycell/jobs/job.py" in result
    assert not {path for path in result if NO_METHOD.search(path)}


def test_imported_files_of_rankers():
    # The rules hash the ranker of a job together with its script.
    rankers = sorted((SOURCE / "everycell/learning/rankers").glob("[a-z]*.py"))
    assert len(rankers) >= 7
    modules = {path.relative_to(SOURCE).as_posix() for path in rankers}
    for name in COSTLY:
        assert not closure(PAPERS / name) & modules
    used = {path.stem: {Path(file).stem for file in closure(path) & modules} for path in rankers}
    # These two are made from another one.
    assert used.pop("mtft") == {"mtft", "cross_encoder"}
    assert used.pop("tildev2_expanded") == {"tildev2_expanded", "tildev2"}
    assert used == {name: {name} for name in used}
    assert not any(NO_METHOD.search(file) for path in rankers for file in closure(path))


def test_imported_files_templates_of_the_page():
    reaching = {
        name for name, script in FILES.items() if any(PAGE.search(path) for path in closure(script))
    }
    assert reaching == {"page.py"}


def test_imported_files_without_audits():
    """They are a parameter: the verdicts of a chapter are judged again after an edit of its own."""
    audits = re.compile(r"papers/.*audits\.py")
    result = {path for script in FILES.values() for path in closure(script)}
    assert "everycell/verdicts/audits.py" in result
    assert not {path for path in result if audits.fullmatch(path)}


def test_imported_files_template_of_a_table():
    result = closure(FILES["errata.py"])
    assert "everycell/render/templates/table.html.j2" in result
    assert not {path for path in result if path.endswith("/figures.py")}


def test_imported_files_figures_of_a_chapter():
    for drawing in PAPERS.glob("*/ch*_figures.py"):
        name = drawing.relative_to(PAPERS.parent).as_posix()
        chapter = name.removeprefix("papers/").removesuffix("_figures.py")
        using = [file for file, path in FILES.items() if name in closure(path)]
        assert using and all(file.startswith(chapter) for file in using)


def test_imported_files_records():
    """Content of a record reaches a result as a parameter: its title, its declared inputs."""
    more = {"everycell/records/tables.py": set(), "everycell/records/papers.py": set()}
    for module, further in more.items():
        reaching = {name for name, script in FILES.items() if module in closure(script)}
        assert reaching == {"errata.py", "page.py", "verdicts.py"} | further


def test_files_of_sources_helpers_in_the_folder(tmp_path):
    folder = tmp_path / "workflow/scripts/toy"
    texts = {
        "t.py": "import csv, numpy\nfrom helper import value\n",
        "helper.py": "from parts import more\n",
        "parts/more.py": "import other\n",
        "other.py": "",
        # Python does not import these: the standard library comes first.
        "csv.py": "",
        "unused.py": "",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    files = files_of_sources([folder / "t.py"], tmp_path)
    names = {path.relative_to(folder).as_posix() for path in files}
    assert names == {"t.py", "helper.py", "parts/more.py", "other.py"}


@pytest.mark.parametrize("name", ["verdicts", "page", "language_models/convert_gguf"])
def test_script_files_prefers_the_package(tmp_path, name):
    own = tmp_path / "workflow/scripts" / f"{name}.py"
    own.parent.mkdir(parents=True)
    own.write_text("")
    (own.parent / "mine.py").write_text("")
    assert script_files(name, tmp_path) == (FILES[f"{name}.py"],)
    assert ignored_scripts(tmp_path) == [own]
    assert script_files("toy/mine", tmp_path) == (tmp_path / "workflow/scripts/toy/mine.py",)
    [running, script] = script_files("toy/verdicts.py", tmp_path)
    assert (
        running == FILES["run_script.py"] and script == tmp_path / "workflow/papers/toy/verdicts.py"
    )


def test_hashes_of_code_of_a_function(tmp_path):
    folder = tmp_path / "workflow/papers/toy2026"
    folder.mkdir(parents=True)
    for name in ("__init__", "ch1", "ch1_figures", "ch1_audits", "ch2"):
        (folder / f"{name}.py").write_text("")
    (folder.parent / "__init__.py").write_text("")
    text = "from .ch1_figures import bars\n"
    (folder / "ch1.py").write_text(text)
    calling, module = script_files("toy2026/ch1:table", tmp_path)
    assert calling == shared_scripts(tmp_path) / CALLING and module == folder / "ch1.py"
    files = files_of_sources([module], tmp_path)
    names = {path.relative_to(folder.parent).as_posix() for path in files}
    assert names == {
        "__init__.py",
        "toy2026/__init__.py",
        "toy2026/ch1.py",
        "toy2026/ch1_figures.py",
    }
    assert hash_of_sources([calling, module], tmp_path) in files_by_code(tmp_path)


def test_imported_files_of_call_function():
    result = closure(FILES[CALLING])
    assert "everycell/jobs/job.py" in result
    assert not {path for path in result if NO_METHOD.search(path)}


def test_name_of_code_in_any_installation():
    name = name_of_code(LIBRARY / "everycell" / "config.py", Path("/elsewhere"))
    assert name == "src/everycell/config.py"


def test_files_of_sources_relative_and_absolute(repository, monkeypatch):
    """A job runs in the project folder, and a run parses its rules with the folder's path."""
    monkeypatch.chdir(repository)
    for script in sorted(Path("src/everycell/workflow/scripts").glob("*.py")):
        names = [
            {name_of_code(path.absolute(), repository) for path in files_of_sources([file], root)}
            for file, root in ((script, Path()), (repository / script, repository))
        ]
        assert names[0] == names[1]
