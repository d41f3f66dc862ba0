"""Faithfulness of citations: change documents, generate the answer again, compare citations.

A citation is *correct* if the document supports the statement, and *faithful* if the statement was
also derived from it. A model that answers first and then searches for documents to cite
(post-rationalisation) can be correct without being faithful. The test of heuss2025, section 5.5:

1. An answer has statements, each with the documents that it cites.
2. A statement is appended to an unrelated document (`instances`).
3. The question is asked again with this document among the others.
4. Does the statement occur again, and does it now cite the forged document (`try_instance`)?

Step 4 is evidence only if the forged document does not support the statement: a reader that accepts
the bare words as support cites it in good faith. Each instance therefore has controls. They test
whether the statement is recovered from the documents cited before, from the forged document alone,
or (our own control) from documents without its words, which only memory can explain.

Source: heuss2025, sections 5.4 and 5.5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from everycell.base.arrays import FloatArray
from everycell.base.errors import DataError
from everycell.rag.answers import normalise_answer
from everycell.rag.prompts import named_draws

#: Kinds of forged documents: one added from another question, or one of the list, modified.
KINDS = ("random", "relevant, not cited", "cited for something else")
#: Controls: contexts in which the statement may be recovered.
CONTROLS = ("all cited", "one cited", "forged alone", "statement removed")


#: Units that may be written before or after a number, and marks before its digits.
_UNITS = "%‰°$€£¥"
_SIGNS = rf"[-\u2010-\u2013\u2212<>{_UNITS}]"
_SIGN = re.compile(rf"(?:{_SIGNS}|(?<!\S)\.)+$")
#: What makes digits a part of another number, or of an amount.
_NO_DIGIT_BEFORE = r"(?<!\d[.,:/'\u00a0\u2009\u202f])(?<!\s\.)(?<!^\.)"
_NO_UNIT_BEFORE = rf"(?:(?<![{_UNITS}]\s)|(?<=\d[{_UNITS}]\s)|(?<=\d\s[{_UNITS}]\s))"
_NO_NUMBER_AFTER = rf"(?![-\u2010-\u2013.,:/'\u00a0\u2009\u202f]\d|\s?[{_UNITS}](?!\d))"
_NUMBER = r"\d(?:[\d.,'\u00a0\u2009\u202f]*\d)?"
#: An amount with its unit before or after it ("€5", "5 €"), or a word.
_TOKEN = re.compile(
    rf"(?<!\w)(?P<before>[{_UNITS}])\s?(?P<first>{_NUMBER})(?!\w|\s?[{_UNITS}])"
    rf"|(?<!\w)(?P<last>{_NUMBER})\s?(?P<after>[{_UNITS}])(?!\w)|\w+"
)


class Statement(NamedTuple):
    """A part of an answer, and the positions of the documents that it cites, from 0."""

    text: str
    documents: tuple[int, ...]


class CitedAnswer(NamedTuple):
    """An answer with citations."""

    statements: tuple[Statement, ...]
    relevant: tuple[int, ...] = ()
    to_cite: tuple[int, ...] = ()
    text: str = ""

    @property
    def cited(self) -> frozenset[int]:
        """Positions of all documents that any statement cites."""
        return frozenset(
            position for statement in self.statements for position in statement.documents
        )


class Instance(NamedTuple):
    """A question with a forged document."""

    question: str
    kind: str
    statement: Statement
    original: tuple[str, ...]
    documents: tuple[str, ...]
    forged: int


#: Function from a question and its documents to an answer.
Answerer = Callable[[str, Sequence[str]], CitedAnswer]
#: Function that decides whether two statements say the same thing.
Same = Callable[[str, str], bool]


def same_words(first: str, second: str) -> bool:
    """Whether one statement contains the other, both normalised; numbers keep their marks."""
    texts = [f" {normalise_answer(text)} " for text in (first, second)]
    shorter, longer = sorted(texts, key=len)
    return bool(shorter.strip()) and shorter in longer


def shared_words(threshold: float) -> Same:
    """Compare statements by the share of the shorter one's words that the longer one contains."""
    if not 0 < threshold <= 1:
        raise DataError(
            column="threshold", value=threshold, expected="a number greater than 0 and at most 1"
        )

    def same(first: str, second: str) -> bool:
        words = [set(normalise_answer(text).split()) for text in (first, second)]
        shorter = min(map(len, words))
        return shorter > 0 and len(words[0] & words[1]) >= threshold * shorter

    return same


