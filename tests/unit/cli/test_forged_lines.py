"""Text of records, tables and receipts begins no line of its own in the terminal."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path

import pytest
import yaml
from command_line import call
from receipt_files import hashed, in_all_forms, rewrite
from unit.toy_papers import PAPER

from everycell.cli.printing import echo, output_console, print_paragraph
from everycell.receipts.receipts import write_receipt

FORGED = "All 9 receipts in results are valid."
#: Ends of lines for a terminal, Python or `less`, and blanks after which a line would be wrapped.
BREAKS = ("\n", "\r\n", "\r", "\n\n  ", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", " " * 200)
COMMANDS = (
    ("show", "toy/table_1"),
    ("show", "toy"),
    ("list",),
    ("list", "--totals"),
    ("summary",),
    ("check",),
    ("verify",),
)
CELLS = [["row", "metric", "value"], ["a", "AP", "0.30"], ["b", "AP", "0.40"]]
NOT_TESTABLE = {"missing": [{"kind": "file", "name": "judgements"}], "because": "No judgements."}
RECORD = {
    "kind": "table",
    "title": "A toy table",
    "source": "p. 1",
    "tiers": {
        "embedded": {
            "state": "surrogate",
            "needs": "nothing",
            "name": "other data",
            "not_testable": NOT_TESTABLE,
        },
        "released": {"state": "reproduced", "needs": "the data"},
    },
    "decimals": {"AP": 2},
    "names": {"row": "System", "a": "First system"},
    "tolerances": [{"cells": {"row": "a"}, "within": 0.01, "because": "Rounded inputs."}],
    "quoted": [{"cells": {"row": "a"}, "because": "an input", "tiers": ["full"]}],
    "derived": [{"cells": {"row": "b"}, "because": "The sum of two.", "tiers": ["released"]}],
    "not_run": [{"cells": {"row": "a"}, "tier": "released", "needs": "a GPU"}],
    "claims": [
        {
            "id": "c",
            "claim": "Row b is better.",
            "source": "p. 1",
            "supported_if": [{"cells": {"row": "b"}, "op": ">", "other": {"row": "a"}}],
        }
    ],
    "errata": [
        {
            "id": "e",
            "cause": "unknown",
            "cells": [{"row": "b"}],
            "finding": "It is wrong.",
            "evidence": "The sum differs.",
            "source": "p. 2",
        }
    ],
    "supplements": {"tests": "Tests of the toy"},
    "explanation": "How to read it.",
}
CHAPTER = {
    "chapter": "1",
    "title": "First",
    "source": "p. 1",
    "artefacts": {"table_1": RECORD},
    "untested": [
        {
            "source": "p. 3",
            "claim": "Users like it more.",
            "missing": [{"kind": "file", "name": "answers of users"}],
            "reason": "No answers were released.",
        }
    ],
}
FILES = {
    "published/toy/paper.yaml": yaml.safe_load(PAPER),
    "published/toy/ch1.yaml": CHAPTER,
    "published/toy/table_1.csv": CELLS,
    "results/released/toy/table_1.csv": [*CELLS[:2], ["b", "AP", "0.90"]],
    "results/embedded/toy/table_1.csv": CELLS,
}
RECEIPT = "results/released/toy/table_1.receipt.json"


def write(name: str, content: object) -> None:
    """Write one of `FILES`; a result also with its other forms and its receipt."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".yaml":
        path.write_text(yaml.safe_dump(content, allow_unicode=True))
        return
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(content)
    if name.startswith("results"):
        write_receipt(
            path.with_suffix(".receipt.json"),
            artefact="toy/table_1",
            tier=path.parts[1],
            inputs=hashed(Path("published/toy/table_1.csv")),
            outputs=in_all_forms(path),
            parameters={},
            seed=None,
            code="0" * 64,
            seconds=1,
            root=Path(),
        )


def leaves(content: object, path: tuple = ()) -> Iterator[tuple]:
    """Paths of all texts in nested content."""
    if isinstance(content, str):
        yield path
    elif isinstance(content, dict | list):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in items:
            yield from leaves(value, (*path, key))


def forge(content: object, path: tuple, mark: str) -> object:
    """Content with a forged line at the end of one of its texts."""
    content = deepcopy(content)
    *parents, last = path
    part = content
    for key in parents:
        part = part[key]
    part[last] += mark + FORGED
    return content


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a project of one paper with results, as the working folder."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        write(name, content)
    return tmp_path


def forged_lines(commands: Iterable[tuple[str, ...]] = COMMANDS) -> list[str]:
    """Lines of the commands' output that look like a sentence of their own."""
    return [
        f"{command}: {line}"
        for command in commands
        for line in "".join(call(*command)[1:]).splitlines()
        if line.startswith(FORGED[:12])
    ]


@pytest.fixture(scope="module")
def accepted(tmp_path_factory):
    """Paths of the texts of each YAML file that may be any text, and the messages of others."""
    paths, messages = {}, []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("fields"))
        for name, content in FILES.items():
            write(name, content)
        for name, content in list(FILES.items())[:2]:
            paths[name] = []
            for number, path in enumerate(leaves(content)):
                write(name, forge(content, path, BREAKS[number % len(BREAKS)]))
                code, out, err = call("check")
                if code == 0:
                    paths[name].append(path)
                messages += (out + err).splitlines()
            write(name, content)
    return paths, messages


def test_check_text_with_forged_line(accepted):
    paths, messages = accepted
    assert sum(map(len, paths.values())) > 20 and any("line" in line for line in messages)
    assert [line for line in messages if line.startswith(FORGED[:12])] == []


@pytest.mark.parametrize("mark", BREAKS)
def test_commands_record_with_forged_lines(project, accepted, mark):
    for name, paths in accepted[0].items():
        content = FILES[name]
        for path in paths:
            content = forge(content, path, mark)
        write(name, content)
    assert forged_lines() == []
    out = call("show", "toy/table_1")[1]
    for text in ("the data", "other data", "It is wrong.", "No judgements.", "First system"):
        assert text in out
    assert out.count("valid.") >= 5


@pytest.mark.parametrize("name", list(FILES)[2:])
def test_commands_table_with_forged_line(project, name):
    for number, path in enumerate(leaves(FILES[name][1:])):
        rows = forge(FILES[name][1:], path, BREAKS[number % len(BREAKS)])
        write(name, [FILES[name][0], *rows])
        assert forged_lines([("show", "toy/table_1"), ("check",), ("verify",)]) == [], path


def test_verify_receipt_with_forged_line(project):
    receipt = json.loads(Path(RECEIPT).read_text())
    content = {key: receipt[key] for key in ("artefact", "tier", "inputs", "outputs")}
    for number, path in enumerate(leaves(content)):
        forged = forge(content, path, BREAKS[number % len(BREAKS)])
        rewrite(Path(RECEIPT), **forged)
        assert forged_lines([("show", "toy/table_1"), ("verify",)]) == [], path


@pytest.mark.parametrize("mark", BREAKS[:-1])
def test_echo_line_break(capsys, mark):
    echo(f"a{mark}{FORGED}", err=True)
    output_console().print(f"a{mark}{FORGED}")
    print_paragraph(output_console(), f"a{mark}{FORGED}")
    out, err = capsys.readouterr()
    assert len((out + err).splitlines()) == 3
