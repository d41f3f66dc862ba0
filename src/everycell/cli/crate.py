"""A results folder as a Workflow Run RO-Crate: one archive with its provenance.

The crate follows the profile Workflow Run Crate 0.5, which is based on RO-Crate 1.1. It contains
the results with receipts and verdicts, the workflow, and the files of ``published/`` that were
read. Released data belong to their authors: they are identified by URL, hash and licence, and not
copied. Intermediate files are identified by their hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rocrate.model import ContextEntity, Entity
from rocrate.rocrate import ROCrate

import everycell
from everycell.base.files import sha256
from everycell.config import repository_of
from everycell.receipts.checkout import commit_of
from everycell.receipts.lineage_checks import check_lineage
from everycell.receipts.provenance import NAME, lineage_of, read_lineage
from everycell.receipts.receipts import (
    ReceiptError,
    input_path,
    is_own,
    made_by_other_code,
    read_receipt,
    receipts_in,
    verify,
)
from everycell.records.papers import Paper
from everycell.records.registry import load_registry
from everycell.render.page.pages import INDEX, outdated_pages, pages_of
from everycell.verdicts.audits import FindAudits
from everycell.verdicts.results import collect
from everycell.verdicts.verdicts import NO_AUDITS
from everycell.workflow.deviations import find_deviations

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
MIT = "https://spdx.org/licenses/MIT"
#: Files and folders of the workflow that a crate contains.
WORKFLOW = ("CITATION.cff", "LICENSE", "config.yaml", "envs", "results/README.md", "workflow")
#: Names and suffixes of the files to include; other files may be keys or backup copies.
WORKFLOW_FILES = frozenset(
    "Dockerfile .excludes .in .json .lock .md .overrides .py .rst .sh .smk .yaml".split()
)
#: Terms of the Workflow Run profiles that RO-Crate 1.1 lacks.
TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
FORMATS = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".tar": "application/x-tar",
    ".tex": "application/x-tex",
    ".yaml": "application/yaml",
}


def write_crate(
    results: Path,
    out: Path,
    project: Path,
    cache: str = "resources",
    papers: Mapping[str, Paper] = {},
    audits: FindAudits = lambda paper, chapter: NO_AUDITS,
) -> Path:
    """Write a results folder as a zipped Workflow Run RO-Crate."""
    if not out.parent.is_dir():
        raise ReceiptError(f"{out.parent} is not a folder; create it, or choose another one.")
    paths = receipts_in(results)
    if not paths:
        raise ReceiptError(f"{results} contains no receipts; run `everycell make` first.")
    collected = collect(papers, results, project, audits=audits)
    faults = [fault for path in paths for fault in verify(path, project, results)]
    faults += [fault for result in collected for fault in result.faults]
    if not faults:
        faults = check_lineage(results, project)
    if faults:
        first, *more = dict.fromkeys(faults)
        raise ReceiptError(
            f"{results} failed verification, so no crate was written: {first}"
            + f" Run `everycell verify {results}` to list all faults." * bool(more)
        )
    _require_code(paths, results, project)
    # Refuses links before anything else reads the project's files.
    keys = {path.parent.name for path in paths}
    crate = _Crate(project, cache, [paper for key, paper in papers.items() if key in keys])
    pages = {}
    if (results / INDEX).is_file():
        notices = find_deviations(results, project).notices
        pages = pages_of(results, collected, papers, notices, repository_of(project))
    for page in outdated_pages(results, pages):
        raise ReceiptError(
            f"{results}: {page} does not match these results, so no crate was written; run "
            "`everycell page` in the project that made them."
        )
    if (
        (results / NAME).is_file()
        and is_own(results, project)
        and read_lineage(results) != lineage_of(results, project, cache)
    ):
        raise ReceiptError(
            f"{results / NAME} does not match Snakemake's records, so no crate was written; run "
            "`everycell page`."
        )
    for path in paths:
        crate.add_result(results, path)
    # Other files next to the folders of the tiers are not results.
    for name in (*pages, NAME):
        if (results / name).is_file():
            crate.add_file(results / name, f"results/{name}")
    draft = out.with_name(f".{out.name}.draft.zip")
    try:
        crate.finish().write_zip(draft)
        draft.replace(out)
    finally:
        draft.unlink(missing_ok=True)
    return out


def _require_code(receipts: Sequence[Path], results: Path, project: Path) -> None:
    """Refuse results that were not made by the project's current code."""
    outdated = made_by_other_code(receipts, project)
    if outdated:
        path, commit = next(iter(outdated.items()))
        name = path.relative_to(results).as_posix().removesuffix(".receipt.json")
        raise ReceiptError(
            f"{results}: {len(outdated)} of {len(receipts)} results were made by a different "
            f"version of the code ({name}: commit {_short_commit(commit)}; this project: "
            f"{_short_commit(commit_of(project))}), so no crate was written; run snakemake again, "
            "or write the crate in a checkout of that commit."
        )


