"""Requirements of the full tier: corpora, models, licences, memory, time and requests.

``published/full.yaml`` and ``published/KEY/full.yaml`` list corpora and models, the runs that read
them, and the artefacts that need each run.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from everycell.base.validation import Strict
from everycell.base.yaml import read_model
from everycell.records.cells import RecordError
from everycell.records.identity import FileFacts
from everycell.records.papers import Artefact, Paper, all_artefacts
from everycell.records.tables import RUNNABLE

Key = Annotated[str, Field(pattern=r"^[a-z0-9_.]+$")]
ArtefactId = Annotated[str, Field(pattern=r"^[a-z0-9]+/(table|figure|text)_\w+$")]

#: Name of a model on the hub, optionally with a revision such as a commit or ``refs/pr/1``.
HUB_NAME = r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?(@[\w./-]+)?"

#: Value in config.yaml for a corpus to be downloaded automatically.
FETCH = "fetch"
#: Note on a corpus or run files without facts to identify them.
NOTHING_KNOWN = "no known facts; accepted under its name"


class Material(Strict):
    """A corpus, index, model or run file that a run of the full tier reads."""

    title: str = Field(min_length=5, description="Name, for readers.")
    kind: Literal["corpus", "index", "model", "runs"] = Field(description="Kind of material.")
    gb: float = Field(gt=0, description="Disk space in GB.")
    unpacking_gb: float = Field(
        0, ge=0, description="Additional disk space while it is unpacked, in GB."
    )
    licence: str = Field(min_length=3, description="Licence or terms, as its makers state them.")
    page: str = Field(pattern=r"^[a-z/0-9-]+\.md$", description="Page of docs/ that describes it.")
    settings: list[Key] = Field(
        [], description="Keys of `config.yaml` for its folder, its file or its name on a hub."
    )
    holds: list[str] = Field(
        [],
        description="Patterns of the files that its folder must contain. `{ginger.words}` is "
        "replaced by the value of that key; `a|b` matches either name.",
    )
    corpus: str | None = Field(None, description="Name of the download if a key is `fetch`.")
    facts: dict[str, FileFacts] = Field(
        {}, description="File, as in `holds` -> facts that identify it."
    )
    nothing_known: bool = Field(
        False,
        description="Whether there are no facts to identify it; for a download, only the hash of "
        "the archive is then checked.",
    )
    hosts: list[Annotated[str, Field(pattern=r"^https://")]] = Field(
        [], description="Addresses of downloads; empty if the user must provide it."
    )
    packages: list[str] = Field(
        [], description="Packages that fetch or read it and that some environments lack."
    )
    optional: bool = Field(
        False, description="Whether a run without it still makes some of the results."
    )

    @property
    def disk_gb(self) -> float:
        """Largest disk space that it needs."""
        return self.gb + self.unpacking_gb

    @model_validator(mode="after")
    def _check_facts(self) -> Material:
        if self.facts and len(self.settings) != 1:
            raise ValueError("`facts` require exactly one key in `settings`")
        if self.facts and self.nothing_known:
            raise ValueError("`facts` cannot be combined with `nothing_known`; remove one of them")
        return self


class FullRun(Strict):
    """A run of the full tier, which several artefacts may share, and its requirements."""

    title: str = Field(min_length=5, description="Name, for readers.")
    artefacts: Annotated[list[ArtefactId], Field(min_length=1)] = Field(
        description="Artefacts that need the run, as `KEY/table_1`."
    )
    materials: list[str] = Field([], description="Names of the materials that it reads.")
    models: list[Key] = Field(
        [], description="Keys of `config.yaml` whose values are names of language models."
    )
    only_if: Key | None = Field(
        None, description="Key of `config.yaml` without which the run is not made."
    )
    memory_gb: float = Field(gt=0, description="Memory of its largest job, in GB.")
    work_gb: float = Field(ge=0, description="Disk for its intermediate files, in GB.")
    gpu_gb: float = Field(
        0,
        ge=0,
        description="GPU memory in GB; 0 if no GPU is needed. With `models`, the memory to run a "
        "model like the paper's on this machine.",
    )
    gpu_hours: float = Field(0, ge=0, description="GPU hours, without requests to language models.")
    cpu_hours: float = Field(0, ge=0, description="Core hours.")
    requests: int = Field(0, ge=0, description="Requests per language model.")
    prompt_tokens: int = Field(0, ge=0, description="Mean number of tokens per prompt.")
    answer_tokens: int = Field(0, ge=0, description="Mean number of tokens per answer.")
    seconds_per_request: float = Field(
        0, ge=0, description="Seconds per request on a GPU if requests are sent one by one."
    )
    known_from: str = Field(
        min_length=10,
        description="Basis of these numbers: measured, calculated (and how) or estimated.",
    )

    @model_validator(mode="after")
    def _requests_have_sizes(self) -> FullRun:
        sizes = (self.requests, self.prompt_tokens, self.answer_tokens, self.seconds_per_request)
        if len({bool(size) for size in (*sizes, self.models)}) > 1:
            raise ValueError(
                "`models`, `requests`, `prompt_tokens`, `answer_tokens` and `seconds_per_request` "
                "must be used together"
            )
        if self.gpu_hours and not self.gpu_gb:
            raise ValueError("`gpu_hours` requires `gpu_gb`")
        return self


class FullTier(Strict):
    """Requirements of the full tier, from one file or from all."""

    materials: dict[str, Material] = Field(
        {}, description="Corpora, indexes, models and run files by name."
    )
    runs: dict[str, FullRun] = Field({}, description="Runs of the full tier by name.")

    def of(self, artefacts: Iterable[str]) -> dict[str, FullRun]:
        """Runs that these artefacts need, by name."""
        ids = set(artefacts)
        return {name: run for name, run in self.runs.items() if ids & set(run.artefacts)}

    def materials_of(self, artefacts: Iterable[str]) -> dict[str, Material]:
        """Materials that these artefacts need, by name."""
        runs = self.of(artefacts).values()
        return {name: self.materials[name] for run in runs for name in run.materials}

    def describe_requirements(self, artefacts: Iterable[str]) -> str:
        """Format the joint requirements of these artefacts, for a single language model."""
        artefacts = list(artefacts)
        runs = list(self.of(artefacts).values())
        return format_requirements(
            runs, sum(m.disk_gb for m in self.materials_of(artefacts).values() if not m.optional)
        )


def format_requirements(runs: list[FullRun], material_gb: float) -> str:
    """Format time, memory and disk space of runs and their materials in one line."""
    requirements = []
    if hours := sum(run.gpu_hours for run in runs):
        size = max(run.gpu_gb for run in runs if run.gpu_hours)
        requirements.append(f"{_format_hours(hours, 'GPU ')} ({format_number(size)} GB)")
    if hours := sum(run.cpu_hours for run in runs):
        requirements.append(_format_hours(hours, "CPU "))
    if runs_with_requests := [run for run in runs if run.requests]:
        requests = sum(run.requests for run in runs_with_requests)
        sizes = [tokens(runs_with_requests, kind) / 1e6 for kind in ("prompt", "answer")]
        hours = sum(run.requests * run.seconds_per_request for run in runs_with_requests) / 3600
        requirements.append(
            f"{requests:,} requests per language model ({format_number(sizes[0])} million tokens "
            f"of prompts, {format_number(sizes[1])} of answers; {_format_hours(hours)} on a GPU of "
            f"{format_number(max(run.gpu_gb for run in runs_with_requests))} GB, or an endpoint)"
        )
    requirements.append(
        f"{format_number(material_gb + sum(run.work_gb for run in runs))} GB of disk"
    )
    requirements.append(f"{format_number(max(run.memory_gb for run in runs))} GB of memory")
    return ", ".join(requirements)


def tokens(runs: Iterable[FullRun], kind: Literal["prompt", "answer"]) -> int:
    """Number of tokens in all requests of runs to one language model."""
    return sum(run.requests * getattr(run, f"{kind}_tokens") for run in runs)


def _format_hours(value: float, kind: str = "") -> str:
    text = format_number(value)
    return f"{text} {kind}hour{'s' * (text != '1')}"


def format_number(value: float) -> str:
    """Format a number with two significant digits below ten, and as an integer above."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def load_full_tier(published: Path, papers: Mapping[str, Paper]) -> FullTier:
    """Read and merge the requirements of all full tiers, and check them against the records."""
    materials: dict[str, Material] = {}
    runs: dict[str, FullRun] = {}
    shared = published / "full.yaml"
    for file in [shared] * shared.exists() + sorted(published.glob("*/full.yaml")):
        declared = read_model(file, FullTier, RecordError)
        for name in (materials.keys() & declared.materials) | (runs.keys() & declared.runs):
            raise RecordError(f"{file}: {name} is also in another file; rename one of the two.")
        materials |= declared.materials
        runs |= declared.runs
        for name, run in declared.runs.items():
            for unknown in sorted(set(run.materials) - materials.keys()):
                raise RecordError(
                    f"{file}: {name} reads {unknown!r}, which is not declared; add it to "
                    "`materials` or correct the name."
                )
    runnable = {artefact.id for artefact in all_artefacts(papers) if runs_in_full(artefact)}
    for name, run in runs.items():
        for unknown in sorted(set(run.artefacts) - runnable):
            raise RecordError(
                f"full.yaml: {name} lists {unknown!r}, whose record has no full tier to run; "
                "correct the id or the record."
            )
    listed = {artefact for run in runs.values() for artefact in run.artefacts}
    for artefact in sorted(runnable - listed):
        folder = artefact.partition("/")[0]
        raise RecordError(
            f"{published / folder / 'full.yaml'}: no run lists {artefact}, whose record has a "
            "full tier; declare its requirements there."
        )
    return FullTier(materials=materials, runs=runs)


