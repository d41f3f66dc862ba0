"""Authors that prompts name, and the columns of tables for them."""

from __future__ import annotations

SETTING = ["dataset", "generator", "relevant_author", "nonrelevant_author"]
PRECISION, RECALL = "attribution precision", "attribution recall"
#: Mean number of cited documents that are relevant, and of all cited documents.
CITED, TOTAL = "avg cited relevant", "avg cited total"
#: A mode tells the true authors, the false ones, or none.
MODES = ("Vanilla", "Informed", "CF-informed")
OTHER_AUTHOR = {"Human": "LLM", "LLM": "Human"}


def displayed_author(author: str, mode: str) -> str:
    """Author that a prompt names of a document."""
    if author not in OTHER_AUTHOR or mode not in MODES:
        raise ValueError(
            f"The author is {author!r} and the mode {mode!r}; an author is one of "
            f"{', '.join(OTHER_AUTHOR)}, a mode one of {', '.join(MODES)}."
        )
    return {"Vanilla": "", "Informed": author, "CF-informed": OTHER_AUTHOR[author]}[mode]
