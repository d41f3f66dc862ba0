"""Files of a new paper, and of a repository for one, from the templates of the package."""

from __future__ import annotations

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

from everycell import __version__, studies
from everycell.cli.project import refuse_existing
from everycell.cli.table_sources import TableSource
from everycell.config import Config
from everycell.engine.published_cells import CardError
from everycell.engine.record_schemas import write_schemas
from everycell.engine.registry import forget_registry, load_registry
from everycell.engine.tiers import TIERS
from everycell.sources.additions import add_file
from everycell.sources.fetch import OWN_DATA
from everycell.workflow import FOLDER

#: Description of a new paper's data, until its made-up files are replaced.
MADE_UP = "made-up files to begin with"
#: File of a new repository -> its template.
OF_REPOSITORY = {
    "Snakefile": "Snakefile.j2",
    "config.yaml": "config.yaml.j2",
    "profiles/default/config.yaml": "profile.yaml.j2",
    "pyproject.toml": "pyproject.toml.j2",
    "README.md": "README.md.j2",
    ".gitignore": "gitignore.j2",
    ".github/workflows/reproduce.yml": "github_workflow.yml",
}
#: File of a new paper -> its template.
OF_PAPER = {
    "published/{key}/paper.yaml": "paper.yaml.j2",
    "published/{key}/ch1.yaml": "ch1.yaml.j2",
    "workflow/rules/{key}/ch1.smk": "ch1.smk.j2",
}


def require_key(key: str) -> None:
    """Refuse a key that rules, settings or targets could not have as a name."""
    # Audits and drawings of a study in the package would be taken for those of the new paper.
    in_package = Path(str(studies.__file__)).with_name(key) if key.isalnum() else None
    if key in Config.model_fields or key in (*TIERS, "all") or (in_package and in_package.is_dir()):
        raise CardError(f"The key {key} is taken; choose another one, such as smith2026b.")
    # Without a year it might be a keyword of Python, or the name of a rule such as `page`.
    if not re.fullmatch(r"[a-z]+[0-9]+[a-z]?", key):
        raise CardError(f"{key!r} is not a key; use lower-case letters, then a year, as smith2026.")


def make_repository(folder: Path, key: str, source: TableSource) -> None:
    """Write a repository with one paper; nothing is left if something is wrong."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CardError(f"{folder} exists and is not empty; name a new or an empty folder.")
    # An empty folder, or a link to one, stays.
    target = folder.resolve()
    near = target if folder.exists() else next(p for p in target.parents if p.is_dir())
    with _temporary_folder(near) as temporary:
        # A folder with the usual rights, unlike the temporary one.
        root = temporary / "repository"
        (root / OWN_DATA).mkdir(parents=True)
        _write(root, OF_REPOSITORY, {"key": key, "version": __version__})
        write_schemas(root / "workflow" / "schemas")
        _write_paper(root, key, source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            _move({path: target / path.name for path in root.iterdir()})
        else:
            _move({root: target})


def add_paper(root: Path, key: str, source: TableSource, *, cache: Path) -> list[Path]:
    """Add a paper to a repository; nothing is left if something is wrong. Return its files."""
    name = f"{key}-data"
    if name in load_registry(root).sets:
        raise CardError(f"The registry has a data set {name}; rename it, or choose another key.")
    parts = {
        Path("resources", name): cache / name,
        OWN_DATA / name: root / OWN_DATA / name,
        Path("workflow/rules", key): root / "workflow/rules" / key,
        Path("published", key): root / "published" / key,
    }
    for target in parts.values():
        refuse_existing(target)
    with _temporary_folder(root) as temporary:
        if (root / OWN_DATA).is_dir():
            (temporary / OWN_DATA).mkdir()
        written = _write_paper(temporary, key, source)
        _move({temporary / part: target for part, target in parts.items()})
    forget_registry()
    return [root / path.relative_to(temporary) for path in written]


@contextmanager
def _temporary_folder(above: Path) -> Iterator[Path]:
    """Folder that is removed at the end, also after SIGTERM."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(dir=above, prefix=".everycell-") as temporary:
        yield Path(temporary)


def _move(parts: Mapping[Path, Path]) -> None:
    """Move all files and folders to their targets, or none."""
    moved: list[Path] = []
    try:
        for part, target in parts.items():
            if part.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                moved.append(target)
                shutil.move(part, target)
    except BaseException:
        for target in moved:
            if target.is_dir():
                shutil.rmtree(target)
            else:
                target.unlink(missing_ok=True)
        raise


def _write_paper(root: Path, key: str, source: TableSource) -> list[Path]:
    """Write record, published values, rule and data of a paper; return the files, without data."""
    names = {"key": key, "set": f"{key}-data", "year": _year(key)}
    written = _write(root, OF_PAPER, names | source.context())
    table = root / "published" / key / "table_1.csv"
    source.cells.to_csv(table, index=False, lineterminator="\n")
    facts = {
        "authors": "N. N.",
        "paper": MADE_UP if source.is_example else "Title of the paper",
        "licence": "none stated",
        "feeds": [f"{key}/table_1"],
    }
    for name, path in source.files.items():
        add_file(
            root,
            key,
            str(path),
            cache=root / "resources",
            set_name=names["set"],
            name=name,
            facts=facts,
        )
    return [*written, table, table.with_name("registry.yaml")]


def _year(key: str) -> int:
    """Year of a paper by its key; that of today if the key has another number."""
    years = re.findall(r"(?:19|20)[0-9]{2}(?![0-9])", key)
    return int(years[0]) if years else date.today().year


def _as_text(value: Any) -> str:
    """Texts, numbers, and lists and mappings of them, as YAML and Python read them."""
    return json.dumps(value, ensure_ascii=False)


def _write(root: Path, templates: dict[str, str], context: dict[str, Any]) -> list[Path]:
    """Write files from templates; of those that end in .j2, names are filled in."""
    # A light installation has no Jinja, nor Snakemake, which runs what is written here.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # Text for people and YAML, no HTML.
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701
    )
    environment.filters["text"] = _as_text
    written = []
    for name, template in templates.items():
        path = root / name.format(**context)
        path.parent.mkdir(parents=True, exist_ok=True)
        if template.endswith(".j2"):
            text = environment.get_template(template).render(context)
        else:
            text = (FOLDER / "templates" / template).read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written
