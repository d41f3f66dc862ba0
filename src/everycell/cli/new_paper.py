"""Files of a new paper or repository, written from the package's templates."""

from __future__ import annotations

import errno
import json
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from everycell.base.csv_files import csv_text
from everycell.base.files import naming
from everycell.base.installation import requirement
from everycell.cli.originals import find_headings, find_original, repositories_of
from everycell.cli.placeholders import EXAMPLE_DATA, PLACEHOLDERS
from everycell.cli.project import refuse_existing
from everycell.cli.table_sources import RUNNERS, TableSource
from everycell.config import Config
from everycell.records.cells import RecordError, key_columns
from everycell.records.checks import write_schemas
from everycell.records.folders import PAPERS, TIERS
from everycell.records.registry import forget_registry, load_registry
from everycell.sources.additions import add_file
from everycell.sources.fetch import OWN_DATA
from everycell.workflow import FOLDER

#: File of a new repository -> its template.
REPOSITORY_TEMPLATES = {
    "Snakefile": "Snakefile.j2",
    "workflow/papers/__init__.py": "papers.py.j2",
    "config.yaml": "config.yaml.j2",
    "profiles/default/config.yaml": "profile.yaml.j2",
    "profiles/slurm/config.yaml": "slurm_profile.yaml",
    "pyproject.toml": "pyproject.toml.j2",
    "README.md": "README.md.j2",
    ".gitattributes": "gitattributes",
    ".gitignore": "gitignore.j2",
    ".github/workflows/reproduce.yml": "github_workflow.yml",
}
#: How a clone of a new repository is installed, in its README and its pyproject.toml.
INSTALL = "python -m pip install ."
#: Versions that a clone runs on; a deposit has the requirements of one.
PYTHON = "Python 3.11, 3.12 or 3.13"
#: File of a new paper -> its template.
PAPER_TEMPLATES = {
    "published/{key}/paper.yaml": "paper.yaml.j2",
    "published/{key}/ch1.yaml": "ch1.yaml.j2",
    "workflow/papers/{key}/__init__.py": "paper.py.j2",
    "workflow/papers/{key}/ch1.smk": "ch1.smk.j2",
}


def require_key(key: str) -> None:
    """Raise an error if a key cannot be the name of rules, settings or targets."""
    if key in Config.model_fields or key in (*TIERS, "all"):
        raise RecordError(f"The key {key} is taken; choose another, such as smith2026b.")
    # Without a year it might be a Python keyword, or the name of a rule such as `page`.
    if not re.fullmatch(r"[a-z]+[0-9]+[a-z]?", key):
        raise RecordError(
            f"{key!r} is not a valid key; use lower-case letters and a year, such as smith2026."
        )


def make_repository(folder: Path, key: str, source: TableSource) -> None:
    """Write a repository with one paper, completely or not at all."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RecordError(f"{folder} exists and is not empty; choose a new or empty folder.")
    # An existing empty folder, or a link to one, is kept.
    target = folder.resolve()
    parent = target if folder.exists() else next(p for p in target.parents if p.is_dir())
    with naming(folder, parent), _temporary_folder(parent) as temporary:
        # This folder gets the usual permissions, unlike the temporary one.
        root = temporary / "repository"
        (root / OWN_DATA).mkdir(parents=True)
        uses_r = source.script is not None and source.script.suffix.lower() == ".r"
        _write_files(
            root,
            REPOSITORY_TEMPLATES,
            {
                "key": key,
                "requirement": requirement(),
                "install": INSTALL,
                "python": f"{PYTHON} and R" if uses_r else PYTHON,
            },
        )
        write_schemas(root / "workflow" / "schemas")
        _write_paper(root, key, source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            _move({path: target / path.name for path in root.iterdir()})
        else:
            _move({root: target})


def add_paper(root: Path, key: str, source: TableSource, *, cache: Path) -> list[Path]:
    """Add a paper to a repository, completely or not at all; return its files."""
    name = f"{key}-data"
    if name in load_registry(root).sets:
        raise RecordError(
            f"The registry already has a data set {name}; rename it, or choose another key."
        )
    parts = {
        Path("resources", name): cache / name,
        OWN_DATA / name: root / OWN_DATA / name,
        Path(PAPERS, key): root / PAPERS / key,
        Path("published", key): root / "published" / key,
    }
    for target in parts.values():
        refuse_existing(target)
    folder = root / "published" / key
    with naming(folder, root), _temporary_folder(root) as temporary:
        if (root / OWN_DATA).is_dir():
            (temporary / OWN_DATA).mkdir()
        paths = _write_paper(temporary, key, source)
        _move({temporary / part: target for part, target in parts.items()})
    forget_registry()
    return [root / path.relative_to(temporary) for path in paths]


@contextmanager
def _temporary_folder(parent: Path) -> Iterator[Path]:
    """Temporary folder that is also removed after SIGTERM."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(dir=parent, prefix=".everycell-") as temporary:
        yield Path(temporary)


