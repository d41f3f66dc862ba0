"""The error for data that cannot be used, which builds its own sentence."""

from __future__ import annotations

from everycell.base.untrusted import in_quotes, printable_line


class DataError(ValueError):
    """Data that cannot be used: where they are, what is wrong, what was expected, what to do.

    All parts are optional and kept as attributes. `row` is a line number, or words such as "query
    31"; `value` is quoted, and `...` if there is none. `fault` says what is wrong where no value
    does: "has no lines", "occurs twice". `expected` and `fix` follow "expected" and a colon.

    Examples
    --------
    >>> print(DataError("a.run", 3, "rank", "x", expected="a number", fix="correct the line"))
    a.run, line 3: rank is 'x'; expected a number: correct the line.
    >>> print(DataError("a.qrels", fault="has no lines", fix="write one judgement per line"))
    a.qrels has no lines: write one judgement per line.
    >>> print(DataError("a.qrels", 7, "document", "d1", "which occurs twice", fix="remove one"))
    a.qrels, line 7: document is 'd1', which occurs twice: remove one.
    >>> print(DataError(column="alpha", value=1.5, expected="a number from 0 to 1"))
    alpha is 1.5; expected a number from 0 to 1.
    """

    def __init__(
        self,
        path: object = None,
        row: int | str | None = None,
        column: str | None = None,
        value: object = ...,
        fault: str = "",
        expected: str = "",
        fix: str = "",
    ) -> None:
        # All parts are `args`, so that a worker process can send the error.
        super().__init__(path, row, column, value, fault, expected, fix)
        self.path, self.row, self.column, self.value = path, row, column, value
        self.fault, self.expected, self.fix = fault, expected, fix

    def __str__(self) -> str:
        """One sentence of the parts that are given."""
        parts = ["" if self.path is None else str(self.path)]
        if self.row is not None:
            parts.append(f"line {self.row}" if isinstance(self.row, int) else self.row)
        where = ", ".join(filter(None, parts))
        subject = self.column or ""
        if self.value is not ...:
            quoted = in_quotes(self.value, 300)
            subject = f"{subject} is {quoted}" if subject else quoted
            subject += f", {self.fault}" if self.fault else ""
        elif self.fault:
            subject = f"{subject} {self.fault}".strip()
        # "a.qrels has no lines", but "a.qrels: rank is 'x'".
        has_subject = self.column or self.value is not ...
        parts = (
            [where, ": " if has_subject else " ", subject]
            if where and subject
            else [where, subject]
        )
        parts += [f"; expected {self.expected}"] if self.expected else []
        parts += [f": {self.fix}"] if self.fix else []
        # A name of the user's file may have line breaks and control characters of terminals.
        return printable_line(f"{''.join(parts)}.")


class FaultsError(Exception):
    """Faults of a file, in one sentence each; its text has a line per fault.

    A sentence may quote the file, which begins no line of its own.
    """

    def __str__(self) -> str:
        """One line per fault."""
        return "\n".join(printable_line(str(fault)) for fault in self.args)


def require(condition: object, name: str, value: object, expected: str) -> None:
    """Raise an error that names a parameter unless its value is as expected."""
    if not condition:
        raise DataError(column=name, value=value, expected=expected)
