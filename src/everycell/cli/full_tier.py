"""Whether the full tier of what is asked for can start here: one row for each thing it needs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from everycell.engine.artefacts import Artefact, Paper, all_artefacts
from everycell.engine.full_runs import (
    FullRun,
    FullTier,
    Material,
    held,
    number,
    runs_in_full,
    setting,
    tokens,
)
from everycell.engine.printed_cells import CardError
from everycell.language_models.presets import Requirements, requirements
from everycell.language_models.settings import LanguageModels

#: Seconds after which a host counts as not reachable.
PATIENCE = 3.0
HUB = "https://huggingface.co"


class Row(NamedTuple):
    """One thing that a run needs: how it stands, and what to do where it is missing."""

    state: Literal["ok", "missing", "unknown"]
    what: str
    found: str
    do: str = ""


def asked_for(papers: Mapping[str, Paper], name: str) -> tuple[str, list[Artefact]]:
    """Target and artefacts behind the name of a work, a chapter or an artefact.

    Raises
    ------
    CardError
        The name is none, or has no full tier that runs.
    """
    groups: dict[str, list[Artefact]] = {"full": []}
    known = {"full"}
    for artefact in all_artefacts(papers):
        names = (
            "full",
            f"full_{artefact.paper}",
            f"full_{artefact.paper}_ch{artefact.chapter}",
            f"full_{artefact.paper}_{artefact.name}",
        )
        known.update(names)
        if runs_in_full(artefact):
            for target in names:
                groups.setdefault(target, []).append(artefact)
    target = name.replace("/", "_")
    target = target if target in known else f"full_{target}"
    if target not in known:
        near = get_close_matches(target, sorted(known), n=3, cutoff=0.3) or ["full_heuss2025_ch5"]
        nearest = ", ".join(each.removeprefix("full_") for each in near)
        raise CardError(
            f"{name!r} is no work, chapter or artefact; the nearest names are {nearest}."
        )
    if target not in groups:
        raise CardError(
            f"{name!r} has no full tier that runs; `everycell show` says of an artefact why."
        )
    return target, groups[target]


def check(settings: Any, tier: FullTier, artefacts: list[Artefact], root: Path) -> list[Row]:
    """Rows for all that these artefacts need, whose settings are all there."""
    ids = [artefact.id for artefact in artefacts]
    runs = tier.of(ids)
    rows, fetched = [], []
    for material in tier.materials_of(ids).values():
        row, hosts = _material(settings, material)
        rows.append(row)
        if hosts:
            fetched.append(material)
    names = {key: _model_names(settings, key) for run in runs.values() for key in run.models}
    asked = sorted({name for each in names.values() for name in each})
    rows += _language_models(settings.language_models, asked)
    rows += _money(settings, runs.values(), names)
    models = settings.language_models
    needs = {name: requirements(name, models) for name in asked if name in _names(models)}
    from_hub = {
        need.source: need.disk_gb or 0.0
        for need in needs.values()
        if need.kind == "local" and _from_hub(need.source)
    }
    rows += _disk(settings, runs.values(), fetched, sum(from_hub.values()), root)
    rows += _machine(runs.values(), needs)
    rows += _packages(tier.materials_of(ids).values())
    hosts = {_mirrored(host) for material in fetched for host in material.hosts}
    hosts |= {need.source for need in needs.values() if need.kind == "endpoint"}
    hosts |= {_mirrored(HUB)} if from_hub else set()
    return rows + list(_network(settings, sorted(hosts)))


def _material(settings: Any, material: Material) -> tuple[Row, bool]:
    """Row of a corpus or model, and whether a run would fetch it."""
    what = f"{material.title}: {number(material.gb)} GB; licence: {material.licence}"
    named = {key: setting(settings, key) for key in material.settings}
    named = {key: str(value) for key, value in named.items() if value}
    elsewhere = {}
    for key, value in named.items():
        path = Path(value)
        if not path.exists():
            elsewhere[key] = value
            continue
        for pattern in held(settings, material) if path.is_dir() else ():
            if not any(path.glob(pattern)):
                do = f"put {pattern} into {value} (docs/{material.page})"
                return Row(
                    "missing", what, f"`{key}` is {value!r}, which has no {pattern}", do
                ), False
    if not elsewhere and named:
        return Row("ok", what, ", ".join(named.values())), False
    if not material.hosts:
        key, value = next(iter(elsewhere.items()), (material.settings[0], None))
        found = f"`{key}` is {value!r}, which is not there" if value else f"`{key}` is not set"
        return Row("missing", what, found, f"set {key} (docs/{material.page})"), False
    kept = [
        value for value in elsewhere.values() if material.kind == "model" and _in_hub_cache(value)
    ]
    if elsewhere and len(kept) == len(elsewhere):
        return Row("ok", what, f"in the hub's cache: {', '.join(kept)}"), False
    names = ", ".join(value for value in elsewhere.values() if value not in kept)
    return Row("ok", what, f"is fetched: {names}"), True


def _cache(*variables: str, default: str) -> Path:
    for variable in variables:
        name, _, below = variable.partition("/")
        if os.environ.get(name):
            return Path(os.environ[name]) / below
    return Path(default).expanduser()


def _hub_cache() -> Path:
    return _cache("HF_HUB_CACHE", "HF_HOME/hub", default="~/.cache/huggingface/hub")


def _in_hub_cache(name: str) -> bool:
    folder = _hub_cache() / f"models--{name.replace('/', '--')}" / "snapshots"
    return any(folder.glob("*/*.safetensors"))


def _from_hub(source: str) -> bool:
    return not Path(source).exists() and not source.endswith(".gguf") and not _in_hub_cache(source)


def _mirrored(host: str) -> str:
    """Host with the hub's mirror in the place of the hub."""
    return os.environ.get("HF_ENDPOINT", HUB).rstrip("/") if host == HUB else host


