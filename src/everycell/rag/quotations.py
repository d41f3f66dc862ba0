"""Answers without what they copy from their documents, for records that are passed on.

Small models repeat the passages of their prompt. A record with such answers would pass on parts of
a data set, and what a study reads of an answer does not need them: its citations, the gold answers
that it has, and why it ended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from everycell.language_models.generation import Answer, Token
from everycell.rag.answers import Match, is_correct, usable_answers
from everycell.rag.citations import find_citations, without_citations
from everycell.rag.paraphrase_checks import QUOTED

#: Replacement for a quotation.
OMITTED = " … "
_WORD = re.compile(r"\w+")


def without_quotations(
    answer: Answer, documents: Sequence[str], gold: Sequence[str]
) -> Answer | None:
    """An answer in which `QUOTED` words or more that a document has in a row are left out."""
    citations = find_citations(answer.text)
    quoted = _quotations(answer.text, documents, {citation.start for citation in citations})
    spans = [(start, end, _instead(answer.text[start:end], gold)) for start, end in quoted]
    text, tokens = _replaced(answer, spans)
    same = [mark.number for mark in citations] == [mark.number for mark in find_citations(text)]
    before, after = (
        [_hold_both(version, right) for right in gold] for version in (answer.text, text)
    )
    if not same or before != after:
        return None
    return answer.model_copy(update={"text": text, "tokens": tokens})


def _hold_both(text: str, gold: str) -> tuple[bool, bool]:
    """Whether a text contains a right answer, by its words and by its letters."""
    return _holds(without_citations(text), gold, "words"), _holds(text, gold, "substring")


def _holds(text: str, gold: str, match: Match) -> bool:
    return bool(usable_answers([gold], match=match)) and is_correct(text, [gold], match=match)


def _instead(quotation: str, gold: Sequence[str]) -> str:
    return OMITTED + "".join(
        quoted + OMITTED for answer in gold if (quoted := _keep(quotation, answer)) is not None
    )


def _keep(quotation: str, gold: str) -> str | None:
    """What of a quotation a right answer leaves: itself, or the few words that have its letters."""
    if _holds(without_citations(quotation), gold, "words"):
        return gold
    words = list(_WORD.finditer(quotation))
    for number in range(1, min(QUOTED, len(words) + 1)):
        for first, last in zip(words, words[number - 1 :], strict=False):
            run = quotation[first.start() : last.end()]
            if _holds(run, gold, "substring"):
                return run
    return None


def _quotations(text: str, documents: Sequence[str], cited: Set[int]) -> list[tuple[int, int]]:
    """Where quotations begin and end; none goes across the number of a citation."""
    passages = {
        sequence
        for document in documents
        for sequence in _sequences([word.lower() for word in _WORD.findall(document)])
    }
    words = list(_WORD.finditer(text))
    # No document has a word with a blank, so that a citation ends a quotation.
    names = [" " if word.start() in cited else word[0].lower() for word in words]
    quoted = [False] * len(words)
    for first, sequence in enumerate(_sequences(names)):
        if sequence in passages:
            quoted[first : first + QUOTED] = [True] * QUOTED
    spans: list[tuple[int, int]] = []
    for number, word in enumerate(words):
        if quoted[number] and number and quoted[number - 1]:
            spans[-1] = (spans[-1][0], word.end())
        elif quoted[number]:
            spans.append(word.span())
    return spans


def _sequences(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[first : first + QUOTED]) for first in range(len(words) - QUOTED + 1)]


def _replaced(
    answer: Answer, spans: Sequence[tuple[int, int, str]]
) -> tuple[str, tuple[Token, ...] | None]:
    """Text and tokens with other texts in some places; a cut token loses its probability."""
    text = answer.text
    for first, last, instead in reversed(spans):
        text = text[:first] + instead + text[last:]
    if answer.tokens is None:
        return text, None
    tokens: list[Token] = []
    start = 0
    for token in answer.tokens:
        end, cursor, pieces = start + len(token.text), start, []
        for first, last, instead in spans:
            if first < end and last > start:
                # The replacement goes where the quotation begins.
                pieces += [token.text[cursor - start : first - start], instead] * (first >= start)
                cursor = min(last, end)
        if cursor == start and not pieces:
            tokens.append(token)
        else:
            joined = "".join([*pieces, token.text[cursor - start :]])
            tokens += [Token(text=joined, logprob=None)] * bool(joined)
        start = end
    return text, tuple(tokens)
