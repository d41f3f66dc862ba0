"""A runnable archive of a project with its results, also for double-blind review.

The archive is a Workflow Run RO-Crate. Records, own data, settings and rules are part of it, and so
are a citation file, metadata for Zenodo, pinned requirements and a Dockerfile, unless the project
has its own. Released data are listed with their addresses and hashes.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from everycell.base.files import atomic_path, sha256
from everycell.base.installation import (
    is_own_source,
    local_origin,
    locked_requirements,
    requirement,
    wheel_file,
)
from everycell.base.untrusted import on_one_line, text_of
from everycell.cli.anonymous import (
    anonymise,
    authors_of,
    identities,
    refuse_identities,
    suspicions,
)
from everycell.cli.crate import copy_project, files_of_deposit, pack, refuse_link
from everycell.cli.named_works import warn_of_works
from everycell.cli.new_paper import INSTALL, PYTHON
from everycell.cli.own_metadata import check_own_files
from everycell.cli.placeholders import find_placeholders
from everycell.cli.secret_files import refuse_secrets
from everycell.config import repository_of
from everycell.receipts.checkout import commit_of
from everycell.receipts.lineage_checks import check_lineage
from everycell.receipts.provenance import NAME, lineage_of, read_lineage
from everycell.receipts.receipts import (
    ReceiptError,
    input_path,
    is_own,
    made_by_other_code,
    receipts_in,
    verify,
)
from everycell.records.papers import Paper, load_papers
from everycell.records.registry import forget_registry, load_registry, read_part
from everycell.render.page.pages import INDEX, outdated_pages, pages_of, write_page
from everycell.sources.fetch import OWN_DATA, changed_data
from everycell.verdicts.audits import FindAudits
from everycell.verdicts.results import collect
from everycell.verdicts.verdicts import NO_AUDITS
from everycell.workflow.deviations import find_deviations

logger = logging.getLogger(__name__)

LOCK = "requirements.lock"
#: How a deposit is installed: of a wheel on this machine, its pyproject.toml cannot know the path.
INSTALL_LOCKED = f"python -m pip install --no-deps -r {LOCK}"
WHEELS = Path("wheels")
DOCKERFILE = """\
# Makes the results of this deposit: docker build --tag results . && docker run --rm results
FROM python:{version}-bookworm
RUN useradd --create-home author && install --directory --owner author /deposit
WORKDIR /deposit
{setup}COPY --chown=author . .
RUN pip install --no-cache-dir --no-deps -r {lock}
USER author
CMD ["snakemake", "--cores", "2"]
"""
#: Line of the Dockerfile for scripts in R, whose packages the authors add.
DOCKER_R = (
    "RUN apt-get update && apt-get install --yes --no-install-recommends r-base-core && "
    "rm -rf /var/lib/apt/lists/*\n"
)


def write_deposit(
    results: Path,
    out: Path,
    project: Path,
    cache: str = "resources",
    papers: Mapping[str, Paper] = {},
    audits: FindAudits = lambda paper, chapter: NO_AUDITS,
    *,
    anonymous: bool = False,
) -> Path:
    """Write a project and its verified results as one zip archive."""
    refuse_placeholders(project)
    check_own_files(project)
    hashes = _hashes(files_of_deposit(project, results))
    pages = check_results(results, out, project, cache, papers, audits)
    forbidden = identities(results, project, papers) if anonymous else {}
    suspicious = suspicions(papers)
    with TemporaryDirectory(prefix="everycell-deposit-") as folder:
        copy = Path(folder).resolve()
        copy_project(project, copy, results, [*pages])
        # A run, or an editor, may write files after they were verified.
        copied = _hashes(files_of_deposit(copy, copy / "results"))
        changed = {name for name, _ in hashes.items() ^ copied.items()}
        changed |= {path.relative_to(copy) for path in outdated_pages(copy / "results", pages)}
        if changed:
            raise ReceiptError(
                f"{min(changed)} changed after it was verified, so no deposit was written; wait "
                "until no program writes to the project, and run the same command again."
            )
        registry = load_registry()
        if papers:
            if anonymous:
                anonymise(copy, papers, forbidden)
                # Read before its names were removed, to compare the copy.
                forget_registry()
                papers = load_papers(copy / "published")
                registry = load_registry(copy)
            _write_metadata(copy, project, papers, anonymous=anonymous)
            if anonymous and pages:
                collected = collect(papers, copy / "results", copy, audits=audits)
                write_page(copy / "results" / INDEX, collected, papers)
        # The path that receipts use.
        used = input_path(project / cache, project)
        with atomic_path(out) as draft:
            pack(copy, draft, used, papers, registry, [*pages])
            refuse_secrets(draft)
            if anonymous:
                refuse_identities(draft, forbidden, suspicious)
                warn_of_works(draft)
    return out


def check_results(
    results: Path,
    out: Path,
    project: Path,
    cache: str,
    papers: Mapping[str, Paper],
    audits: FindAudits,
) -> Mapping[str, bytes]:
    """Refuse results that fail verification; return the files of their page."""
    if not out.parent.is_dir():
        raise ReceiptError(f"{out.parent} is not a folder; create it, or choose another one.")
    paths = receipts_in(results)
    if not paths:
        raise ReceiptError(f"{results} contains no receipts; run `everycell make` first.")
    collected = collect(papers, results, project, audits=audits)
    faults = [fault for path in paths for fault in verify(path, project, results)]
    faults += [fault for result in collected for fault in result.faults]
    for paper in sorted((project / "published").glob("*/")):
        faults += changed_data(paper).values()
    if not faults:
        faults = check_lineage(results, project)
    if faults:
        first, *more = dict.fromkeys(faults)
        raise ReceiptError(
            f"{results} failed verification, so no deposit was written: {first}"
            + f" Run `everycell verify {results}` to list all faults." * bool(more)
        )
    _require_code(paths, results, project)
    # The copy refuses links too, but the page reads this file before.
    refuse_link(project / "config.yaml", project)
    notices = find_deviations(results, project).notices
    for notice in notices:
        if notice.is_certain:
            raise ReceiptError(
                f"{notice.files[0]} was {notice.text}, so no deposit was written; {notice.fix}."
            )
    pages = {}
    if (results / INDEX).is_file():
        pages = pages_of(results, collected, papers, notices, repository_of(project))
    for page in outdated_pages(results, pages):
        raise ReceiptError(
            f"{results}: {page} does not match these results, so no deposit was written; run "
            "`everycell page` in the project that made them."
        )
    if (
        (results / NAME).is_file()
        and is_own(results, project)
        and read_lineage(results) != lineage_of(results, project, cache)
    ):
        raise ReceiptError(
            f"{results / NAME} does not match Snakemake's records, so no deposit was written; run "
            "`everycell page`."
        )
    return pages


def _hashes(files: Mapping[Path, Path]) -> dict[Path, str]:
    return {name: sha256(path) for name, path in files.items()}


def _require_code(receipts: Sequence[Path], results: Path, project: Path) -> None:
    """Refuse results that were not made by the project's current code."""
    outdated = made_by_other_code(receipts, project)
    if outdated:
        path, commit = next(iter(outdated.items()))
        name = path.relative_to(results).as_posix().removesuffix(".receipt.json")
        raise ReceiptError(
            f"{results}: {len(outdated)} of {len(receipts)} results were made by a different "
            f"version of the code ({name}: commit {_short_commit(commit)}; this project: "
            f"{_short_commit(commit_of(project))}), so no deposit was written; run snakemake "
            "again, or write the deposit in a checkout of that commit."
        )


