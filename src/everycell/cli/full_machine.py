"""Checks of the machine for the full tier: disk, memory, GPU, packages and network."""

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

from everycell.base.settings import environment_folder
from everycell.base.untrusted import without_user
from everycell.language_models.requirements import Requirements
from everycell.records.full_runs import FullRun, format_number
from everycell.sources.download import finishes_in_time
from everycell.sources.proxies import check_proxies

#: Seconds to wait for a host before it counts as unreachable.
TIMEOUT = 3.0
HUB = "https://huggingface.co"
#: Files of tokenizers, besides those of SentencePiece (.model).
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json")


class Row(NamedTuple):
    """Requirement of a run, its state, and what to do if it is missing."""

    state: Literal["ok", "missing", "unknown"]
    what: str
    finding: str
    do: str = ""


def _cache(*variables: str, default: str) -> Path:
    """Folder set by the first of these environment variables ("NAME" or "NAME/SUBFOLDER")."""
    for variable in variables:
        name, _, folder = variable.partition("/")
        if parent := environment_folder(name):
            return Path(parent) / folder
    return Path(default).expanduser()


def hub_cache() -> Path:
    """Folder of downloaded models of the hub."""
    return _cache("HF_HUB_CACHE", "HF_HOME/hub", default="~/.cache/huggingface/hub")


def in_hub_cache(name: str) -> bool:
    """Whether the hub's cache contains the weights of a model."""
    repository, _, _ = name.partition("@")
    folder = hub_cache() / f"models--{repository.replace('/', '--')}" / "snapshots"
    return any(folder.glob("*/*.safetensors"))


def needs_download(source: str) -> bool:
    """Whether a language model would be downloaded from the hub."""
    return not Path(source).exists() and not source.endswith(".gguf") and not in_hub_cache(source)


def hub_fault(name: str) -> str:
    """Why a model cannot be downloaded from the hub; empty if it can, or if this is unknown.

    Only the names of the model's files are requested.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    repository, _, revision = name.partition("@")
    if connection_fault(hub_or_mirror(HUB)):
        return ""
    api = HfApi(endpoint=hub_or_mirror(HUB))
    try:
        info = api.model_info(repository, revision=revision or None)
    except GatedRepoError:
        return f"the hub gives access to {name} only after you accept its terms"
    except (RepositoryNotFoundError, RevisionNotFoundError):
        return f"{name} is neither a folder nor a model on the hub"
    # The step that downloads the model reports any other error.
    except Exception:
        return ""
    files = [file.rfilename for file in info.siblings or ()]
    if info.gated and not has_hub_login():
        return (
            f"the hub requires a login and acceptance of the terms of {name}, but HF_TOKEN is not "
            "set"
        )
    if not any(file.endswith(".safetensors") for file in files):
        return f"the hub has {name} only as a pickle"
    if not any(file in TOKENIZER_FILES or file.endswith(".model") for file in files):
        return f"the hub has {name} without a tokenizer"
    return ""


def hub_or_mirror(host: str) -> str:
    """Address of a host; for the hub, that of its mirror if one is set."""
    return os.environ.get("HF_ENDPOINT", HUB).rstrip("/") if host == HUB else host


def has_hub_login() -> bool:
    """Whether a token for the hub is set in the environment or stored in its file."""
    token = _cache("HF_TOKEN_PATH", "HF_HOME/token", default="~/.cache/huggingface/token")
    return bool(os.environ.get("HF_TOKEN")) or token.is_file()


def index_cache() -> Path:
    """Folder of indexes downloaded by pyserini."""
    return _cache("PYSERINI_CACHE", default="~/.cache/pyserini")


def corpus_cache() -> Path:
    """Folder of corpora downloaded by ir_datasets."""
    return _cache("IR_DATASETS_HOME", default="~/.ir_datasets")


def check_disks(sizes: Mapping[Path, float], root: Path) -> Iterator[Row]:
    """One row per file system, from the GB that each folder needs."""
    # Folders on the same file system share its space.
    by_device: dict[int, tuple[list[Path], float]] = {}
    for path, size in sizes.items():
        folder = next(p for p in (path.absolute(), *path.absolute().parents) if p.exists())
        folders, total = by_device.get(folder.stat().st_dev, ([], 0.0))
        by_device[folder.stat().st_dev] = ([*folders, folder], total + size)
    for folders, size in by_device.values():
        free = shutil.disk_usage(folders[0]).free / 1e9
        location = "here" if folders[0] == root.absolute() else str(folders[0])
        what = f"disk: {format_number(size)} GB {location}"
        finding = f"{format_number(free)} GB free"
        if free >= size:
            yield Row("ok", what, finding)
        else:
            yield Row("missing", what, finding, f"free {format_number(size - free)} GB {location}")


def gpus() -> list[tuple[str, float]] | None:
    """Name and memory in GB of each GPU; None if this cannot be determined."""
    if program := shutil.which("nvidia-smi"):
        query = ["--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
        process = subprocess.run([program, *query], capture_output=True, text=True, check=False)
        if process.returncode:
            return None
        lines = [line.rpartition(",") for line in process.stdout.splitlines() if line.strip()]
        try:
            return [(name.strip(), float(mebibytes) * 2**20 / 1e9) for name, _, mebibytes in lines]
        except ValueError:
            # The memory is "[N/A]" for a GPU that shares the memory of the CPU.
            return None
    try:
        import torch
    except ImportError:
        return None
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    properties = map(torch.cuda.get_device_properties, range(count))
    return [(gpu.name, gpu.total_memory / 1e9) for gpu in properties]


def check_machine(runs: Iterable[FullRun], models: Mapping[str, Requirements]) -> Iterator[Row]:
    """Rows for memory and GPU; what is missing here may be available on a cluster's nodes."""
    runs = list(runs)
    has_cluster = shutil.which("sbatch") is not None
    nodes = "the cluster's nodes may have it"
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    largest = max(run.memory_gb for run in runs)
    what, finding = f"memory: {format_number(largest)} GB", f"{format_number(memory)} GB here"
    if memory >= largest:
        yield Row("ok", what, finding)
    elif has_cluster:
        yield Row("unknown", what, f"{finding}; {nodes}")
    else:
        yield Row(
            "missing", what, finding, f"use a machine with {format_number(largest)} GB of memory"
        )
    # GGUF models are quantised and run on a CPU.
    on_gpu = [run.gpu_gb for run in runs if run.gpu_gb and not run.models]
    on_gpu += [need.gpu_gb or 0 for need in models.values() if not need.source.endswith(".gguf")]
    if not any(on_gpu):
        return
    size = format_number(max(on_gpu))
    what, do = f"GPU: {size} GB", f"use a machine with a GPU of {size} GB"
    devices = gpus()
    finding = ", ".join(f"{name}, {format_number(size)} GB" for name, size in devices or ())
    if devices and max(size for _, size in devices) >= max(on_gpu):
        yield Row("ok", what, finding)
    elif has_cluster:
        yield Row("unknown", what, f"none of that size here; {nodes}")
    elif devices is None:
        yield Row("unknown", what, "neither nvidia-smi nor torch reports GPUs")
    else:
        yield Row("missing", what, finding or "none here", do)
    if not has_cluster and devices and "+cpu" in metadata.version("torch"):
        yield Row(
            "missing", "torch with GPU support", "the CPU build is installed",
            "install torch for your GPU (docs/howto.md, install only what you need)",
        )  # fmt: skip


