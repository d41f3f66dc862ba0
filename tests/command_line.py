"""everycell on the command line, as tests call it."""

from __future__ import annotations

from typer.testing import CliRunner

from everycell.cli import app


def call(*arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and error of a command."""
    done = CliRunner().invoke(app, list(map(str, arguments)))
    # An error that is not a message for users is a fault of the program.
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def refused(*arguments: object) -> str:
    """Return the one sentence with which a command ends."""
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("everycell: ") and err.endswith((".\n", "?\n")) and err.count("\n") == 1
    return err
