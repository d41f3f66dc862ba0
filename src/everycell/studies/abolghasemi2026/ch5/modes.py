"""Modes of labelling documents with authors, and names of columns and measures."""

from __future__ import annotations

SETTING = ["dataset", "generator", "relevant_author", "nonrelevant_author"]
PRECISION, RECALL = "attribution precision", "attribution recall"
#: Mean number of cited documents that are relevant, and of all cited documents.
CITED, TOTAL = "avg cited relevant", "avg cited total"
#: Modes: labels with no authors, with the true authors, or with the opposite ones.
MODES = ("Vanilla", "Informed", "CF-informed")
OTHER_AUTHOR = {"Human": "LLM", "LLM": "Human"}


def displayed_author(author: str, mode: str) -> str:
    """Author in the label of a document; empty without a label."""
    if author not in OTHER_AUTHOR or mode not in MODES:
        raise ValueError(
            f"Got author {author!r} and mode {mode!r}. The author must be one of "
            f"{', '.join(OTHER_AUTHOR)}, and the mode one of {', '.join(MODES)}."
        )
    return {"Vanilla": "", "Informed": author, "CF-informed": OTHER_AUTHOR[author]}[mode]
