"""Removal of quotations from recorded answers of chapter 5 of abolghasemi2026.

Small models repeat passages of their prompt, so a record of their answers would redistribute parts
of a data set. Studies need only the citations of an answer, the gold answers that it contains, and
the reason why it ended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from everycell.language_models.endings import WITHHELD
from everycell.language_models.generation import Answer, Token
from everycell.rag.answers import Match, is_correct, normalise_as_squad, usable_answers
from everycell.rag.citations import find_citations, without_citations

#: Length, in words, from which a quotation must not be published.
QUOTED = 8
#: Replacement for a quotation.
OMITTED = " … "
_WORD = re.compile(r"\w+")


def without_quotations(
    answer: Answer, documents: Sequence[str], gold: Sequence[str]
) -> Answer | None:
    """Omit quotations of `QUOTED` or more words; None if citations or gold answers change."""
    # Reasoning may quote documents too, and it is not needed.
    answer = answer.without_reasoning()
    citations = find_citations(answer.text)
    quoted = _quotations(answer.text, documents, {citation.start for citation in citations})
    spans = [(start, end, _replacement(answer.text[start:end], gold)) for start, end in quoted]
    text, tokens = _replace_spans(answer, spans)
    before, after = (
        (
            [citation.number for citation in find_citations(version)],
            [_gold_matches(version, gold_answer) for gold_answer in gold],
        )
        for version in (answer.text, text)
    )
    if before != after:
        return None
    return answer.model_copy(update={"text": text, "tokens": tokens})


def withhold_quotation(answer: Answer, original: str, reason: str) -> Answer:
    """Withhold the text of a rejected answer that quotes its passage."""
    # Reasoning may quote the passage too.
    answer = answer.without_reasoning()
    words, original_words = (normalise_as_squad(part).split() for part in (answer.text, original))
    quoted = set(_sequences(words)) & set(_sequences(original_words))
    if not reason or not quoted:
        return answer
    return Answer(text="", finish=f"{WITHHELD}{reason}")


def _gold_matches(text: str, gold: str) -> tuple[bool, bool]:
    """Whether a text contains a gold answer, by words and by characters."""
    return _contains(without_citations(text), gold, "squad"), _contains(text, gold, "substring")


def _contains(text: str, gold: str, match: Match) -> bool:
    return bool(usable_answers([gold], match=match)) and is_correct(text, [gold], match=match)


def _replacement(quotation: str, gold: Sequence[str]) -> str:
    return OMITTED + "".join(
        match + OMITTED for answer in gold if (match := _match(quotation, answer)) is not None
    )


def _match(quotation: str, gold: str) -> str | None:
    """A gold answer in a quotation, or the few words that contain its characters."""
    if _contains(without_citations(quotation), gold, "squad"):
        return gold
    words = list(_WORD.finditer(quotation))
    for number in range(1, min(QUOTED, len(words) + 1)):
        for first, last in zip(words, words[number - 1 :], strict=False):
            run = quotation[first.start() : last.end()]
            if _contains(run, gold, "substring"):
                return run
    return None


def _quotations(text: str, documents: Sequence[str], cited: Set[int]) -> list[tuple[int, int]]:
    """Start and end of each quotation; no quotation includes the number of a citation."""
    passages = {
        sequence
        for document in documents
        for sequence in _sequences([word.lower() for word in _WORD.findall(document)])
    }
    words = list(_WORD.finditer(text))
    # No word equals a blank, so a citation ends a quotation.
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


def _replace_spans(
    answer: Answer, spans: Sequence[tuple[int, int, str]]
) -> tuple[str, tuple[Token, ...] | None]:
    """Text and tokens with replaced spans; a changed token loses its probability."""
    text = answer.text
    for first, last, replacement in reversed(spans):
        text = text[:first] + replacement + text[last:]
    if answer.tokens is None:
        return text, None
    tokens: list[Token] = []
    start = 0
    for token in answer.tokens:
        end, cursor, pieces = start + len(token.text), start, []
        for first, last, replacement in spans:
            if first < end and last > start:
                # The replacement is inserted where the quotation begins.
                if first >= start:
                    pieces += [token.text[cursor - start : first - start], replacement]
                cursor = min(last, end)
        if cursor == start and not pieces:
            tokens.append(token)
        else:
            joined = "".join([*pieces, token.text[cursor - start :]])
            tokens += [Token(text=joined, logprob=None)] * bool(joined)
        start = end
    return text, tuple(tokens)
