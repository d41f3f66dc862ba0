"""The Workflow Run RO-Crate of a deposit: a project and its results, with provenance.

The crate follows the profile Workflow Run Crate 0.5, which is based on RO-Crate 1.1. Released data
belong to their authors: they are identified by URL, hash and licence, and not copied. Intermediate
files are identified by their hash.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rocrate.model import ContextEntity, Entity
from rocrate.rocrate import ROCrate

import everycell
from everycell.base.files import sha256
from everycell.base.installation import is_own_source
from everycell.receipts.code import files_of_sources, script_files
from everycell.receipts.provenance import NAME
from everycell.receipts.receipts import (
    ReceiptError,
    read_receipt,
    readable_receipts,
    receipts_in,
)
from everycell.records.papers import Paper
from everycell.records.registry import Registry, load_registry
from everycell.sources.fetch import OWN_DATA, is_own_file

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
MIT = "https://spdx.org/licenses/MIT"
#: Files of a project that a deposit contains, if they exist, besides those of folders.
FILES = (
    *(".zenodo.json", "CITATION.cff", "DATA.md", "Dockerfile", "LICENSE", "Makefile", "README.md"),
    *("config.yaml", "pyproject.toml", "requirements.lock", "results/README.md"),
)
#: Folders with files of the workflow, among which other files may be keys or backup copies.
WORKFLOW = ("envs", "profiles", "workflow")
WORKFLOW_FILES = frozenset(
    "Dockerfile .excludes .in .json .lock .md .overrides .py .rst .sh .smk .txt .yaml".split()
)
#: Folders that a deposit contains whole, without hidden files.
WHOLE = ("published", "recorded", "src", "wheels")
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


def copy_project(project: Path, copy: Path, results: Path, pages: Sequence[str]) -> None:
    """Copy what a deposit contains."""
    pages_by_name = {Path("results", name): results / name for name in pages}
    for name, path in (files_of_deposit(project, results) | pages_by_name).items():
        if path.is_file():
            refuse_link(path, project)
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy / name)


def files_of_deposit(project: Path, results: Path) -> dict[Path, Path]:
    """Files of the workflow, records, own data and results, by their paths in a deposit."""
    names = [Path("Snakefile"), *map(Path, FILES)]
    for folder in (*WORKFLOW, *WHOLE):
        names += [
            path.relative_to(project)
            for path in _visible_files(project / folder)
            if folder in WHOLE or path.name in WORKFLOW_FILES or path.suffix in WORKFLOW_FILES
        ]
    # Also notebooks, scripts in other languages and data files that the code of a result names.
    names += [
        path.relative_to(project)
        for path in _code_of_results(results, project)
        if path.is_relative_to(project)
    ]
    names += [
        OWN_DATA / key for key, entry in load_registry(project).files.items() if is_own_file(entry)
    ]
    files = {name: project / name for name in names}
    # Other files next to the folders of the tiers are not results.
    files[Path("results", NAME)] = results / NAME
    for receipt, content in readable_receipts(results).items():
        stem = receipt.name.removesuffix(".receipt.json")
        outputs = [receipt.parent / output["path"] for output in content["outputs"]]
        for path in (*outputs, receipt, receipt.with_name(f"{stem}.verdicts.json")):
            files["results" / path.relative_to(results)] = path
    return {name: path for name, path in files.items() if path.is_file()}


def _code_of_results(results: Path, project: Path) -> set[Path]:
    """Files whose hash is the identity of the code of a result."""
    scripts = {receipt["code"].get("script") for receipt in readable_receipts(results).values()}
    return {
        path
        for script in filter(None, scripts)
        for path in files_of_sources(script_files(script, project), project)
        if path.is_file() and not path.name.startswith(".")
    }


def pack(
    copy: Path,
    out: Path,
    cache: str,
    papers: Mapping[str, Paper],
    registry: Registry,
    pages: Sequence[str],
) -> None:
    """Write the copy of a project as a zipped Workflow Run RO-Crate."""
    results = copy / "results"
    paths = receipts_in(results)
    keys = {path.parent.name for path in paths}
    crate = _Crate(copy, cache, [paper for key, paper in papers.items() if key in keys], registry)
    for path in paths:
        crate.add_result(results, path)
    for name in (*pages, NAME):
        if (results / name).is_file():
            crate.add_file(results / name, f"results/{name}")
    chunks = crate.finish().stream_zip()
    try:
        with out.open("wb") as file:
            file.writelines(chunks)
    except OSError:
        # An archive that is not read to its end shows a traceback when it is closed.
        deque(chunks, maxlen=0)
        raise


class _Crate:
    """A crate under construction, with the run of the workflow and an action for each result."""

    def __init__(
        self, project: Path, cache: str, papers: Sequence[Paper], registry: Registry
    ) -> None:
        self.project = project
        self.cache = cache
        self.registry = registry
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
        for path in _visible_files(project):
            name = path.relative_to(project).as_posix()
            if name != "Snakefile" and (name in FILES or not name.startswith("results/")):
                self.add_file(path, name)
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


def refuse_link(path: Path, project: Path) -> None:
    """Refuse a link that would copy a file from outside the project."""
    if path.is_symlink() and not path.resolve().is_relative_to(project.resolve()):
        raise ReceiptError(
            f"{path} is a link to a file outside the project, so no deposit was written; replace "
            "it by the file, or remove it."
        )


def _authorship(project: Path, papers: Sequence[Paper]) -> tuple[str, str, str]:
    """Authors, licence and name of a project: its papers', unless it contains everycell itself."""
    if is_own_source(project):
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


def _visible_files(folder: Path) -> list[Path]:
    """Files below a folder, sorted, without hidden ones, backup copies and what packaging makes."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not path.name.endswith(("~", ".pyc"))
        and not any(
            part.endswith(".egg-info") or (part.startswith(".") and part not in FILES)
            for part in path.relative_to(folder).parts
        )
    )
