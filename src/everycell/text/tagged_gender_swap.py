"""Counterfactual data substitution that decides "her" by part-of-speech tags.

A personal pronoun (PRP) becomes "him", a possessive one (PRP$) "his". All other words are replaced
as in `everycell.text.gender_swap`, which decides "her" by the words around it; so is a "her" with
another tag, or inside a longer token such as "him/her".

Source: abolghasemi2026, section 4.5 (iii), which does not name the tagger. Ours is that of NLTK.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from everycell.text.gender_swap import _WORD, _match_case, swap_gender
from everycell.text.part_of_speech import Tagger, read_tagger, tagged_words

_BY_TAG = {"PRP": "him", "PRP$": "his"}


def swap_gender_by_tags(text: str, tagger: Tagger) -> str:
    """Replace every gendered word of a text with its counterpart, and "her" by its tag."""
    swapped = swap_gender(text)
    words = list(_WORD.finditer(text))
    if not any(word[0].lower() == "her" for word in words):
        return swapped
    tags = tagged_words(text, tagger)
    parts, end = [], 0
    # Each word is replaced by one word, so words correspond by their order.
    for word, replacement in zip(words, _WORD.finditer(swapped), strict=True):
        pronoun = _BY_TAG.get(tags.get(word.span(), ""))
        if word[0].lower() == "her" and pronoun:
            parts += [swapped[end : replacement.start()], _match_case(pronoun, word[0])]
            end = replacement.end()
    return "".join([*parts, swapped[end:]])


def gender_swapper(tagger: Path | str | None) -> Callable[[str], str]:
    """Swap that decides "her" with the tagger of a file, or by the words around it if None."""
    return (
        swap_gender if tagger is None else partial(swap_gender_by_tags, tagger=read_tagger(tagger))
    )