def _short_commit(commit: str | None) -> str:
    return commit[:12] if commit else "unknown"


def refuse_placeholders(project: Path) -> None:
    """Refuse records and registries with values of the templates."""
    lines = [
        f"{path.relative_to(project)}, line {line} ({', '.join(fields)})"
        for path in sorted((project / "published").glob("*/*.yaml"))
        for line, fields in find_placeholders(path).items()
    ]
    if lines:
        raise ReceiptError(
            f"{'; '.join(lines)}: as in the templates, so no deposit was written; write title, "
            "authors, reference and licence of the paper in paper.yaml, authors, paper and licence "
            "of the data in registry.yaml (`none stated` if the authors state no licence), and the "
            "page of each table and claim in ch1.yaml (`source`), then run `everycell page`."
        )


def _write_metadata(
    copy: Path, project: Path, papers: Mapping[str, Paper], *, anonymous: bool
) -> None:
    """Write what a deposit needs and the project lacks; pin everycell in `pyproject.toml`."""
    if is_own_source(project):
        return  # everycell itself has all of it
    files = {
        "CITATION.cff": yaml.safe_dump(citation(papers), sort_keys=False, allow_unicode=True),
        ".zenodo.json": json.dumps(zenodo_metadata(papers), indent=1, ensure_ascii=False) + "\n",
        "DATA.md": _data_page(copy),
    }
    pyproject = copy / "pyproject.toml"
    if pyproject.is_file():
        text = text_of(pyproject)
        locked = _locked(text)
        wheel = wheel_file()
        if wheel:
            (copy / WHEELS).mkdir(exist_ok=True)
            shutil.copy(wheel, copy / WHEELS)
        version = ".".join(map(str, sys.version_info[:2]))
        uses_r = any((copy / "workflow").rglob("*.[Rr]"))
        files |= {
            LOCK: "\n".join([*lock_lines(wheel, anonymous=anonymous), *locked]) + "\n",
            "Dockerfile": DOCKERFILE.format(
                version=version, lock=LOCK, setup=DOCKER_R if uses_r else ""
            ),
        }
        if wheel or anonymous or local_origin():
            # A path of this machine, or the address of a fork.
            pattern = r'"everycell-repro\[([^"\]]+)\] @ [^"]*"'
            replacement = '"' + requirement(r"\1", released=True) + '"'
            pyproject.write_text(re.sub(pattern, replacement, text), encoding="utf-8")
        for path in filter(Path.is_file, (copy / "README.md", pyproject)):
            text = text_of(path)
            # Not the beginning of another command, such as `pip install ./src`.
            text = re.sub(rf"{re.escape(INSTALL)}(?![\w./-])", INSTALL_LOCKED, text)
            text = text.replace(PYTHON, f"Python {version}")
            path.write_text(text, encoding="utf-8")
    for name, text in files.items():
        if not (copy / name).exists():
            (copy / name).write_text(text, encoding="utf-8")


