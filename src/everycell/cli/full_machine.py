"""What a full tier needs of the machine: disk, memory, GPU, packages, and hosts that answer."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from http.client import HTTPException
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from everycell.engine.full_runs import FullRun, number
from everycell.language_models.presets import Requirements

#: Seconds after which a host counts as not reachable.
PATIENCE = 3.0
HUB = "https://huggingface.co"
#: Files of which a tokenizer needs one, or one of SentencePiece (.model).
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json")


class Row(NamedTuple):
    """One thing that a run needs: how it stands, and what to do where it is missing."""

    state: Literal["ok", "missing", "unknown"]
    what: str
    finding: str
    do: str = ""


def _cache(*variables: str, default: str) -> Path:
    for variable in variables:
        name, _, folder = variable.partition("/")
        if os.environ.get(name):
            return Path(os.environ[name]) / folder
    return Path(default).expanduser()


def hub_cache() -> Path:
    """Folder into which models of the hub are fetched."""
    return _cache("HF_HUB_CACHE", "HF_HOME/hub", default="~/.cache/huggingface/hub")


def in_hub_cache(name: str) -> bool:
    """Whether weights of a model of the hub were fetched."""
    repository, _, _ = name.partition("@")
    folder = hub_cache() / f"models--{repository.replace('/', '--')}" / "snapshots"
    return any(folder.glob("*/*.safetensors"))


def from_hub(source: str) -> bool:
    """Whether a language model would be fetched."""
    return not Path(source).exists() and not source.endswith(".gguf") and not in_hub_cache(source)


def hub_fault(name: str) -> str:
    """Why a model of the hub cannot be fetched as it is named; empty if it can, or none can tell.

    Only the names of its files are asked for.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    repository, _, revision = name.partition("@")
    if unreachable(mirrored(HUB)):
        return ""
    api = HfApi(endpoint=mirrored(HUB))
    try:
        info = api.model_info(repository, revision=revision or None)
    except GatedRepoError:
        return f"the hub does not show {name} before its terms are accepted"
    except (RepositoryNotFoundError, RevisionNotFoundError):
        return f"neither a folder nor the hub has {name}"
    # For any other answer of the hub, the step that downloads the model reports the error.
    except Exception:
        return ""
    files = [file.rfilename for file in info.siblings or ()]
    if info.gated and not hub_login():
        return f"the hub wants a login and consent to the terms of {name}, HF_TOKEN is not set"
    if not any(file.endswith(".safetensors") for file in files):
        return f"the hub has {name} only as a pickle"
    if not any(file in TOKENIZERS or file.endswith(".model") for file in files):
        return f"the hub has {name} without a tokenizer"
    return ""


def mirrored(host: str) -> str:
    """Host with the hub's mirror in the place of the hub."""
    return os.environ.get("HF_ENDPOINT", HUB).rstrip("/") if host == HUB else host


def hub_login() -> bool:
    """Whether the hub would know who asks: by a variable, or by the file of its login."""
    token = _cache("HF_TOKEN_PATH", "HF_HOME/token", default="~/.cache/huggingface/token")
    return bool(os.environ.get("HF_TOKEN")) or token.is_file()


def index_cache() -> Path:
    """Folder into which pyserini fetches indexes."""
    return _cache("PYSERINI_CACHE", default="~/.cache/pyserini")


def corpus_cache() -> Path:
    """Folder into which ir_datasets fetches corpora."""
    return _cache("IR_DATASETS_HOME", default="~/.ir_datasets")


def disk(needed: Mapping[Path, float], root: Path) -> Iterator[Row]:
    """Rows of the file systems on which folders need so many GB."""
    # Folders of one file system take from the same space.
    by_device: dict[int, tuple[list[Path], float]] = {}
    for path, size in needed.items():
        folder = next(p for p in (path.absolute(), *path.absolute().parents) if p.exists())
        folders, total = by_device.get(folder.stat().st_dev, ([], 0.0))
        by_device[folder.stat().st_dev] = ([*folders, folder], total + size)
    for folders, size in by_device.values():
        free = shutil.disk_usage(folders[0]).free / 1e9
        location = "here" if folders[0] == root.absolute() else str(folders[0])
        what, finding = f"disk: {number(size)} GB {location}", f"{number(free)} GB free"
        if free >= size:
            yield Row("ok", what, finding)
        else:
            yield Row("missing", what, finding, f"free {number(size - free)} GB {location}")