def mutual_entailment(
    infer: Callable[[Sequence[tuple[str, str]]], FloatArray], threshold: float
) -> Same:
    """Compare statements by mutual entailment, according to an NLI model."""
    if not 0 <= threshold <= 1:
        raise DataError(column="threshold", value=threshold, expected="a number from 0 to 1")

    @cache
    def same(first: str, second: str) -> bool:
        return bool((infer([(first, second), (second, first)]) >= threshold).all())

    return same


def find_statement(
    statement: str, answer: CitedAnswer, same: Same = same_words
) -> Statement | None:
    """Find the first statement of an answer that says the same as a given one, or None.

    If the text contains the words of the statement without a citation, they count as a statement
    without documents.
    """
    for candidate in answer.statements:
        if same(statement, candidate.text):
            return candidate
    words = f" {normalise_answer(statement)} "
    if words.strip() and words in f" {normalise_answer(answer.text)} ":
        return Statement(statement, ())
    return None


def instances(
    question: str,
    documents: Sequence[str],
    answer: CitedAnswer,
    spare: str,
    rng: np.random.Generator,
) -> Iterator[Instance]:
    """Forge documents from an answer's statements, one of each possible kind."""
    invalid = [position for position in answer.cited if not 0 <= position < len(documents)]
    if invalid:
        raise DataError(
            row=f"question {question!r}",
            column="cited document",
            value=invalid[0] + 1,
            fault=f"but there are {len(documents)} documents",
            fix="give the documents that the answer cites",
        )
    contents = tuple(documents)
    cited = [statement for statement in answer.statements if statement.documents]
    choices: dict[str, list[tuple[Statement, int]]] = {
        KINDS[0]: [(statement, len(contents)) for statement in cited],
        KINDS[1]: [
            (statement, position)
            for statement in cited
            for position in answer.relevant
            if position not in answer.cited
        ],
        KINDS[2]: [
            (statement, position)
            for statement in cited
            for position in sorted(answer.cited)
            if position not in statement.documents
        ],
    }
    for kind, pairs in choices.items():
        if not pairs:
            continue
        statement, position = pairs[int(rng.integers(len(pairs)))]
        base = [*contents, spare] if position == len(contents) else list(contents)
        base[position] = f"{base[position]} {statement.text}"
        yield Instance(question, kind, statement, contents, tuple(base), position)


def without_statement(text: str, statement: str) -> str:
    """Remove a statement from a document wherever its words occur in sequence.

    Numbers must have the same marks, and are not parts of other numbers; "5 €" is "€5" and "€ 5".
    Marks around the words remain, as does punctuation.
    """
    tokens = list(_TOKEN.finditer(statement))
    if not tokens:
        return text
    pattern = _first_pattern(tokens[0], statement[: tokens[0].start()], is_last=len(tokens) == 1)
    for token, following in pairwise(tokens):
        gap = statement[token.end() : following.start()]
        pattern += _next_pattern(token, gap, following, is_last=following is tokens[-1])
    if tokens[-1][0][-1].isdigit() and not _unit(tokens[-1]):
        unit = statement[tokens[-1].end() :].lstrip()[:1]
        has_unit = unit != "" and unit in _UNITS
        pattern += rf"(?=\s?{re.escape(unit)})" if has_unit else _NO_NUMBER_AFTER
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", "", text, flags=re.IGNORECASE)


def _unit(token: re.Match[str]) -> str:
    return re.escape(token["before"] or token["after"] or "")


def _amount_pattern(token: re.Match[str], before: str, start: str = "", *, is_last: bool) -> str:
    """Pattern of an amount with its unit before the number (as `before`), or after it."""
    unit, number = _unit(token), re.escape(token["first"] or token["last"])
    with_unit, without_unit = rf"{before}{number}", rf"{start}{number}"
    if not is_last:
        return rf"(?:{with_unit}|{without_unit}\s*{unit})"
    return rf"(?:{with_unit}{_NO_NUMBER_AFTER}|{without_unit}(?=\s?{unit}(?!\d)))"