def _move(parts: Mapping[Path, Path]) -> None:
    """Move all files and folders to their targets, or none of them."""
    targets: list[Path] = []
    try:
        # In one order, so that one of two commands gets all targets.
        for part, target in sorted(parts.items()):
            if part.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                _reserve(target, is_folder=part.is_dir())
                targets.append(target)
                _replace(target, part)
    except BaseException:
        for target in targets:
            if target.is_dir():
                shutil.rmtree(target)
            else:
                target.unlink(missing_ok=True)
        raise


def _reserve(target: Path, *, is_folder: bool) -> None:
    """Create an empty file or folder, which another command then cannot create too."""
    try:
        if is_folder:
            target.mkdir()
        else:
            target.touch(exist_ok=False)
    except FileExistsError:
        raise RecordError(f"{target} already exists; remove it, or choose another name.") from None


def _replace(target: Path, part: Path) -> None:
    """Replace an empty file or folder, which may be in another file system than `part`."""
    try:
        part.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        if part.is_dir():
            shutil.copytree(part, target, dirs_exist_ok=True)
        else:
            shutil.copy2(part, target)


def _write_paper(root: Path, key: str, source: TableSource) -> list[Path]:
    """Write record, published values, rule and data of a paper; return paths except the data."""
    names: dict[str, Any] = {
        "key": key,
        "set": f"{key}-data",
        "year": _year(key),
        "blank": PLACEHOLDERS,
    }
    original = find_original(source.table).note if source.table else ""
    names["source"] = PLACEHOLDERS["source"] + original
    keys = key_columns(source.cells)
    names["names"] = find_headings(source.table, keys) if source.table else {}
    originals = [find_original(path) for path in source.originals]
    names["repositories"] = [*repositories_of(originals)]
    # Several files of values become one, whose name and hash say nothing of them.
    are_values = "values" in source.rule
    made_from = "".join(original.note for original in originals if are_values)
    made_from += "".join(f"; {change}" for change in source.changes)
    paths = _write_files(root, PAPER_TEMPLATES, names | source.context())
    table = root / "published" / key / "table_1.csv"
    table.write_text(csv_text(source.cells), encoding="utf-8", newline="")
    facts = {
        "authors": PLACEHOLDERS["authors"],
        "paper": EXAMPLE_DATA if source.is_example else PLACEHOLDERS["title"],
        "licence": PLACEHOLDERS["licence"],
        "feeds": [f"{key}/table_1"],
    }
    if source.script is not None:
        script = root / PAPERS / key / source.script.name
        shutil.copyfile(source.script, script)
        paths.append(script)
        if runner := RUNNERS.get(script.suffix):
            template = {f"{PAPERS}/{key}/{source.rule['script']}": runner}
            paths += _write_files(root, template, {"name": script.name})
    for name, path in source.files.items():
        add_file(
            root,
            key,
            str(path),
            cache=root / "resources",
            set_name=names["set"],
            name=name,
            facts=facts,
            made_from=made_from,
        )
    return [*paths, table, table.with_name("registry.yaml")]


def _year(key: str) -> int:
    """Year in the key of a paper; the current year if the key contains no year."""
    years = re.findall(r"(?:19|20)[0-9]{2}(?![0-9])", key)
    return int(years[0]) if years else date.today().year


def _as_literal(value: Any) -> str:
    """Format a value (string, number, list or mapping) as valid YAML and Python."""
    return json.dumps(value, ensure_ascii=False)


def _write_files(root: Path, templates: dict[str, str], context: dict[str, Any]) -> list[Path]:
    """Write files from templates, after rendering those that end in .j2."""
    # The basic installation lacks Jinja, which the extra `workflow` installs.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # The templates are YAML, Python and Markdown, not HTML.
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701
    )
    environment.filters["text"] = _as_literal
    paths = []
    for name, template in templates.items():
        path = root / name.format(**context)
        path.parent.mkdir(parents=True, exist_ok=True)
        if template.endswith(".j2"):
            text = environment.get_template(template).render(context)
        else:
            text = (FOLDER / "templates" / template).read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths
