"""Notes on answers that a command could not use in full, on standard error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from everycell.base.untrusted import in_quotes
from everycell.cli.printing import echo

if TYPE_CHECKING:
    from everycell.language_models.endings import Endings

# Largest number of examples.
_EXAMPLES = 10


def report_unread(marks: Sequence[str], lists: Sequence[str], *, whose: str = "") -> None:
    """Count what looks like a citation and is not read, with examples."""
    distinct = list(dict.fromkeys(" ".join(mark.split()) for mark in marks))[:_EXAMPLES]
    examples = f": {', '.join(distinct)}" if distinct else ""
    echo(
        f"{whose}Bracketed marks and superscripts not read as citations: {len(marks)}{examples}.",
        err=True,
    )
    if lists:
        example = in_quotes(" ".join(lists[0].split()))
        echo(
            f"{whose}Lists of sources not read as citations: {len(lists)}, such as {example}.",
            err=True,
        )


def report_endings(endings: Endings, largest_share: float, *, whose: str = "") -> None:
    """Count empty and cut-off answers, if there are any, and mark a result with too many."""
    if endings.empty or endings.cut:
        echo(f"{whose}{endings}.", err=True)
    if endings.empty_share > largest_share:
        echo(
            f"More than {largest_share:.0%} of the answers are empty, so this result says little "
            "about the model; raise its limit on tokens, or turn its reasoning off.",
            err=True,
        )
