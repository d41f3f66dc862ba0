"""Safe conversion of pickled weights to safetensors.

Reading a pickle can run code. Here a separate process reads it, with torch's ``weights_only=True``,
which accepts only tensors and plain containers.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everycell.base.files import atomic_path, describe_os_error
from everycell.base.untrusted import UNPACKED, in_quotes, parse_json, text_of
from everycell.learning.models import FILES, PICKLES, ModelError, commit_of, download_model

if TYPE_CHECKING:
    import torch

#: Checkpoint of transformers, and the index of a checkpoint in several files.
WEIGHTS = "pytorch_model.bin"
INDEX = f"{WEIGHTS}.index.json"
# Configuration and tokenizer.
_OTHER_FILES = [pattern for pattern in FILES if "safetensors" not in pattern]
#: Allowed size of all weights relative to the file: tied weights have two names and one storage.
_TIED = 4
#: Allowed memory of the process that reads a pickle, relative to the file, beside one GiB.
_MEMORY = 10


def convert_weights(source: Path | str, target: Path, *, one_output: bool = False) -> list[Path]:
    """Convert a model with pickled weights to safetensors, and return the new files."""
    target = Path(target)
    if target.exists():
        raise ModelError(f"{target} already exists: choose a new folder.")
    if isinstance(source, str):
        name, _, revision = source.partition("@")
        source = download_model(name, revision or None, files=[*_OTHER_FILES, *PICKLES])
    names = _weight_files(source)
    if one_output and len(names) > 1:
        raise ModelError(
            f"{source} has its weights in {len(names)} files, but --one-output requires a single "
            "file: omit --one-output."
        )
    config = _config(source) if one_output else None
    with atomic_path(target) as temporary:
        temporary.mkdir()
        for name, new_name in _new_names(source, names).items():
            _convert_in_subprocess(source / name, temporary / new_name, one_output)
        _copy_other_files(source, temporary)
        if config is not None:
            config |= {"id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}}
            config.pop("num_labels", None)
            text = json.dumps(config, indent=2) + "\n"
            (temporary / "config.json").write_text(text, encoding="utf-8")
        names = sorted(path.name for path in temporary.iterdir())
    return [target / name for name in names]


def _weight_files(source: Path) -> list[str]:
    """Names of the files with weights."""
    if (source / WEIGHTS).is_file():
        return [_own_file(source, source / WEIGHTS).name]
    if not (source / INDEX).is_file():
        raise ModelError(
            f"{source} has no {WEIGHTS}: give a folder that contains it, or its parts and {INDEX}."
        )
    names = sorted(set(_index(source)["weight_map"].values()))
    for name in names:
        # A name in an index must not point outside the folder.
        if Path(name).name != name or not (source / name).is_file():
            raise ModelError(
                f"{source / INDEX} lists {in_quotes(name)}, which is not a file next to it: copy "
                "all parts of the model there."
            )
        _own_file(source, source / name)
    return names


def _own_file(source: Path, path: Path) -> Path:
    """The path, unless it is a link to a file outside the model's folder."""
    home = source.resolve()
    # In the hub's cache, all files of a snapshot are links to blobs next to it.
    home = home.parents[1] if commit_of(home) else home
    if not path.resolve().is_relative_to(home):
        raise ModelError(
            f"{path} is a link to a file outside the folder of the model: replace it by the file "
            "if it belongs to the model, or remove it."
        )
    return path