def _locked(text: str) -> list[str]:
    """Pinned requirements of the project with this `pyproject.toml`."""
    try:
        needed = tomllib.loads(text).get("project", {}).get("dependencies", [])
        return locked_requirements(needed)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ReceiptError(
            f"pyproject.toml has no valid dependencies ({on_one_line(str(error))}), so no deposit "
            "was written; correct it."
        ) from None


def lock_lines(wheel: Path | None, *, anonymous: bool) -> list[str]:
    """Lines of a lock file that install everycell, and say what to do if no index has it."""
    if wheel:
        return [f"./{WHEELS / wheel.name}"]
    origin = local_origin()
    line = requirement(released=anonymous or bool(origin))
    if not origin:
        return [line]
    logger.warning(
        "%s requires %s, which was installed from %s and may be on no package index; to deposit "
        "everycell too, install it from a wheel and write the deposit again.", LOCK, line, origin
    )  # fmt: skip
    return [
        "# The authors installed everycell from their disk: if no index has this version, replace "
        "the next line by the path of its wheel.",
        line,
    ]


def citation(papers: Mapping[str, Paper]) -> dict[str, object]:
    """Content of `CITATION.cff`: the deposit, with the papers as references."""
    authors = [{"name": name} for name in authors_of(papers)]
    licence = _spdx(papers)
    return {
        "cff-version": "1.2.0",
        "message": "If you use this deposit, please cite the paper too; it is the reference.",
        "type": "software",
        "title": _title(papers),
        "authors": authors,
        **({"license": licence} if licence else {}),
        "references": [
            {
                "type": "thesis" if paper.kind == "thesis" else "article",
                "title": paper.title,
                "authors": [{"name": name} for name in authors_of({key: paper})],
                "year": paper.year,
            }
            for key, paper in papers.items()
        ],
    }


def zenodo_metadata(papers: Mapping[str, Paper]) -> dict[str, object]:
    """Content of `.zenodo.json`."""
    licence = _spdx(papers)
    return {
        "title": _title(papers),
        "upload_type": "software",
        "description": "Data, code and results of a paper, with a verdict per published value.",
        "creators": [{"name": name} for name in authors_of(papers)],
        **({"license": licence} if licence else {}),
    }


def _title(papers: Mapping[str, Paper]) -> str:
    return "Results of " + "; ".join(dict.fromkeys(paper.title for paper in papers.values()))


def _spdx(papers: Mapping[str, Paper]) -> str | None:
    """SPDX identifier of the only licence; None if there are several, or it has none."""
    licences = {paper.licence for paper in papers.values()}
    name = licences.pop().removeprefix("https://spdx.org/licenses/") if len(licences) == 1 else ""
    return name if re.fullmatch(r"[A-Za-z0-9]+(?:[-.+][A-Za-z0-9.+]+)*", name) else None


def _data_page(copy: Path) -> str:
    """List of the data files, in the deposit or elsewhere."""
    registry = load_registry(copy)
    keys = {path.relative_to(copy / OWN_DATA).as_posix() for path in (copy / OWN_DATA).rglob("*")}
    lines = [
        "# Data",
        "",
        "Files of `data/` are part of this deposit. `everycell data fetch` gets the others from "
        "their addresses and compares their hashes.",
        "",
        "| file | where | sha256 | licence |",
        "|---|---|---|---|",
    ]
    own = {
        key
        for part in (copy / "published").glob("*/registry.yaml")
        for key in read_part(part).files
    }
    for key in sorted(own):
        entry = registry.files[key]
        form = entry.origin or entry.mirror
        where = "`data/`" if key in keys else registry.url(key) if entry.origin else entry.note
        licence = registry.data_set(key).licence
        lines.append(f"| `{key}` | {where} | `{form.sha256 if form else ''}` | {licence} |")
    return "\n".join(lines) + "\n"