def _first_pattern(token: re.Match[str], before: str, *, is_last: bool) -> str:
    """Pattern of the first word or amount of a statement; its marks must precede it."""
    unit = _unit(token)
    if not token[0][0].isdigit() and not unit:
        return re.escape(token[0])
    sign = _SIGN.search(before)
    mark = re.escape(sign[0]) if sign else ""
    start = rf"(?<={mark})(?<!{_SIGNS}{mark})"
    if not sign:
        start += _NO_DIGIT_BEFORE + _NO_UNIT_BEFORE * (before.rstrip()[-1:] not in tuple(_UNITS))
    if not unit:
        return start + re.escape(token[0])
    # A unit after another number belongs to that number: "10 € 5 kg" has no "5 €".
    with_unit = rf"(?:(?<={mark}{unit})(?<!{_SIGNS}{mark}{unit})"
    with_unit += rf"|(?<={mark}{unit}\s)(?<!{_SIGNS}{mark}{unit}\s)"
    with_unit += rf"(?<!\d{mark}{unit}\s)(?<!\d\s{mark}{unit}\s))"
    return _amount_pattern(token, with_unit, start, is_last=is_last)


def _next_pattern(
    token: re.Match[str], gap: str, following: re.Match[str], *, is_last: bool
) -> str:
    """Pattern of a word or amount of a statement, and of what separates it from the one before."""
    unit = _unit(following)
    is_number = following[0][0].isdigit() or unit != ""
    is_in_number = token[0][-1].isdigit() and is_number and gap.split() == [gap]
    between = re.escape(gap) if is_in_number or not gap else rf"[^\w<>{_UNITS}]+"
    # "p < .05" is not "p > .05", and "5 € a day" is not "5 a day".
    sign = is_number and _SIGN.search(gap)
    if set(gap) & {"<", ">", *_UNITS} or (sign and not is_in_number):
        between = rf"\s*{re.escape(gap.strip())}\s*"
    elif is_number and gap and not is_in_number:
        between += rf"(?<!\s{_SIGNS})(?<!\s\.)"
    if not unit:
        return between + re.escape(following[0])
    return between + _amount_pattern(following, rf"{unit}\s*", is_last=is_last)


def try_instance(
    instance: Instance, ask: Answerer, *, seed: int, same: Same = same_words
) -> dict[str, object]:
    """Ask again with the forged document, and with the documents of each control."""
    question, statement = instance.question, instance.statement
    match = find_statement(statement.text, ask(question, instance.documents), same)
    cites_forged = match is not None and instance.forged in match.documents
    row: dict[str, object] = {
        "question": question,
        "kind": instance.kind,
        "recovered": match is not None,
        "cites_forged": cites_forged,
    }

    def is_recovered(documents: Sequence[str]) -> bool:
        return find_statement(statement.text, ask(question, documents), same) is not None

    cited = [instance.original[position] for position in statement.documents]
    drawn = int(named_draws(f"{seed}\t{question}\t{instance.kind}").integers(len(cited)))
    contexts = {
        "all cited": cited,
        "one cited": [cited[drawn]],
        "forged alone": [instance.documents[instance.forged]],
    }
    for name, documents in contexts.items():
        row[name] = is_recovered(documents) if cites_forged else None
    without = [without_statement(text, statement.text) for text in instance.original]
    row["statement removed"] = is_recovered(without)
    return row


def share(count: int, total: int, level: float = 0.95) -> tuple[float, float, float]:
    """A share in percent with its exact binomial interval (Clopper-Pearson)."""
    low, high = proportion_confint(count, total, alpha=1 - level, method="beta")
    return 100 * count / total, 100 * float(low), 100 * float(high)


def outcomes(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """Counts and shares of each kind of instance (Figures 5.6 and 5.7)."""
    table = pd.DataFrame(list(rows))
    records = []
    for kind in (kind for kind in KINDS if (table["kind"] == kind).any()):
        tried = table[table["kind"] == kind]
        recovered = tried[tried["recovered"].astype(bool)]
        unfaithful = recovered[recovered["cites_forged"].astype(bool)]
        outcomes_by_metric = {
            "recovered": tried["recovered"],
            "cites the forged document": recovered["cites_forged"],
            **{name: unfaithful[name] for name in CONTROLS[:3]},
            "statement removed": tried["statement removed"],
        }
        for metric, values in outcomes_by_metric.items():
            if len(values):
                count = int(values.astype(bool).sum())
                records.append((kind, metric, count, len(values), *share(count, len(values))))
    return pd.DataFrame(records, columns=["kind", "metric", "count", "of", "value", "low", "high"])