def _model_names(settings: Any, key: str) -> list[str]:
    """Names of the language models under a key, which holds one, several, or labels by name."""
    value = setting(settings, key)
    return [value] if isinstance(value, str) else list(value or ())


def _names(models: LanguageModels) -> set[str]:
    return {*models.local, *models.endpoints}


def _language_models(models: LanguageModels, names: list[str]) -> Iterator[Row]:
    for name in names:
        what = f"language model {name}"
        if name not in _names(models):
            yield Row("missing", what, "is none of `language_models`", f"add {name} to them")
            continue
        need = requirements(name, models)
        if need.kind == "endpoint":
            found = f"{models.endpoints[name].model} at {urlsplit(need.source).netloc}"
            if need.key is None:
                yield Row("ok", what, f"{found}, without a key")
            elif os.environ.get(need.key):
                yield Row("ok", what, f"{found}; {need.key} is set")
            else:
                yield Row("missing", what, f"{found}; {need.key} is not set", f"export {need.key}")
            continue
        size = f"{number(need.disk_gb)} GB" if need.disk_gb else "of unknown size"
        found = f"{need.source}: {size}; licence: {need.licence or 'see its page'}"
        if not _from_hub(need.source):
            yield Row("ok", what, f"{found}; is on this machine")
        elif need.gated and not _hub_login():
            do = f"accept the licence of {need.source} on the hub and export HF_TOKEN"
            yield Row("missing", what, f"{found}; the hub wants a login, HF_TOKEN is not set", do)
        else:
            yield Row("ok" if need.disk_gb else "unknown", what, f"{found}; is fetched")


def _hub_login() -> bool:
    """Whether the hub would know who asks: by a variable, or by the file of its login."""
    kept = _cache("HF_TOKEN_PATH", "HF_HOME/token", default="~/.cache/huggingface/token")
    return bool(os.environ.get("HF_TOKEN")) or kept.is_file()


def _money(settings: Any, runs: Iterable[FullRun], names: dict[str, list[str]]) -> Iterator[Row]:
    asking: dict[str, list[FullRun]] = {}
    for run in runs:
        for name in dict.fromkeys(name for key in run.models for name in names[key]):
            asking.setdefault(name, []).append(run)
    for name, asked in asking.items():
        endpoint = settings.language_models.endpoints.get(name)
        if endpoint is None:
            continue
        prompt, answer = tokens(asked, "prompt") / 1e6, tokens(asked, "answer") / 1e6
        what = (
            f"money for {name}: {sum(run.requests for run in asked):,} requests, {number(prompt)} "
            f"million tokens of prompts, {number(answer)} of answers"
        )
        prices = endpoint.prices
        if prices.known:
            cost = prompt * prices.prompt + answer * prices.answer
            yield Row("ok", what, f"about {cost:,.2f} {prices.currency} at the prices named")
        else:
            yield Row(
                "unknown",
                what,
                "no `prices` are named",
                f"name language_models.endpoints.{name}.prices",
            )