def runs_in_full(artefact: Artefact) -> bool:
    """Whether the record of an artefact declares a full tier that can be run."""
    record = artefact.record.tiers.get("full")
    return record is not None and record.state in RUNNABLE


def setting_value(settings: Any, key: str) -> Any:
    """Value of a dotted key, such as ``ginger.full.model``, in a configuration."""
    for part in key.split("."):
        settings = settings[part] if isinstance(settings, Mapping) else getattr(settings, part)
    return settings


def required_files(settings: Any, material: Material) -> list[str]:
    """Patterns of the files that the folder of a material must contain."""
    return [fill_pattern(settings, pattern) for pattern in material.holds]


def fill_pattern(settings: Any, pattern: str) -> str:
    """Fill in the values of the keys that a pattern of a file name contains."""
    return re.sub(r"\{([^{}]+)\}", lambda match: str(setting_value(settings, match[1])), pattern)


def identifiable_materials(settings: Any, tier: FullTier, artefact: str) -> list[str]:
    """Configured materials of an artefact that have identifying facts."""
    return [
        name
        for name, material in tier.materials_of([artefact]).items()
        if material.facts and setting_value(settings, material.settings[0])
    ]


def unconfigured_corpora(settings: Any, tier: FullTier, artefact: Artefact) -> list[Material]:
    """Corpora that an artefact could be made from, but that are not configured.

    Runs or models that are configured in place of corpora leave nothing out.
    """
    corpora = [
        material
        for material in tier.materials_of([artefact.id]).values()
        if material.kind == "corpus"
    ]
    of_corpora = {key for material in corpora for key in material.settings}
    groups = [set(keys.split("|")) for keys in artefact.record.tiers["full"].settings]
    keys = {
        key
        for group in groups
        if not any(_is_set(settings, other) for other in group - of_corpora)
        for key in group
    }
    return [
        material
        for material in corpora
        if keys & set(material.settings)
        if not any(setting_value(settings, key) for key in material.settings)
    ]


