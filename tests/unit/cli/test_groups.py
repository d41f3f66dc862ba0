"""Groups of commands, headings of the help, and errors of wrong names."""

import re

import pytest
from command_line import call

from everycell.cli import GROUPS, HEADINGS


def test_help_headings(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = call("--help")
    names = [name for commands in HEADINGS.values() for name in commands]
    # One line per command: the name, then what it does.
    listed = [
        line.split()[1] for line in out.splitlines() if line.startswith("│ ") and line[2].isalpha()
    ]
    assert code == 0 and listed == [*names, *GROUPS]
    for heading in HEADINGS:
        assert f"╭─ {heading} " in out


@pytest.mark.parametrize("group", GROUPS)
def test_help_of_group(group, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = call(group, "-h")
    assert code == 0 and all(f"│ {name} " in out for name in GROUPS[group][1])


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("fairness", "everycell measure fairness"),
        ("rerank-fair", "everycell measure rerank"),
        ("measure rerank-fair", "everycell measure rerank"),
        ("new-paper", "everycell paper new"),
        ("fetch", "everycell data fetch"),
        ("summry", "everycell summary"),
    ],
)
def test_commands_unknown(name, suggestion):
    code, out, err = call(*name.split(), "a.run")
    assert (code, out) == (2, "")
    assert f"No such command '{name.split()[-1]}'. Did you mean '{suggestion}'?" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "--tier", "huge"],
        ["list", "--verdict", "good"],
        ["summary", "--format", "xml"],
        ["measure", "overlap", "a.run", "b.run", "--variant", "rest"],
        ["measure", "compare", "a.run", "b.run", "qrels", "--missing", "skip"],
    ],
)
def test_commands_invalid_option_value(arguments):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "") and arguments[-2] in err and arguments[-1] in err


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        ([], ["'documents'", "'--words'", "'--out'"]),
        (["texts.tsv"], ["'--words'", "'--out'"]),
        (["texts.tsv", "--words", "w.csv"], ["'--out'"]),
    ],
)
def test_commands_missing_options(arguments, missing):
    code, _, err = call("measure", "count-terms", *arguments)
    assert code == 2 and [name for name in re.findall(r"'[^' ]+'", err)] == missing
