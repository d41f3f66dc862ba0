"""Bounds on settings and tokenizers of models from elsewhere.

A model's class makes as many layers and values as ``config.json`` declares, whatever the file with
the weights contains. A tokenizer runs the regular expressions of ``tokenizer.json``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, PreTrainedTokenizerBase

from everycell.base.errors import DataError
from everycell.base.files import open_regular
from everycell.base.untrusted import parse_json, read_json, text_of

#: Pattern of the names of settings -> largest value. Sizes are bounded by `check_size`.
_LARGEST = {
    re.compile(pattern): largest
    for pattern, largest in {
        r".*layers?|.*blocks?|(.*\.)?block_count|depths?|.*groups": 1_000,
        r"num_(?!labels).*|n_experts|(.*\.)?expert_count": 10_000,
        r"num_labels": 100_000,
    }.items()
}
#: Largest number of settings, names of labels included: a class takes minutes for a million.
_SETTINGS = 100_000
#: Allowed number of values per byte of weights (a weight may have one bit), and of new values.
_VALUES, _NEW = 8, 1 << 24
#: Largest header of a file with weights in bytes, as for the library that reads it.
_HEADER = 100_000_000
#: How many times longer a tokenizer may make a text before it looks up its parts.
_GROWTH = 1_000


def read_settings(path: Path) -> dict[str, Any]:
    """Read and check the ``config.json`` of a model."""
    try:
        settings = parse_json(text_of(path))
    except (OSError, ValueError) as error:
        raise DataError(
            path,
            fault=f"cannot be read as a model's configuration ({error})",
            fix="copy it again from the model's source",
        ) from None
    if not isinstance(settings, dict):
        raise DataError(
            path, fault="is not a JSON object", fix="copy it again from the model's source"
        )
    check_ranges(path, settings)
    return settings


def check_ranges(path: Path, settings: Mapping[str, Any]) -> None:
    """Raise an error if a setting is outside its range."""
    for number, (name, value) in enumerate(_flatten(settings), 1):
        if number > _SETTINGS:
            raise DataError(
                path,
                fault=f"has more than {_SETTINGS:,} settings",
                fix="copy it again from the model's source",
            )
        limits = [limit for pattern, limit in _LARGEST.items() if pattern.fullmatch(name)]
        if limits and isinstance(value, int | float) and not value <= min(limits):
            raise DataError(
                path,
                column=name,
                value=value,
                expected=f"a number of at most {min(limits):,}",
                fix="copy it again from the model's source",
            )


def _flatten(settings: Any) -> Iterator[tuple[str, Any]]:
    """Names and values of settings, also of those of parts."""
    stack = [("", settings)]
    while stack:
        name, value = stack.pop()
        if isinstance(value, Mapping):
            stack += [(str(key), part) for key, part in value.items()]
        elif isinstance(value, list):
            stack += [(name, part) for part in value]
        else:
            yield name, value


def check_parts(folder: Path) -> None:
    """Raise an error if an index of weights lists a file that is not next to it.

    The hash that identifies a model is that of the files in its folder.
    """
    path = folder / "model.safetensors.index.json"
    if not path.is_file() or (folder / "model.safetensors").is_file():
        return
    try:
        names = set(read_json(path)["weight_map"].values())
        invalid = sorted(name for name in names if not _is_in(folder, name))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DataError(
            path,
            fault=f"is not an index of weights ({error})",
            fix="copy it again from the model's source",
        ) from None
    if invalid:
        raise DataError(
            path,
            column="weight_map",
            value=invalid[0],
            expected="the name of a file in the same folder",
            fix="copy all parts of the model there",
        )


def _is_in(folder: Path, name: str) -> bool:
    return Path(name).name == name and (folder / name).is_file()


def check_size(model_class: Any, folder: Path, **options: Any) -> None:
    """Raise an error if settings declare far more values than weights have, or weights are doubled.

    `options` are those of ``from_pretrained`` for a GGUF file.
    """
    gguf = options.get("gguf_file")
    files = [folder / gguf] if gguf else [*folder.glob("*.safetensors")]
    stored = sum(path.stat().st_size for path in files)
    for path in files if not gguf else ():
        _check_header(path)
    kind = getattr(model_class, "config_class", None) or AutoConfig
    config = kind.from_pretrained(folder, local_files_only=True, trust_remote_code=False, **options)
    # Without memory for values.
    with torch.device("meta"):
        make = getattr(model_class, "from_config", model_class)
        model = make(config)
    values = sum(part.numel() for part in (*model.parameters(), *model.buffers()))
    if values > _VALUES * stored + _NEW:
        raise DataError(
            folder / (gguf or "config.json"),
            fault=f"declares a model of {values:,} values, but its weights have only {stored:,} "
            "bytes",
            fix="copy both again from the model's source",
        )


def _check_header(path: Path) -> None:
    """Raise an error if the header of weights has a tensor twice, of which only one would count."""
    with open_regular(path) as file:
        length = int.from_bytes(file.read(8), "little")
        parse_json(file.read(min(length, _HEADER)))


def check_growth(path: Path) -> None:
    """Raise an error if the steps of a ``tokenizer.json`` may make a text many times longer."""
    content = parse_json(text_of(path))
    growth, stack = 1, [content]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack += part
        elif isinstance(part, dict):
            # The vocabulary, with most of the entries, has no steps.
            stack += [value for name, value in part.items() if name not in ("vocab", "merges")]
            growth *= _growth_of(part)
            if growth > _GROWTH:
                raise DataError(
                    path,
                    fault=f"has steps that make a text more than {_GROWTH:,} times longer",
                    fix="copy it again from the model's source",
                )


def _growth_of(step: Mapping[str, Any]) -> int:
    """How many times longer a step makes a text at most."""
    if step.get("type") == "ByteLevel":
        return 2
    if step.get("type") != "Replace":
        return 1
    pattern = step.get("pattern")
    replaced = pattern.get("String") if isinstance(pattern, dict) else pattern
    # A regular expression may match a single letter.
    length = len(replaced) if isinstance(replaced, str) and replaced else 1
    return max(1, -(-len(str(step.get("content", ""))) // length))


def _check_vocabulary(tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Raise an error if words or the entries for unknown words, start and end are ambiguous.

    Without them in ``vocab.txt``, transformers adds entries that the model does not have.
    """
    path = folder / "vocab.txt"
    if not (folder / "tokenizer.json").is_file() and path.is_file():
        words = text_of(path).removesuffix("\n").split("\n")
        special = {tokenizer.unk_token, tokenizer.cls_token, tokenizer.sep_token} - {None}
        faults = {
            "is missing": sorted(special - set(words)),
            "occurs twice": [word for word, count in Counter(words).most_common(1) if count > 1],
        }
    else:
        path = folder / "tokenizer.json"
        vocabulary = tokenizer.get_vocab()
        number, count = Counter(vocabulary.values()).most_common(1)[0] if vocabulary else (0, 0)
        doubled = [word for word, other in vocabulary.items() if count > 1 and other == number]
        faults = {"has the number of another entry": doubled}
    for fault, entries in faults.items():
        if entries:
            raise DataError(
                path,
                column="an entry of the vocabulary",
                value=entries[0],
                fault=f"which {fault}",
                fix="copy it again from the model's source",
            )


def check_tokenizer(tokenizer: PreTrainedTokenizerBase, folder: Path) -> PreTrainedTokenizerBase:
    """Check a vocabulary; turn a tokenizer's errors about texts into ones that name its folder."""
    _check_vocabulary(tokenizer, folder)
    for method in ("_encode_plus", "_decode"):
        setattr(tokenizer, method, partial(_call, folder, getattr(tokenizer, method)))
    return tokenizer


def _call(folder: Path, method: Any, *arguments: Any, **options: Any) -> Any:
    try:
        return method(*arguments, **options)
    except BaseException as error:
        # Errors of the library are plain ones; a panic of Rust has a class that nobody can import.
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise DataError(
            folder / "tokenizer.json",
            fault=f"failed on a text ({error})",
            fix="copy it again from the model's source, or use another model, whose regular "
            "expressions take fewer steps",
        ) from None