def _short_commit(commit: str | None) -> str:
    return commit[:12] if commit else "unknown"


class _Crate:
    """A crate under construction, with the run of the workflow and an action for each result."""

    def __init__(self, project: Path, cache: str, papers: Sequence[Paper]) -> None:
        self.project = project
        # The path that receipts use.
        self.cache = input_path(project / cache, project)
        self.registry = load_registry()
        self.crate = ROCrate(version="1.1")
        self.crate.metadata.extra_terms.update(TERMS)
        self.crate.name = "Results of everycell"
        self.crate.description = (
            "Reproduced tables and figures of information-retrieval papers, with a verdict for "
            "each published cell and a receipt for each result."
        )
        self.entities: dict[str, Entity] = {}
        author, licence, name = _authorship(project, papers)
        if name != "everycell":
            self.crate.name = f"Results of {name}"
        is_address = licence.startswith("https://")
        self.licence = self.add(
            licence if is_address else "#licence",
            "CreativeWork",
            name="MIT licence" if licence == MIT else licence,
        )
        self.crate.license = self.licence
        self.author = self.add("#authors", "Organization", name=author)
        self.crate.root_dataset["author"] = self.author
        _refuse_link(project / "Snakefile", project)
        self.workflow = self.crate.add_workflow(
            project / "Snakefile",
            "Snakefile",
            main=True,
            lang="snakemake",
            properties={
                "name": name,
                "description": "The workflow of the project that wrote the crate. The instrument "
                "of each action states the commit that made the result.",
                "version": everycell.__version__,
                "license": licence if is_address else {"@id": "#licence"},
                "encodingFormat": "text/plain",
                "sha256": sha256(project / "Snakefile"),
            },
        )
        self.workflow["creator"] = self.author
        self.crate.root_dataset["conformsTo"] = [
            self.add(uri, "CreativeWork", name=name, version=version)
            for uri, (name, version) in PROFILES.items()
        ]
        for part in WORKFLOW:
            source = project / part
            for path in _workflow_files(source) if source.is_dir() else [source]:
                if path.is_file():
                    self.add_file(path, path.relative_to(project).as_posix())
        config = self.crate.add_formal_parameter(
            "config", "File", identifier="#config", description="Settings of the workflow."
        )
        self.entities["config.yaml"]["description"] = (
            "Settings of the project that wrote the crate. The settings that made a result are "
            "objects of its action."
        )
        config["workExample"] = self.entities["config.yaml"]
        self.entities["config.yaml"]["exampleOfWork"] = config
        self.workflow["input"] = config
        self.objects: dict[str, Entity] = {"config.yaml": self.entities["config.yaml"]}
        self.result_files: list[Entity] = []
        self.end_times: list[str] = []

    def add(self, identifier: str, kind: str, **properties: Any) -> Entity:
        """Add an entity that is not a file of the crate, unless it exists; return it."""
        if identifier not in self.entities:
            present = {name: value for name, value in properties.items() if value is not None}
            self.entities[identifier] = self.crate.add(
                ContextEntity(self.crate, identifier, properties={"@type": kind} | present)
            )
        return self.entities[identifier]

    def add_file(self, path: Path, name: str) -> Entity:
        """Add a file to the crate under a path, unless it exists; return its entity."""
        if name not in self.entities:
            _refuse_link(path, self.project)
            properties = {
                "name": name,
                "contentSize": str(path.stat().st_size),
                "sha256": sha256(path),
                "encodingFormat": FORMATS.get(path.suffix, "text/plain"),
            }
            self.entities[name] = self.crate.add_file(path, name, properties=properties)
        return self.entities[name]

    def add_result(self, results: Path, receipt: Path) -> None:
        """Add the files of a result with the action that made them, from its receipt."""
        receipt_content = read_receipt(receipt)
        where = receipt.parent.relative_to(results).as_posix()
        outputs = [
            self.add_file(receipt.parent / output["path"], f"results/{where}/{output['path']}")
            for output in receipt_content["outputs"]
        ]
        inputs = [self._input(source) for source in receipt_content["inputs"]]
        action = f"#{receipt_content['tier']}/{receipt_content['artefact']}"
        settings = [
            self.add(
                f"{action}/{name}",
                "PropertyValue",
                name=name,
                value=value if isinstance(value, str) else json.dumps(value, ensure_ascii=False),
            )
            for name, value in _settings(receipt_content)
        ]
        execution = receipt_content.get("execution") or {}
        self.add(
            action,
            "CreateAction",
            name=f"Make {receipt_content['artefact']} ({receipt_content['tier']})",
            description=f"Described by {receipt.name}, which is part of this crate.",
            instrument=self._software(receipt_content),
            agent=self.author,
            object=[*inputs, *settings],
            result=outputs,
            endTime=execution.get("finished"),
        )
        self.crate.root_dataset.append_to("mentions", self.entities[action])
        stem = receipt.name.removesuffix(".receipt.json")
        for path in (receipt, receipt.with_name(f"{stem}.verdicts.json")):
            if path.is_file():
                outputs.append(self.add_file(path, f"results/{where}/{path.name}"))
        self.result_files += outputs
        if execution.get("finished"):
            self.end_times.append(execution["finished"])

    def _software(self, receipt: Mapping[str, Any]) -> Entity:
        """Code and package versions that made a result, identified by their hash."""
        code = receipt["code"]
        packages = receipt.get("packages") or {}
        description = json.dumps([code, packages], sort_keys=True)
        return self.add(
            f"#code/{hashlib.sha256(description.encode()).hexdigest()}",
            "SoftwareApplication",
            name="everycell",
            softwareVersion=f"{code.get('version')}, commit {code.get('commit') or 'unknown'}",
            softwareRequirements=", ".join(f"{name} {v}" for name, v in packages.items()) or None,
        )

    def _input(self, source: Mapping[str, str]) -> Entity:
        """Entity of an input file: in the crate, at its URL, or only with its hash."""
        path = source["path"]
        if path not in self.objects:
            self.objects[path] = self._new_input(path, source["sha256"])
        return self.objects[path]

    def _new_input(self, path: str, digest: str) -> Entity:
        local = self.project / path
        if Path(path).parts[0] == "published" and local.is_file():
            return self.add_file(local, path)
        key = path.removeprefix(f"{self.cache}/")
        entry = self.registry.files.get(key) if key != path else None
        if entry is None:
            return self.add(f"#{path}", "CreativeWork", name=path, sha256=digest)
        data_set = self.registry.data_set(key)
        rights = {
            "creditText": f"{data_set.authors}: {data_set.paper}",
            "usageInfo": f"Licence: {data_set.licence}",
        }
        origin = None
        if entry.origin is not None:
            # The file at the URL, even if the mirror's copy was read.
            origin = self.crate.add_file(
                self.registry.url(key),
                properties={
                    "name": key,
                    "sha256": entry.origin.sha256,
                    "contentSize": str(entry.origin.size),
                    "encodingFormat": FORMATS.get(Path(entry.origin.path).suffix, "text/plain"),
                    **rights,
                },
            )
            if digest == entry.origin.sha256:
                return origin
        wheel = entry.wheel
        # An unpacked file, a mirror's copy (see the registry's note), or a file of a package.
        return self.add(
            f"#data/{key}",
            "CreativeWork",
            name=key,
            sha256=digest,
            isBasedOn=origin,
            description=entry.note
            or (wheel and f"{wheel.path} of the package {wheel.distribution} {wheel.version}"),
            **rights,
        )

    def finish(self) -> ROCrate:
        """Add the run of the workflow and return the crate."""
        self.add(
            "#run",
            "CreateAction",
            name="Run of the everycell workflow",
            description="The jobs that made the results of this crate, in one run or several.",
            instrument=self.workflow,
            agent=self.author,
            object=list(self.objects.values()),
            result=self.result_files,
            endTime=max(self.end_times, default=None),
        )
        self.crate.root_dataset.append_to("mentions", self.entities["#run"])
        if self.end_times:
            self.crate.root_dataset["datePublished"] = max(self.end_times)
        return self.crate


