"""A results folder as a Workflow Run RO-Crate: one archive with its provenance.

The crate follows the profile Workflow Run Crate 0.5, and so RO-Crate 1.1. It holds the results,
their receipts and verdicts, the workflow, and the published facts that were read. Released data is
identified by the URL at its pinned commit with its hash and licence, and never copied: it belongs
to its authors. Intermediate files of the workflow are identified by their hash.
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
from everycell.engine.artefacts import Paper
from everycell.engine.audits import FindAudits
from everycell.engine.files import sha256
from everycell.engine.lineage import NAME, contradictions, lineage_of, read_lineage
from everycell.engine.receipts import (
    ReceiptError,
    commit_of,
    made_by_other_code,
    read_receipt,
    receipts_in,
    relative,
)
from everycell.engine.registry import load_registry
from everycell.engine.render.page.page_file import INDEX, outdated_pages, pages_of
from everycell.engine.results import collect
from everycell.engine.verdicts import NO_AUDITS
from everycell.engine.verification import is_own, verify

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
MIT = "https://spdx.org/licenses/MIT"
#: The workflow's main file in a crate.
WORKFLOW = ("CITATION.cff", "LICENSE", "config.yaml", "envs", "results/README.md", "workflow")
#: Files of those folders by name or suffix; what else lies there may be a key or an editor's copy.
WORKFLOW_FILES = frozenset(
    "Dockerfile .excludes .in .json .lock .md .overrides .py .rst .sh .smk .yaml".split()
)
#: RO-Crate 1.1 has no name for it; the Workflow Run profiles have this one.
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
        raise ReceiptError(f"There is no folder {out.parent} to write {out.name} into; make it.")
    paths = receipts_in(results)
    if not paths:
        raise ReceiptError(f"{results}: holds no receipt; run `everycell make` first.")
    collected = collect(papers, results, project, audits=audits)
    faults = [fault for path in paths for fault in verify(path, project, results)]
    faults += [fault for result in collected for fault in result.faults]
    if not faults:
        faults = contradictions(results, project)
    if faults:
        first, *more = dict.fromkeys(faults)
        raise ReceiptError(
            f"No crate is made of {results}, which does not verify: {first}"
            + f" There is more, which `everycell verify {results}` names." * bool(more)
        )
    _require_code(paths, results, project)
    pages = pages_of(results, collected, papers) if (results / INDEX).is_file() else {}
    for page in outdated_pages(results, pages):
        raise ReceiptError(
            f"No crate is made of {results}: {page} is not the page of these results; "
            "`everycell page` in the project that made them draws it again."
        )
    if (
        (results / NAME).is_file()
        and is_own(results, project)
        and read_lineage(results) != lineage_of(results, project, cache)
    ):
        raise ReceiptError(
            f"No crate is made of {results}: {results / NAME} is not what Snakemake's records "
            "give; `everycell page` writes it again."
        )
    crate = _Crate(project, cache)
    for path in paths:
        crate.add_result(results, path)
    # Other files beside the tiers are not results.
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
    foreign = made_by_other_code(receipts, project)
    if foreign:
        path, commit = next(iter(foreign.items()))
        name = path.relative_to(results).as_posix().removesuffix(".receipt.json")
        raise ReceiptError(
            f"No crate is made of {results}: {len(foreign)} of {len(receipts)} results come "
            f"from other code than that of this project ({name}: commit {_short(commit)}, the "
            f"project: {_short(commit_of(project))}); run snakemake again, or make the crate in a "
            "checkout of that commit."
        )


def _short(commit: str | None) -> str:
    return commit[:12] if commit else "unknown"


class _Crate:
    """The crate under construction: the run of the workflow, and an action for each result."""

    def __init__(self, project: Path, cache: str) -> None:
        self.project = project
        # As receipts name files below it.
        self.cache = relative(project / cache, project)
        self.registry = load_registry()
        self.crate = ROCrate(version="1.1")
        self.crate.metadata.extra_terms.update(TERMS)
        self.crate.name = "Results of everycell"
        self.crate.description = (
            "Reproduced tables and figures of information-retrieval works, with a verdict for each "
            "published cell and a receipt for each result."
        )
        self.entities: dict[str, Entity] = {}
        self.crate.license = self.add(MIT, "CreativeWork", name="MIT licence")
        self.author = self.add("#authors", "Organization", name="The everycell authors")
        self.crate.root_dataset["author"] = self.author
        self.workflow = self.crate.add_workflow(
            project / "Snakefile",
            "Snakefile",
            main=True,
            lang="snakemake",
            properties={
                "name": "everycell",
                "description": "The workflow of the project that packed the crate; which commit "
                "made a result is in the instrument of its action.",
                "version": everycell.__version__,
                "license": MIT,
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
            "Settings of the project that packed the crate; those that made a result are objects "
            "of its action."
        )
        config["workExample"] = self.entities["config.yaml"]
        self.entities["config.yaml"]["exampleOfWork"] = config
        self.workflow["input"] = config
        self.objects: dict[str, Entity] = {"config.yaml": self.entities["config.yaml"]}
        self.made: list[Entity] = []
        self.finished: list[str] = []

    def add(self, identifier: str, kind: str, **properties: Any) -> Entity:
        """Add an entity that is not a file of the crate, or return it if it exists."""
        if identifier not in self.entities:
            known = {name: value for name, value in properties.items() if value is not None}
            self.entities[identifier] = self.crate.add(
                ContextEntity(self.crate, identifier, properties={"@type": kind} | known)
            )
        return self.entities[identifier]

    def add_file(self, path: Path, name: str) -> Entity:
        """Add a file under a path in the crate."""
        if name not in self.entities:
            properties = {
                "name": name,
                "contentSize": str(path.stat().st_size),
                "sha256": sha256(path),
                "encodingFormat": FORMATS.get(path.suffix, "text/plain"),
            }
            self.entities[name] = self.crate.add_file(path, name, properties=properties)
        return self.entities[name]

    def add_result(self, results: Path, receipt: Path) -> None:
        """Add a result's files with the action that made them, as its receipt says."""
        receipt_content = read_receipt(receipt)
        where = receipt.parent.relative_to(results).as_posix()
        outputs = [
            self.add_file(receipt.parent / output["path"], f"results/{where}/{output['path']}")
            for output in receipt_content["outputs"]
        ]
        used = [self._input(source) for source in receipt_content["inputs"]]
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
            description=f"As {receipt.name} says, which is part of this crate.",
            instrument=self._software(receipt_content),
            agent=self.author,
            object=[*used, *settings],
            result=outputs,
            endTime=execution.get("finished"),
        )
        self.crate.root_dataset.append_to("mentions", self.entities[action])
        stem = receipt.name.removesuffix(".receipt.json")
        for path in (receipt, receipt.with_name(f"{stem}.verdicts.json")):
            if path.is_file():
                outputs.append(self.add_file(path, f"results/{where}/{path.name}"))
        self.made += outputs
        if execution.get("finished"):
            self.finished.append(execution["finished"])

    def _software(self, receipt: Mapping[str, Any]) -> Entity:
        """The code that made a result, with the packages that it ran with, identified by hash."""
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
        """A file that a result was made from: in the crate, behind its URL, or by its hash."""
        path = source["path"]
        if path not in self.objects:
            self.objects[path] = self._new_input(path, source["sha256"])
        return self.objects[path]

    def _new_input(self, path: str, digest: str) -> Entity:
        own = self.project / path
        if Path(path).parts[0] == "published" and own.is_file():
            return self.add_file(own, path)
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
            # The bytes behind the URL, whichever form was read.
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
        # Unpacked, from a mirror as the registry's note says, or from a package.
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
        """Add the run as a whole; return the crate."""
        self.add(
            "#run",
            "CreateAction",
            name="Run of the everycell workflow",
            description="The jobs that made all results of this crate, at one time or at several.",
            instrument=self.workflow,
            agent=self.author,
            object=list(self.objects.values()),
            result=self.made,
            endTime=max(self.finished, default=None),
        )
        self.crate.root_dataset.append_to("mentions", self.entities["#run"])
        if self.finished:
            self.crate.root_dataset["datePublished"] = max(self.finished)
        return self.crate


def _settings(receipt: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Parameters of a result, and its seed if it is not among them."""
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