def material_notes(settings: Any, tier: FullTier, artefact: Artefact) -> list[str]:
    """Notes on corpora that are not configured and on data without identifying facts."""
    notes = [
        f"without {material.title}, since `{material.settings[0]}` is not set"
        for material in unconfigured_corpora(settings, tier, artefact)
    ]
    for material in tier.materials_of([artefact.id]).values():
        values = {setting_value(settings, key) for key in material.settings} - {None, FETCH}
        if material.nothing_known and values:
            notes.append(f"{material.title}: {NOTHING_KNOWN}")
    return notes


def missing_settings(settings: Any, artefact: Artefact) -> tuple[str, ...]:
    """Missing settings of an artefact's full tier.

    "a|b" requires one of two keys, and "3 of a" at least three values.
    """
    return tuple(
        keys
        for keys in artefact.record.tiers["full"].settings
        if not any(_is_set(settings, key) for key in keys.split("|"))
    )


def _is_set(settings: Any, key: str) -> bool:
    number, of, name = key.rpartition(" of ")
    value = setting_value(settings, name)
    return len(value or ()) >= int(number) if of else bool(value)


def split_by_settings(
    settings: Any, artefacts: Iterable[Artefact]
) -> tuple[list[Artefact], dict[tuple[str, ...], list[Artefact]]]:
    """Split artefacts into those that can be run, and the others by their missing settings."""
    configured: list[Artefact] = []
    unconfigured: dict[tuple[str, ...], list[Artefact]] = {}
    for artefact in artefacts:
        if keys := missing_settings(settings, artefact):
            unconfigured.setdefault(keys, []).append(artefact)
        else:
            configured.append(artefact)
    return configured, unconfigured


def format_keys(keys: Iterable[str]) -> str:
    """Format keys for a sentence."""
    *first, last = [key.replace("|", " or ") for key in keys]
    return " and ".join(f"({key})" if first and " or " in key else key for key in [*first, last])


def minimal_settings(key_sets: Collection[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Minimal sets of keys: those that do not include all keys of another set."""

    def implies(key: str, other: str) -> bool:
        names = set(key.rpartition(" of ")[2].split("|"))
        return key == other or (" of " not in other and names <= set(other.split("|")))

    def includes(keys: tuple[str, ...], fewer: tuple[str, ...]) -> bool:
        return all(any(implies(key, other) for key in keys) for other in fewer)

    return [
        keys
        for keys in key_sets
        if not any(keys != fewer and includes(keys, fewer) for fewer in key_sets)
    ]
