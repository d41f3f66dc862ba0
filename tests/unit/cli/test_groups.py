"""Groups of commands, headings of the help, and errors of wrong names."""

import re
import shlex
from itertools import pairwise

import pytest
from command_line import call
from typer.main import get_command
from typer.testing import CliRunner

from everycell.cli import GROUPS, HEADINGS, app
from everycell.cli.examples import EXAMPLES

#: Everything before the description of an option.
TYPE = re.compile(r"│ [ *].*?(?:<[^>]*>|[A-Z]+|\[NAME\])(?: \[[^\]]*\])? {2,}")


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


COMMANDS = [
    *(name for commands in HEADINGS.values() for name in commands),
    *(f"{group} {name}" for group, (_, commands) in GROUPS.items() for name in commands),
]


def test_examples_of_all_commands():
    assert list(EXAMPLES) == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_help_at_80_columns(name, monkeypatch):
    """Two examples of at most two lines; no paragraph is squeezed, and none broken twice."""
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = call(*name.split(), "--help")
    text, _, examples = out.partition(" Examples:")
    assert code == 0 and 2 <= sum(bool(line.strip()) for line in examples.splitlines()) <= 4
    options = [line for line in text.splitlines() if line.startswith("│ ")]
    # What a choice allows is in its description, so no column of types is wide.
    column = max((len(match[0]) for line in options if (match := TYPE.match(line))), default=0)
    assert column <= 54
    prose = text.split("╭")[0].splitlines()
    for line, following in pairwise(prose):
        if line.strip() and following.strip():
            # A line ends only where the next word does not fit.
            assert len(line.rstrip()) + 1 + len(following.split()[0]) > 78


@pytest.mark.parametrize(
    ("name", "example"), [(name, example) for name in EXAMPLES for example in EXAMPLES[name]]
)
def test_examples_parse(name, example):
    command = get_command(app)
    words = shlex.split(example.partition(" -- ")[0].partition(" && ")[0])
    assert words[: 1 + len(name.split())] == ["everycell", *name.split()]
    for part in name.split():
        command = command.commands[part]
    context = command.make_context(name, words[1 + len(name.split()) :], resilient_parsing=True)
    assert context.args == []


def test_completion(monkeypatch):
    monkeypatch.setenv("_EVERYCELL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "everycell measure co")
    monkeypatch.setenv("COMP_CWORD", "2")
    done = CliRunner().invoke(app, [], prog_name="everycell")
    assert done.output.split() == ["count-terms", "compare"]