def _refuse_link(path: Path, project: Path) -> None:
    """Refuse a link that would copy a file from outside the project."""
    if path.is_symlink() and not path.resolve().is_relative_to(project.resolve()):
        raise ReceiptError(
            f"{path} is a link to a file outside the project, so no crate was written; replace it "
            "by the file, or remove it."
        )


def _authorship(project: Path, papers: Sequence[Paper]) -> tuple[str, str, str]:
    """Authors, licence and name of a project: its papers', unless it contains everycell itself."""
    if (project / "src" / "everycell").is_dir():
        return "The everycell authors", MIT, "everycell"
    authors, licences, titles = (
        "; ".join(dict.fromkeys(getattr(paper, field) for paper in papers))
        for field in ("authors", "licence", "title")
    )
    return authors or "not stated", licences or "none stated", titles or project.resolve().name


def _settings(receipt: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Parameters and seed of a result."""
    parameters = receipt.get("parameters") or {}
    yield from parameters.items()
    if receipt.get("seed") is not None and "seed" not in parameters:
        yield "seed", receipt["seed"]


def _workflow_files(folder: Path) -> list[Path]:
    """Files of the workflow below a folder, sorted."""
    return sorted(
        path
        for path in folder.rglob("*")
        if (path.name in WORKFLOW_FILES or path.suffix in WORKFLOW_FILES)
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
