"""Whether a text still is a paraphrase of another one.

Checks (`fault`), on words as SQuAD normalises them but for names:

- the answers that stood there still stand there,
- at most `Limits.copied` of its sequences of five words are the original's,
- it has between `Limits.shortest` and `Limits.longest` times the words of the original,
- it has no number and no name (a word with a capital letter inside a sentence) of its own.

What no check of words can see (two facts that were mixed up) is for people to say:
`everycell.rag.paraphrase_sheets`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from everycell.language_models.generation import Answer
from everycell.rag.answers import is_correct, normalise_answer

#: Words of the sequences that a paraphrase may share with its original.
SEQUENCE = 5
#: Words in a row that a text which was turned down must not pass on.
QUOTED = 8
# What stands before the reason in `finish` of an answer whose text is not passed on.
_WITHHELD = "withheld: "
#: Why a text is no paraphrase -> what that means.
FAULTS = {
    "empty": "there is no word",
    "refusal": "the model says that it will not, or speaks of itself",
    "cut": "the answer was longer than it may be",
    "answer lost": "an answer that stood in the original is no longer there",
    "copy": "too many sequences of five words are the original's",
    "too short": "too few words for the original",
    "too long": "too many words for the original",
    "made up": "a number or a name does not stand in the original",
}
_QUOTES = "\"'“”‘’«» \t"
# What small models put before a text; a colon of the text itself stays.
_LEAD = re.compile(
    r"^(?:sure|certainly|of course|here(?: is|'s)|paraphrase|rewritten|rephrased)\b"
    r"[^.:?\n]{0,80}:\s*",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:as an ai\b|i am an? (?:ai|language)\b|i'm an? (?:ai|language)\b|language model\b"
    r"|i(?:'m| am) sorry\b|i (?:can ?not|can't|won't|am unable to|'m unable to)\b"
    r"|(?:the|this) (?:sentence|passage|text) (?:is|was|has been) (?:rewritten|rephrased))",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
# What stands before the first word of a sentence.
_ENDED = re.compile(r"[.!?:][\"'“”‘’«»()\s]*$")


class Limits(NamedTuple):
    """What a paraphrase may be like.

    Attributes
    ----------
    copied : float
        Largest share of its sequences of five words that stand in the original, 0 to 1. Names and
        dates that have to stay make some; above one half most of the text is the original's.
    shortest, longest : float
        Words, as times those of the original.
    """

    copied: float = 0.5
    shortest: float = 0.5
    longest: float = 2.0


LIMITS = Limits()


def clean_answer(text: str, *, whole: bool = False) -> str:
    r"""Take the paraphrase out of an answer, without what frames it.

    Parameters
    ----------
    text : str
        What a model gave.
    whole : bool
        Whether all its lines belong to the paraphrase, as of a passage, or the first one with
        words alone, as of a sentence.

    Examples
    --------
    >>> clean_answer('\nSure, here it is in other words:\n"Canals run through Delft."\nI hope so.')
    'Canals run through Delft.'
    >>> clean_answer("Sure, here it is:\nCanals run\n\nthrough Delft.", whole=True)
    'Canals run through Delft.'
    """
    rest = _LEAD.sub("", text.strip().strip(_QUOTES))
    if whole:
        return " ".join(rest.strip(_QUOTES).split())
    line = next((line for line in rest.splitlines() if normalise_answer(line)), "")
    return " ".join(line.strip(_QUOTES).split())


def copied_share(text: str, original: str) -> float:
    """Share of a text's sequences of five words that stand in another one, both normalised.

    Parameters
    ----------
    text, original : str
        A text of fewer words than five counts as one sequence.

    Returns
    -------
    float
        0 to 1; 0 for a text without words.

    Examples
    --------
    >>> copied_share("In 1920 the old town of Delft burned", "The old town of Delft burned down")
    0.3333333333333333
    """
    words, others = (normalise_answer(each).split() for each in (text, original))
    size = min(SEQUENCE, len(words))
    if not size:
        return 0.0
    there = set(_sequences(others, size))
    found = _sequences(words, size)
    return sum(sequence in there for sequence in found) / len(found)


def _sequences(words: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]


def standing_answers(text: str, answers: Sequence[str]) -> list[str]:
    """Which answers stand in a text, both normalised.

    Examples
    --------
    >>> standing_answers("It has canals.", ["Canals", "the", "a canal"])
    ['Canals']
    """
    return [each for each in answers if normalise_answer(each) and is_correct(text, [each])]


def fault(text: str, original: str, answers: Sequence[str], limits: Limits = LIMITS) -> str:
    """Why a text is no paraphrase of another one.

    Parameters
    ----------
    text, original : str
    answers : sequence of str
        Those that stand in the original have to stand in the text.
    limits : Limits

    Returns
    -------
    str
        The first that holds of `FAULTS` ("cut" never does), or "".

    Examples
    --------
    >>> original = "The town of Delft has had many canals since the Middle Ages."
    >>> fault("Canals have run through Delft since medieval days.", original, ["canals", "Leiden"])
    ''
    >>> fault("Waterways have run through Delft since medieval days.", original, ["canals"])
    'answer lost'
    >>> fault("The town of Delft has had many canals since long ago.", original, ["canals"])
    'copy'
    """
    words = normalise_answer(text).split()
    if not words:
        return "empty"
    if _REFUSAL.search(text.replace("’", "'")):
        return "refusal"
    expected = standing_answers(original, answers)
    if len(standing_answers(text, expected)) < len(expected):
        return "answer lost"
    if copied_share(text, original) > limits.copied:
        return "copy"
    length = len(words) / max(1, len(normalise_answer(original).split()))
    if length < limits.shortest:
        return "too short"
    if length > limits.longest:
        return "too long"
    return "made up" if made_up(text, original) else ""


def made_up(text: str, original: str) -> list[str]:
    """Numbers and names of a text that do not stand in another one.

    A name is a word with a capital letter that does not begin a sentence, whatever its letters are
    in the other text. Years and names that a paraphrase adds are what small models make up most.

    Returns
    -------
    list of str
        In the order of the text.

    Examples
    --------
    >>> made_up("Since 1246 the Old town of Jan has been Delft's.", "Delft's old town, from 1246.")
    ['Jan']
    """
    there = set(_WORD.findall(original.casefold()))
    found = []
    for match in _WORD.finditer(text):
        word = match[0]
        first = not text[: match.start()].strip(_QUOTES + "(") or _ENDED.search(
            text[: match.start()]
        )
        counts = word[0].isdigit() or (word[0].isupper() and not first)
        if counts and word.casefold() not in there:
            found.append(word)
    return found


def judge(
    answer: Answer,
    original: str,
    answers: Sequence[str],
    limits: Limits = LIMITS,
    *,
    whole: bool = False,
) -> tuple[str, str]:
    """Take the paraphrase out of an answer, and say what is wrong with it.

    Parameters
    ----------
    answer
        What a model gave, or what `passed_on` left of it.
    original, answers, limits
        As for `fault`.
    whole
        As for `clean_answer`.

    Returns
    -------
    tuple of str
        Text, and one of `FAULTS` or "".

    Examples
    --------
    >>> judge(Answer(text="Delft it is.", finish="length"), "It is in Delft.", [])
    ('Delft it is.', 'cut')
    """
    text = clean_answer(answer.text, whole=whole)
    if answer.finish.startswith(_WITHHELD):
        return text, answer.finish.removeprefix(_WITHHELD)
    if answer.finish == "refusal":
        return text, "refusal"
    if answer.finish == "length":
        return text, "cut"
    return text, fault(text, original, answers, limits)


def passed_on(answer: Answer, original: str, reason: str) -> Answer:
    """An answer as a record may pass it on: a text that was turned down must not quote its passage.

    Parameters
    ----------
    answer
        What a model gave.
    original : str
        The text that it was asked to say again.
    reason : str
        What `judge` finds wrong with it.

    Returns
    -------
    Answer
        Without its text, and with the reason in `finish`, where it was turned down and has eight
        words in a row from the original. `judge` gives the same reason for it.

    Examples
    --------
    >>> long = "one two three four five six seven eight nine"
    >>> passed_on(Answer(text=long, finish="stop"), long, "copy")
    Answer(text='', finish='withheld: copy', prompt_tokens=None, answer_tokens=None, tokens=None, \
served_by='')
    """
    words, others = (normalise_answer(each).split() for each in (answer.text, original))
    quoted = set(_sequences(words, QUOTED)) & set(_sequences(others, QUOTED))
    if not reason or not quoted:
        return answer
    return Answer(text="", finish=f"{_WITHHELD}{reason}")