def gpus() -> list[tuple[str, float]] | None:
    """Name and memory in GB of each GPU; None where nothing can tell."""
    if program := shutil.which("nvidia-smi"):
        query = ["--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
        done = subprocess.run([program, *query], capture_output=True, text=True, check=False)
        if done.returncode:
            return None
        lines = [line.rpartition(",") for line in done.stdout.splitlines() if line.strip()]
        try:
            return [(name.strip(), float(mebibytes) * 2**20 / 1e9) for name, _, mebibytes in lines]
        except ValueError:
            # "[N/A]" of a GPU that has no memory of its own.
            return None
    try:
        import torch
    except ImportError:
        return None
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    properties = map(torch.cuda.get_device_properties, range(count))
    return [(gpu.name, gpu.total_memory / 1e9) for gpu in properties]


def machine(runs: Iterable[FullRun], models: Mapping[str, Requirements]) -> Iterator[Row]:
    """Rows of memory and GPU; what is not here may be on the nodes of a cluster."""
    runs = list(runs)
    sends = shutil.which("sbatch") is not None
    nodes = "a cluster's nodes may have it" if sends else ""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    largest = max(run.memory_gb for run in runs)
    what, finding = f"memory: {number(largest)} GB", f"{number(memory)} GB here"
    if memory >= largest:
        yield Row("ok", what, finding)
    elif sends:
        yield Row("unknown", what, f"{finding}; {nodes}")
    else:
        yield Row("missing", what, finding, f"take a machine with {number(largest)} GB of memory")
    # A GGUF file has numbers in few bits, for processors.
    on_gpu = [run.gpu_gb for run in runs if run.gpu_gb and not run.models]
    on_gpu += [need.gpu_gb or 0 for need in models.values() if not need.source.endswith(".gguf")]
    if not any(on_gpu):
        return
    size = number(max(on_gpu))
    what, do = f"GPU: {size} GB", f"take a machine with a GPU of {size} GB"
    devices = gpus()
    finding = ", ".join(f"{name}, {number(size)} GB" for name, size in devices or ())
    if devices and max(size for _, size in devices) >= max(on_gpu):
        yield Row("ok", what, finding)
    elif sends:
        yield Row("unknown", what, f"none of that size here; {nodes}")
    elif devices is None:
        yield Row("unknown", what, "neither nvidia-smi nor torch can tell")
    else:
        yield Row("missing", what, finding or "none here", do)
    if not sends and devices and "+cpu" in metadata.version("torch"):
        yield Row(
            "missing", "torch that uses the GPU", "the CPU build is installed",
            "install torch for your GPU (docs/howto.md, install only what you need)",
        )  # fmt: skip


def packages(names: Iterable[str]) -> Iterator[Row]:
    """Rows of the packages that not every environment has."""
    for name in sorted(names):
        try:
            yield Row("ok", f"package {name}", metadata.version(name))
        except metadata.PackageNotFoundError:
            yield Row("missing", f"package {name}", "not installed", f"install {name}")


def network(hosts: Iterable[str], *, allowed: bool) -> Iterator[Row]:
    """Rows of the hosts that a run asks."""
    for url in sorted(hosts):
        what = f"network to {urlsplit(url).netloc}"
        if not allowed:
            yield Row("missing", what, "`network: false` in config.yaml", "set network: true")
        elif os.environ.get("HF_HUB_OFFLINE") == "1" and url == mirrored(HUB):
            yield Row("missing", what, "HF_HUB_OFFLINE=1", "unset HF_HUB_OFFLINE")
        elif fault := unreachable(url):
            do = f"get a network to {urlsplit(url).netloc}"
            if url == mirrored(HUB):
                do += ", or a mirror (HF_ENDPOINT)"
            yield Row("missing", what, f"offline: {fault}", do)
        else:
            yield Row("ok", what, "answers")


def unreachable(url: str) -> str:
    """Why a host does not answer; empty for any answer."""
    try:
        urlopen(Request(url, method="HEAD"), timeout=PATIENCE).close()
    except HTTPError:
        return ""
    # What answers may speak no HTTP, and an address may lack its "https://".
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        return getattr(reason, "strerror", None) or str(reason).strip() or type(reason).__name__
    return ""
