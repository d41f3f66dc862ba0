"""Perturbed copies of data files, which show whether a number depends on them.

`KINDS` declares, in one place, which files are perturbed and how.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import random
import re
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from everycell.base.untrusted import parse_json
from everycell.workflow.perturbation import PERTURBATIONS, Rows
from everycell.workflow.perturbed_tables import KEYS, read_table


class PerturbationError(Exception):
    """A file does not have the format of its kind, so that it cannot be perturbed."""


def _read_list(text: str) -> Rows:
    """Table without a header: a key, then values; blank lines separate groups of rows."""
    delimiter = "\t" if "\t" in text.partition("\n\n")[0] or text.startswith("\n") else ","
    lines = text.split("\n")
    indices_with_values = [index for index, line in enumerate(lines) if line.strip()]
    values = [lines[index].split(delimiter) for index in indices_with_values]
    # Without blank lines, rows can be left out.
    can_drop = len(indices_with_values) >= len(lines) - 1

    def write(rows: list[list[str]]) -> str:
        if can_drop:
            return "".join(f"{delimiter.join(row)}\n" for row in rows)
        changed = list(lines)
        for index, row in zip(indices_with_values, rows, strict=True):
            changed[index] = delimiter.join(row)
        return "\n".join(changed)

    return Rows(values, frozenset({0}), write, can_drop=can_drop)


def _fields(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


def _write_fields(rows: list[list[str]]) -> str:
    return "".join(f"{' '.join(row)}\n" for row in rows)


def _read_qrels(text: str) -> Rows:
    """Relevance judgements: the label is the last field, or the fourth."""
    values = _fields(text)
    width = len(values[0])
    label = 3 if width == 4 else 2
    return Rows(values, frozenset(range(width)) - {label}, _write_fields)


def _read_run(text: str) -> Rows:
    """Run in TREC format: scores are jittered, and the ranks follow them."""

    def write(rows: list[list[str]]) -> str:
        by_query: dict[str, list[list[str]]] = {}
        for row in rows:
            by_query.setdefault(row[0], []).append(row)
        ranked = []
        for query_rows in by_query.values():
            query_rows.sort(key=lambda row: -float(row[4]))
            ranked += [
                [*row[:3], str(rank), *row[4:]] for rank, row in enumerate(query_rows, start=1)
            ]
        return _write_fields(ranked)

    return Rows(_fields(text), frozenset({0, 1, 2, 3, 5}), write, scores=frozenset({4}))


def _read_memberships(text: str) -> Rows:
    """Topic and item, then the probability of each group; the probabilities stay together."""
    values = [[*fields[:2], " ".join(fields[2:])] for fields in _fields(text)]
    return Rows(values, frozenset({0, 1}), _write_fields)


def _read_distribution(text: str) -> Rows:
    """Probabilities, one per line; the jittered ones add up to 1 again."""

    def write(rows: list[list[str]]) -> str:
        numbers = [abs(float(row[0])) for row in rows]
        total = sum(numbers)
        return "".join(f"{number / total:.9f}\n" for number in numbers)

    return Rows(_fields(text), frozenset(), write, scores=frozenset({0}), can_drop=False)


def _read_features(text: str) -> Rows:
    """Lists in LETOR format: labels are permuted, features keep their rows."""
    values = [line.split(" ", 1) for line in text.splitlines() if line.strip()]
    # Without ids of queries, another file has the sizes of the lists.
    return Rows(values, frozenset({1}), _write_fields, can_drop="qid:" in text[:200])


def _read_records(text: str) -> Rows:
    """JSON objects, one per line."""
    records = [parse_json(line) for line in text.splitlines() if line.strip()]
    names = list(dict.fromkeys(name for record in records for name in record))
    keys = {column for column, name in enumerate(names) if KEYS.fullmatch(name)}

    def write(rows: list[list[Any]]) -> str:
        lines = [
            json.dumps(
                {name: value for name, value in zip(names, row, strict=True) if value is not None},
                ensure_ascii=False,
            )
            for row in rows
        ]
        return "".join(f"{line}\n" for line in lines)

    values = [[record.get(name) for name in names] for record in records]
    # Lists of a record often have the same length, so they are exchanged with those of its form.
    forms = [repr(_form(record)) for record in records]
    return Rows(values, frozenset(keys), write, groups=forms if len(set(forms)) > 1 else None)


def _form(value: Any) -> Any:
    """Names and lengths of nested values, without the values."""
    if isinstance(value, dict):
        return {name: _form(value[name]) for name in sorted(value)}
    return [_form(item) for item in value] if isinstance(value, list) else None


def _read_literals(text: str) -> Rows:
    """Python literals, one dictionary per line, or several literals separated by tabs."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines[0].startswith("{"):
        return Rows(
            [line.split("\t") for line in lines],
            frozenset({0}),
            lambda rows: "".join("\t".join(row) + "\n" for row in rows),
        )
    records = [ast.literal_eval(line) for line in lines]
    names = list(records[0])
    keys = {column for column, name in enumerate(names) if name == "dialogue"}
    return Rows(
        [[record.get(name) for name in names] for record in records],
        frozenset(keys),
        lambda rows: "".join(f"{dict(zip(names, row, strict=True))!r}\n" for row in rows),
    )


def _read_answers(text: str) -> Rows:
    """Recorded answers of language models; those to requests with the same settings change.

    The hash of each line, which depends on all lines before it, is that of the new answers.
    """
    entries = [parse_json(line) for line in text.splitlines()]
    settings = []
    for entry in entries:
        is_withheld = entry["answer"]["finish"].startswith("withheld")
        settings.append(json.dumps([entry["decoding"], entry["continuation"], is_withheld]))

    def write(rows: list[list[Any]]) -> str:
        lines, last = [], ""
        for entry, (answer,) in zip(entries, rows, strict=True):
            fields = {name: entry[name] for name in entry if name != "chained"}
            fields["answer"] = answer
            content = last + json.dumps(fields, sort_keys=True)
            last = hashlib.sha256(content.encode()).hexdigest()
            lines.append(json.dumps({**fields, "chained": last}))
        return "".join(f"{line}\n" for line in lines)

    values = [[entry["answer"]] for entry in entries]
    return Rows(values, frozenset(), write, groups=settings, can_drop=False)


def _read_json(text: str) -> Rows:
    """Array of JSON records, which may be nested: values belong to the same field."""
    content = parse_json(text)
    leaves = [leaf for leaf in _leaves(content) if not KEYS.fullmatch((leaf[2] or ("",))[-1])]

    def write(rows: list[list[Any]]) -> str:
        for (container, key, _), (value,) in zip(leaves, rows, strict=True):
            container[key] = value
        return json.dumps(content, ensure_ascii=False, indent=1)

    values = [[container[key]] for container, key, _ in leaves]
    fields = [field for _, _, field in leaves]
    return Rows(values, frozenset(), write, groups=fields, can_drop=False)


def _leaves(
    container: Any, field: tuple[str, ...] = ()
) -> Iterator[tuple[Any, Any, tuple[str, ...]]]:
    """Values that are no containers: their container, their key in it, and the field."""
    is_list = isinstance(container, list)
    for key, value in enumerate(container) if is_list else container.items():
        name = field if is_list else (*field, str(key))
        if isinstance(value, (dict, list)):
            yield from _leaves(value, name)
        else:
            yield container, key, name


def _read_texts(text: str) -> Rows:
    """Documents or topics with a line for their id, in SMART or TREC format."""
    preamble, *parts = re.split(r"(?m)^(\.I .*\n|<DOC>\s*<DOCNO>.*\n)", text)
    values = [[head, body] for head, body in zip(parts[::2], parts[1::2], strict=True)]
    return Rows(
        values, frozenset({0}), lambda rows: preamble + "".join(head + body for head, body in rows)
    )


def _read_archive(content: bytes) -> Rows:
    """Compressed archive with one file per document, whose name is its id."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        values = [
            [member.name, file.read()]
            for member in archive
            if (file := archive.extractfile(member)) is not None
        ]

    def write(rows: list[list[Any]]) -> bytes:
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w:gz") as archive:
            for name, document in rows:
                member = tarfile.TarInfo(name)
                member.size = len(document)
                archive.addfile(member, io.BytesIO(document))
        return stream.getvalue()

    return Rows(values, frozenset({0}), write)


def _read_vocabulary(text: str) -> Rows:
    """Tokens, one per line; special tokens such as ``[CLS]`` come first and stay."""
    tokens = text.splitlines()
    special = [token for token in tokens if token.startswith("[")]
    values = [[token] for token in tokens if not token.startswith("[")]
    return Rows(
        values,
        frozenset(),
        lambda rows: "".join(f"{token}\n" for token in [*special, *(row[0] for row in rows)]),
    )


def _read_weights(content: bytes) -> Rows:
    """Weights of a neural model (safetensors): rows of each tensor of floating-point numbers."""
    start = 8 + int.from_bytes(content[:8], "little")
    values, tensors, offsets = [], [], []
    for name, tensor in parse_json(content[8:start].decode()).items():
        if "F" not in tensor.get("dtype", ""):
            continue
        first, last = (start + offset for offset in tensor["data_offsets"])
        size = (last - first) // (*tensor["shape"], 1)[0]
        for offset in range(first, last, size):
            values.append([content[offset : offset + size]])
            tensors.append(name)
            offsets.append(offset)

    def write(rows: list[list[Any]]) -> bytes:
        changed = bytearray(content)
        for offset, (row,) in zip(offsets, rows, strict=True):
            changed[offset : offset + len(row)] = row
        return bytes(changed)

    return Rows(values, frozenset(), write, groups=tensors, can_drop=False)


class Kind(NamedTuple):
    """A kind of files: a pattern of their paths and first lines, and how they are read."""

    name: str
    path: str
    start: str
    #: Reader of the file's text, or of its bytes.
    read: Callable[[Any], Rows]
    is_text: bool = True


#: Kinds of files; the first whose patterns match is the kind of a file.
KINDS = (
    Kind("table without header", r".*\.(csv|tsv|txt)", r"(\d[\d_-]*[,\t])|\n?USER\t", _read_list),
    Kind("table without header", r".*/?(wordlist|word_list)[^/]*\.txt", r".+,\w", _read_list),
    Kind("table", r".*\.(csv|tsv)", r".*[,;\t]", read_table),
    Kind("run", r".*", r"\S+ Q0 \S+ \d+ -?[\d.eE+-]+ \S+\n", _read_run),
    Kind("relevance judgements", r".*", r"\S+[ \t]+\S+[ \t]+\S+[ \t]+-?\d+[ \t]*\n", _read_qrels),
    Kind("relevance judgements", r".*qrels?", r"\S+ \S+ L\d\n", _read_qrels),
    Kind("relevance judgements", r".*(qrel|\.REL)", r"\s*\d+\s+\d+\s+-?\d", _read_qrels),
    Kind("memberships", r".*\.gmemb", r"", _read_memberships),
    Kind("distribution", r".*\.golddistr", r"", _read_distribution),
    Kind("features", r".*", r"\d+ (qid:\d+ )?\d+:", _read_features),
    Kind("answers", r".*\.jsonl", r'\{"key":.+"prompt_sha256":.+"continuation":', _read_answers),
    Kind("records", r".*\.jsonl", r"\{", _read_records),
    Kind("JSON records", r".*\.json", r"\s*\[", _read_json),
    Kind("texts", r".*", r"\.I |<DOC>\s*<DOCNO>", _read_texts),
    Kind("archive", r".*\.tar\.gz", r"", _read_archive, is_text=False),
    Kind("vocabulary", r".*vocab\.txt", r"\[", _read_vocabulary),
    Kind("weights", r".*\.safetensors", r"", _read_weights, is_text=False),
    Kind("literals", r".*\.txt", r"(\{'|\[['\"])", _read_literals),
)
#: Largest file that is perturbed, in bytes.
LARGEST = 200_000_000


def kind_of(path: Path) -> Kind | None:
    """Kind of a file, by its path and its first line; None if no kind matches."""
    if path.is_dir() or path.stat().st_size > LARGEST:
        return None
    with path.open("rb") as file:
        start = file.read(4096).decode("utf-8", errors="replace").replace("\r\n", "\n")
    return next(
        (
            kind
            for kind in KINDS
            if re.fullmatch(kind.path, path.as_posix()) and re.match(kind.start, start)
        ),
        None,
    )


def perturb(source: Path, target: Path, name: str, key: str) -> bool:
    """Write a perturbed copy of a file; return whether the perturbation changed anything.

    The perturbation depends only on its `name`, on the `key` of the file and on its content, so
    that it is the same on each machine.
    """
    kind = kind_of(source)
    if kind is None:
        return False
    try:
        content = source.read_bytes()
        rows = kind.read(content.decode().replace("\r\n", "\n") if kind.is_text else content)
        changed = PERTURBATIONS[name](rows, random.Random(f"{key}:{name}"))
    except (
        ValueError,
        IndexError,
        SyntaxError,
        KeyError,
        TypeError,
        AttributeError,
        tarfile.TarError,
    ) as error:
        raise PerturbationError(
            f"{source} cannot be perturbed as {kind.name} ({error}); correct its kind in "
            "everycell.workflow.perturbed_files."
        ) from error
    if changed is None or changed == rows.values:
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    written = rows.write(changed)
    target.write_bytes(written if isinstance(written, bytes) else written.encode())
    return True
