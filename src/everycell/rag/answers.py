"""Whether a generated answer is right: exact match with normalised gold answers.

Text is normalised as for SQuAD (Rajpurkar et al. 2016): lower case, without ASCII punctuation, the
articles a, an, the, and superfluous blanks. An answer of a sentence equals no gold answer of two
words, so the chapter counts one that *contains* a gold answer (abolghasemi2026, section 5.3.3,
after Gao et al. 2023); its text does not say whether a match may start inside a word, and its
authors' library lets it. Here it may not, unless asked for.

Packages that hold the SQuAD score (torchmetrics, evaluate) bring a deep-learning framework or a
download with them, and neither has the containing form, so it is written out here.
"""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")

Match = Literal["words", "letters", "whole"]


def normalise_answer(text: str) -> str:
    """Text as SQuAD compares it.

    Examples
    --------
    >>> normalise_answer("The  U.S. Open, a tournament")
    'us open tournament'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def usable_answers(gold: Sequence[str]) -> list[str]:
    """Gold answers of which something is left once they are normalised.

    Parameters
    ----------
    gold : sequence of str
        Right answers, perhaps none.

    Examples
    --------
    >>> usable_answers(["The", "-", "The Hague"])
    ['The Hague']
    """
    return [answer for answer in gold if normalise_answer(answer)]


def is_correct(output: str, gold: Sequence[str], *, match: Match = "words") -> bool:
    """Whether an answer matches one of the gold answers, both normalised.

    Parameters
    ----------
    output : str
        What was generated, without its citations
        (`everycell.rag.citations.without_citations`); an empty one is wrong.
    gold : sequence of str
        Right answers, one or more. One that is empty once normalised ("The") matches nothing.
    match : {"words", "letters", "whole"}
        Whether the words of a gold answer must stand in the output, its letters (so that "art" is
        found in "party"), or nothing but it.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        There is no gold answer, or none that is left once normalised.

    Examples
    --------
    >>> is_correct("It was won by Novak Djokovic.", ["Djokovic", "The Djoker"])
    True
    >>> is_correct("A party.", ["art"]), is_correct("A party.", ["art"], match="letters")
    (False, True)
    >>> is_correct("The Party!", ["party"], match="whole")
    True
    """
    answers = [normalise_answer(answer) for answer in usable_answers(gold)]
    if not answers:
        raise ValueError(
            f"The gold answers are {list(gold)}, of which nothing is left once normalised; give a "
            "word, or leave the question out."
        )
    said = normalise_answer(output)
    if match == "whole":
        return said in answers
    if match == "letters":
        return any(answer in said for answer in answers)
    return any(f" {answer} " in f" {said} " for answer in answers)


def answer_holders(
    passages: Mapping[str, str], questions: Mapping[str, Sequence[str]]
) -> list[tuple[str, str]]:
    """Which passages of a pool hold an answer to which questions, by their words.

    That a passage has the words does not mean that it answers the question: a short answer
    ("two") stands in many. Who asks questions with one relevant passage alone is on the safe side.

    Parameters
    ----------
    passages : mapping of str to str
        Id -> text.
    questions : mapping of str to sequence of str
        Id -> right answers. One that is empty once normalised is held by nothing.

    Returns
    -------
    list of tuple
        Pairs of question and passage, in the order of questions, then of passages: those for
        which `is_correct` is true.

    Examples
    --------
    >>> pool = {"d1": "It was won by the Djoker.", "d2": "A party.", "d3": "Djokovic lost."}
    >>> answer_holders(pool, {"q1": ["Djokovic", "Djoker"], "q2": ["art", "The"]})
    [('q1', 'd1'), ('q1', 'd3')]
    """
    texts = {name: f" {normalise_answer(text)} " for name, text in passages.items()}
    # Only texts with all words of an answer are looked into: all pairs would take minutes.
    having = defaultdict[str, set[str]](set)
    for name, text in texts.items():
        for word in text.split():
            having[word].add(name)
    place = {name: number for number, name in enumerate(texts)}
    held = []
    for question, answers in questions.items():
        found = set()
        for answer in filter(None, map(normalise_answer, answers)):
            likely = set.intersection(*(having.get(word, set()) for word in answer.split()))
            found |= {name for name in likely if f" {answer} " in texts[name]}
        held += [(question, name) for name in sorted(found, key=place.__getitem__)]
    return held