def _disk(
    settings: Any, runs: Iterable[FullRun], fetched: list[Material], weights: float, root: Path
) -> Iterator[Row]:
    places = {
        "model": _hub_cache(),
        "index": _cache("PYSERINI_CACHE", default="~/.cache/pyserini"),
    }
    needed: dict[Path, float] = {root: sum(run.work_gb for run in runs)}
    if weights:
        needed[_hub_cache()] = weights
    for material in fetched:
        place = places.get(material.kind, Path(settings.cache))
        needed[place] = needed.get(place, 0.0) + material.gb
    # Folders of one file system take from the same space.
    by_device: dict[int, tuple[list[Path], float]] = {}
    for place, size in needed.items():
        there = next(p for p in (place.absolute(), *place.absolute().parents) if p.exists())
        folders, total = by_device.get(there.stat().st_dev, ([], 0.0))
        by_device[there.stat().st_dev] = ([*folders, there], total + size)
    for folders, size in by_device.values():
        free = shutil.disk_usage(folders[0]).free / 1e9
        shown = "here" if folders[0] == root.absolute() else str(folders[0])
        what, found = f"disk: {number(size)} GB {shown}", f"{number(free)} GB free"
        if free >= size:
            yield Row("ok", what, found)
        else:
            yield Row("missing", what, found, f"free {number(size - free)} GB {shown}")


def _gpus() -> list[tuple[str, float]] | None:
    """Name and memory in GB of each GPU; None where nothing can tell."""
    if program := shutil.which("nvidia-smi"):
        query = ["--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
        done = subprocess.run([program, *query], capture_output=True, text=True, check=False)
        if done.returncode:
            return None
        lines = [line.rpartition(",") for line in done.stdout.splitlines() if line.strip()]
        return [(name.strip(), float(mebibytes) * 2**20 / 1e9) for name, _, mebibytes in lines]
    try:
        import torch
    except ImportError:
        return None
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    found = [torch.cuda.get_device_properties(place) for place in range(count)]
    return [(each.name, each.total_memory / 1e9) for each in found]


def _machine(runs: Iterable[FullRun], models: Mapping[str, Requirements]) -> Iterator[Row]:
    runs = list(runs)
    sends = shutil.which("sbatch") is not None
    nodes = "a cluster's nodes may have it" if sends else ""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    most = max(run.memory_gb for run in runs)
    what, found = f"memory: {number(most)} GB", f"{number(memory)} GB here"
    if memory >= most:
        yield Row("ok", what, found)
    elif sends:
        yield Row("unknown", what, f"{found}; {nodes}")
    else:
        yield Row("missing", what, found, f"take a machine with {number(most)} GB of memory")
    # A GGUF file has numbers in few bits, for processors.
    on_gpu = [run.gpu_gb for run in runs if run.gpu_gb and not run.models]
    on_gpu += [need.gpu_gb or 0 for need in models.values() if not need.source.endswith(".gguf")]
    if not any(on_gpu):
        return
    size = number(max(on_gpu))
    what, do = f"GPU: {size} GB", f"take a machine with a GPU of {size} GB"
    gpus = _gpus()
    if gpus and max(size for _, size in gpus) >= max(on_gpu):
        yield Row("ok", what, ", ".join(f"{name}, {number(size)} GB" for name, size in gpus))
    elif sends:
        yield Row("unknown", what, f"none of that size here; {nodes}")
    elif gpus is None:
        yield Row("unknown", what, "neither nvidia-smi nor torch can tell")
    else:
        found = ", ".join(f"{name}, {number(size)} GB" for name, size in gpus) or "none here"
        yield Row("missing", what, found, do)
    if not sends and gpus and "+cpu" in metadata.version("torch"):
        yield Row(
            "missing", "torch that uses the GPU", "the CPU build is installed",
            "install torch for your GPU (README, clusters and other machines)",
        )  # fmt: skip


def _packages(materials: Iterable[Material]) -> Iterator[Row]:
    for name in sorted({name for material in materials for name in material.packages}):
        try:
            yield Row("ok", f"package {name}", metadata.version(name))
        except metadata.PackageNotFoundError:
            yield Row("missing", f"package {name}", "not installed", f"install {name}")


def _network(settings: Any, hosts: list[str]) -> Iterator[Row]:
    for url in hosts:
        what = f"network to {urlsplit(url).netloc}"
        if not settings.network:
            yield Row("missing", what, "`network: false` in config.yaml", "set network: true")
        elif os.environ.get("HF_HUB_OFFLINE") == "1" and url == _mirrored(HUB):
            yield Row("missing", what, "HF_HUB_OFFLINE=1", "unset HF_HUB_OFFLINE")
        elif fault := _unreachable(url):
            do = f"get a network to {urlsplit(url).netloc}"
            if url == _mirrored(HUB):
                do += ", or a mirror (HF_ENDPOINT)"
            yield Row("missing", what, f"offline: {fault}", do)
        else:
            yield Row("ok", what, "answers")


def _unreachable(url: str) -> str:
    """Why a host does not answer; empty if it does, whatever it answers."""
    try:
        urlopen(Request(url, method="HEAD"), timeout=PATIENCE).close()
    except HTTPError:
        return ""
    except OSError as error:
        reason = getattr(error, "reason", error)
        return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return ""