def _read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object next to the weights."""
    content = parse_json(text_of(_own_file(path.parent, path)))
    if not isinstance(content, dict):
        raise ValueError("it is not an object")
    return content


def _index(source: Path) -> dict[str, Any]:
    try:
        index = _read_object(source / INDEX)
        if not all(isinstance(name, str) for name in index["weight_map"].values()):
            raise TypeError("a name is not a string")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f"{source / INDEX} is not an index of weights ({error}): copy it again from the source."
        ) from None
    return index


def _config(source: Path) -> dict[str, Any]:
    try:
        return _read_object(source / "config.json")
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{source / 'config.json'} is not the configuration of a model ({error}): copy it "
            "again from the source, because --one-output edits it."
        ) from None


def _new_names(source: Path, names: list[str]) -> dict[str, str]:
    """Name of each file with weights -> its name as safetensors."""
    new_names: dict[str, str] = {}
    for name in names:
        new_name = name.replace("pytorch_model", "model").removesuffix(".bin") + ".safetensors"
        for other, used in new_names.items():
            # Some file systems do not distinguish upper and lower case.
            if used.lower() == new_name.lower():
                raise ModelError(
                    f"{source / name} and {other} would both become {used}: rename one of them, "
                    f"also in {INDEX}."
                )
        new_names[name] = new_name
    return new_names


def _convert_in_subprocess(path: Path, new: Path, one_output: bool) -> None:
    command = [sys.executable, "-m", __name__, str(path), str(new)]
    result = subprocess.run(
        [*command, *(["--one-output"] if one_output else [])],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        lines = result.stderr.strip().splitlines()
        raise ModelError(
            lines[-1] if lines else f"Reading {path} failed with exit code {result.returncode}."
        )


def _copy_other_files(source: Path, folder: Path) -> None:
    """Copy configuration and tokenizer, and the index of weights in several files."""
    for pattern in _OTHER_FILES:
        for path in source.glob(pattern):
            if path.is_file():
                _own_file(source, path)
                new = folder / path.relative_to(source)
                new.parent.mkdir(exist_ok=True)
                shutil.copyfile(path, new)
    if (source / INDEX).is_file() and not (source / WEIGHTS).is_file():
        index = _index(source)
        weight_map = index["weight_map"]
        new_names = _new_names(source, sorted(set(weight_map.values())))
        index["weight_map"] = {key: new_names[name] for key, name in weight_map.items()}
        text = json.dumps(index, indent=2) + "\n"
        (folder / "model.safetensors.index.json").write_text(text, encoding="utf-8")


def _convert(path: Path, new: Path, one_output: bool) -> None:
    """Read a pickle and write its tensors; runs in a separate process."""
    import pickle

    import torch
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        # A file from an older version of torch is not an archive, and cannot be memory-mapped.
        is_archive = zipfile.is_zipfile(path)
        if is_archive:
            _refuse_compressed(path)
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=is_archive)
    except pickle.UnpicklingError as error:
        reason = str(error).replace("\n", " ")
        raise ModelError(
            f"{path} contains more than weights, or is damaged, and was not read "
            f"({_shorten_refusal(reason)}): get the model as safetensors from a source that "
            "you trust."
        ) from None
    # Reading bytes that are not a pickle may raise a LookupError.
    except (RuntimeError, ValueError, OSError, EOFError, LookupError, zipfile.BadZipFile) as error:
        raise ModelError(
            f"{path} cannot be read ({str(error).splitlines()[0]}): copy it again."
        ) from None
    if not isinstance(content, Mapping) or not content:
        raise ModelError(
            f"{path} is not a mapping of names to weights: use the checkpoint of a model."
        )
    supported: dict[torch.dtype, bool] = {}
    total, limit = 0, max(UNPACKED, _TIED * path.stat().st_size)
    for name, tensor in content.items():
        if fault := _fault(name, tensor, supported):
            raise ModelError(f"{path}: {fault}.")
        total += tensor.nbytes
    if total > limit:
        raise ModelError(
            f"{path} has weights of {total:,} bytes, which repeat what it stores, expected at most "
            f"{limit:,}: save each weight once."
        )
    # Tensors that share memory are copied, so that the file contains all names.
    pointers: set[int] = set()
    weights = {}
    for name, tensor in content.items():
        storage = tensor.untyped_storage().data_ptr()
        # A conjugated or negated view has its sign in a flag, which would be lost.
        tensor = tensor.detach().resolve_conj().resolve_neg()
        weights[name] = (
            tensor.clone(memory_format=torch.contiguous_format)
            if storage in pointers
            else tensor.contiguous()
        )
        pointers.add(storage)
    if one_output:
        for name in ("classifier.weight", "classifier.bias"):
            if name not in weights or len(weights[name]) != 2:
                raise ModelError(f"{path} has no {name} with two outputs: omit --one-output.")
            weights[name] = (weights[name][1] - weights[name][0]).unsqueeze(0)
    try:
        save_file(weights, new, metadata={"format": "pt"})
    except SafetensorError as error:
        code = re.search(r"os error (\d+)", str(error))
        if code is None:
            raise
        # The temporary folder has the name of the new one.
        file = f"{new.parent.name}/{new.name}"
        raise OSError(int(code[1]), os.strerror(int(code[1])), file) from None


def _refuse_compressed(path: Path) -> None:
    """Refuse an archive with compressed members: torch writes none, and they may be a bomb."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"its member {in_quotes(member.filename)} is compressed")


def _limit_memory(path: Path) -> None:
    """Limit this process's memory to what the weights in a file may need."""
    import resource

    import torch

    # Each thread would reserve memory of its own.
    torch.set_num_threads(1)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + 2**30 + _MEMORY * path.stat().st_size
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _fault(name: Any, tensor: Any, supported: dict[torch.dtype, bool]) -> str | None:
    """Why an entry of a checkpoint cannot be a weight in safetensors; None if it can."""
    import torch
    from safetensors.torch import save

    if not isinstance(name, str) or name == "__metadata__":
        return f"the name {in_quotes(name)} cannot be that of a weight; rename it"
    weight = in_quotes(name)
    if isinstance(tensor, Mapping):
        return (
            f"{weight} is a mapping, not a tensor; save the weights alone, as in "
            f"torch.save(checkpoint[{weight}], 'pytorch_model.bin')"
        )
    if not torch.is_tensor(tensor):
        return f"{weight} is of type {type(tensor).__name__}, not a tensor; save the weights alone"
    if tensor.is_quantized:
        return f"{weight} is quantised ({tensor.dtype}); save it after .dequantize()"
    if tensor.layout != torch.strided:
        return f"{weight} is sparse ({tensor.layout}); save it after .to_dense()"
    if tensor.device.type == "meta":
        return f"{weight} has no values (device meta); save a model that is loaded"
    if tensor.dtype not in supported:
        try:
            save({"weight": torch.empty(1, dtype=tensor.dtype)})
            supported[tensor.dtype] = True
        except (KeyError, ValueError, TypeError, RuntimeError):
            supported[tensor.dtype] = False
    if not supported[tensor.dtype]:
        return f"{weight} has the type {tensor.dtype}, which safetensors cannot hold; convert it"
    return None


def _shorten_refusal(reason: str) -> str:
    """The part of torch's long message that says what it refused to read."""
    match = re.search(r"(?i)unsupported (global: )?(global|class|operand) [\w.]+", reason)
    return match[0] if match else reason[:120]


if __name__ == "__main__":
    try:
        # Other systems neither have this file nor enforce such limits.
        if Path("/proc/self/statm").exists():
            _limit_memory(Path(sys.argv[1]))
        _convert(Path(sys.argv[1]), Path(sys.argv[2]), "--one-output" in sys.argv[3:])
    except ModelError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(describe_os_error(error))
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        sys.exit(f"{sys.argv[1]} cannot be converted ({reason}): use another checkpoint.")
