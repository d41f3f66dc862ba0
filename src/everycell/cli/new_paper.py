"""Files of a new paper, and of a repository for one, from the templates of the package."""

from __future__ import annotations

import re
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

from everycell import __version__
from everycell.cli.table_sources import TableSource
from everycell.config import Config
from everycell.engine.published_cells import CardError
from everycell.engine.record_schemas import write_schemas
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
    if key in Config.model_fields or key in (*TIERS, "all"):
        raise CardError(f"The key {key} is taken; choose another one, such as smith2026b.")
    # Without a year it might be a keyword of Python, or the name of a rule such as `page`.
    if not re.fullmatch(r"[a-z]+[0-9]+[a-z]?", key):
        raise CardError(f"{key!r} is not a key; write small letters, then a year, as smith2026.")


def make_repository(folder: Path, key: str, source: TableSource) -> None:
    """Write a repository with one paper; nothing is left if something is wrong."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CardError(f"{folder} exists and is not empty; name a new or an empty folder.")
    above = next(parent for parent in folder.absolute().parents if parent.is_dir())
    with tempfile.TemporaryDirectory(dir=above, prefix=".everycell-") as temporary:
        # A folder with the usual rights, unlike the temporary one.
        root = Path(temporary, "repository")
        (root / OWN_DATA).mkdir(parents=True)
        _write(root, OF_REPOSITORY, {"key": key, "version": __version__})
        write_schemas(root / "workflow" / "schemas")
        write_paper(root, key, source, cache=root / "resources")
        folder.parent.mkdir(parents=True, exist_ok=True)
        root.rename(folder)


def write_paper(root: Path, key: str, source: TableSource, *, cache: Path) -> list[Path]:
    """Write record, published values, rule and data of a paper; return the files, without data."""
    names = {"key": key, "set": f"{key}-data", "year": date.today().year}
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
            cache=cache,
            set_name=names["set"],
            name=name,
            facts=facts,
            replace=True,
        )
    return [*written, table, table.with_name("registry.yaml")]


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