def check_packages(names: Iterable[str]) -> Iterator[Row]:
    """Rows for optional packages."""
    for name in sorted(names):
        try:
            yield Row("ok", f"package {name}", metadata.version(name))
        except metadata.PackageNotFoundError:
            yield Row("missing", f"package {name}", "not installed", f"install {name}")


def check_network(hosts: Iterable[str], *, allowed: bool) -> Iterator[Row]:
    """Rows for the hosts that a run contacts."""
    for url in sorted(hosts):
        host = urlsplit(without_user(url)).netloc
        what = f"network to {host}"
        if not allowed:
            yield Row("missing", what, "`network: false` in config.yaml", "set network: true")
        elif os.environ.get("HF_HUB_OFFLINE") == "1" and url == hub_or_mirror(HUB):
            yield Row("missing", what, "HF_HUB_OFFLINE=1", "unset HF_HUB_OFFLINE")
        elif fault := connection_fault(url):
            do = f"connect this machine to {host}"
            if url == hub_or_mirror(HUB):
                do += ", or set a mirror (HF_ENDPOINT)"
            yield Row("missing", what, f"not reachable: {fault}", do)
        else:
            yield Row("ok", what, "reachable")


def connection_fault(url: str) -> str:
    """Reason why a host cannot be reached; empty if it responds, even with an error."""
    try:
        check_proxies()
        request = Request(url, method="HEAD")
        if not finishes_in_time(
            lambda: urlopen(request, timeout=TIMEOUT).close(), lambda: 2 * TIMEOUT
        ):
            return f"no complete answer within {2 * TIMEOUT:g} s"
    except HTTPError:
        return ""
    # The server may not speak HTTP, or the URL may lack "https://".
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        return getattr(reason, "strerror", None) or str(reason).strip() or type(reason).__name__
    return ""
