"""Counterfactual dialogues: the last utterance of the system rewritten to flip satisfaction.

A language model gets a dialogue in a few-shot prompt (`read_template`, `ask`), and what it answers
is cleaned (`clean_answer`); rules of this project do the same as a baseline (`rewrite_by_rule`).
Either way a `Rewriting` comes out for each dialogue, with the fault of an answer that cannot be
used: nothing is dropped in silence.

Source: abolghasemi2026, section 3.4.1 and Figure 3.6 (what the prompt holds; the words here are
this project's).
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template

import pandas as pd

from everycell.collections.user_satisfaction import (
    COUNTERFACTUAL,
    SYSTEM,
    USER,
    Sample,
    frame_samples,
    samples_frame,
)
from everycell.language_models import templates
from everycell.language_models.generation import Answer, Message, Request
from everycell.language_models.settings import Decoding

#: Template that a prompt is made of, if the user names no other.
TEMPLATE = Path(__file__).parent / "templates" / "counterfactual.txt"
#: Slots of a template: a name -> what stands there, and whether a template must have it.
SLOTS: templates.Slots = {
    "dialogue": ("the dialogue, an utterance a line, each after its speaker", True),
    "label": ("satisfied or dissatisfied: the user now", False),
    "wanted": ("the same, as it shall be", False),
}
#: Why an answer cannot be used -> what that means.
FAULTS: Mapping[str, str] = {
    "empty": "no word",
    "refusal": "the model speaks of itself or its task instead of doing it",
    "another language": "not English",
    "over-long": "cut at the most tokens, or more words than allowed",
    "unchanged": "the utterance that was to be rewritten",
    "copied": "another utterance of the dialogue",
}
#: Words of an utterance. The longest of the released counterfactuals of MultiWOZ has 46.
LONGEST = 60


@dataclass(frozen=True)
class Rewriting:
    """What became of a dialogue's last utterance.

    Attributes
    ----------
    sample : Sample
        The original.
    text : str
        The new utterance, as far as there is one; kept where it has a fault, too.
    fault : str
        One of `FAULTS`, or "".
    raw : str
        What the model answered, or the name of the rule.
    """

    sample: Sample
    text: str
    fault: str
    raw: str


def dialogue_text(sample: Sample) -> str:
    r"""A dialogue as text, an utterance a line.

    Examples
    --------
    >>> dialogue_text(Sample("1", "toy", (("USER", "A taxi?"), ("SYSTEM", "At 8.")), True))
    'USER: A taxi?\nSYSTEM: At 8.'
    """
    return "\n".join(f"{speaker}: {text}" for speaker, text in sample.turns)


def read_template(path: Path = TEMPLATE) -> Template:
    """Read a prompt template with the slots `SLOTS` (`everycell.language_models.templates`).

    Raises
    ------
    everycell.language_models.templates.TemplateError
        The file cannot be used.

    Examples
    --------
    >>> read_template().get_identifiers()
    ['dialogue']
    """
    return templates.read_template(path, SLOTS, last="dialogue")


def prompt(template: Template, sample: Sample) -> tuple[Message, ...]:
    """Messages that ask for a counterfactual of a sample.

    Examples
    --------
    >>> sample = Sample("1", "toy", (("USER", "A taxi?"), ("SYSTEM", "At 8.")), True)
    >>> prompt(Template("Make it $wanted: $dialogue"), sample)[0].content[:29]
    'Make it dissatisfied: USER: A'
    >>> [message.role for message in prompt(read_template(), sample)]
    ['system', 'user', 'assistant', 'user', 'assistant', 'user']
    """
    names = {True: "satisfied", False: "dissatisfied"}
    return templates.fill(
        template,
        dialogue=dialogue_text(sample),
        label=names[sample.satisfied],
        wanted=names[not sample.satisfied],
    )


def pick_samples(
    samples: Sequence[Sample], *, satisfied: int, dissatisfied: int, seed: int
) -> list[Sample]:
    """Draw so many samples of each label.

    Parameters
    ----------
    samples
        In any order; the order of the result is theirs.
    satisfied, dissatisfied : int
        0 or more; where there are fewer, all are taken.
    seed : int
        Samples of one label do not depend on the number asked for of the other.

    Examples
    --------
    >>> turns = (("USER", "A taxi?"), ("SYSTEM", "At 8."))
    >>> samples = [Sample(str(number), "toy", turns, number > 2) for number in range(9)]
    >>> [sample.id for sample in pick_samples(samples, satisfied=2, dissatisfied=9, seed=1)]
    ['0', '1', '2', '5', '6']
    """
    chosen: set[str] = set()
    for label, number in ((True, satisfied), (False, dissatisfied)):
        ids = sorted(sample.id for sample in samples if sample.satisfied == label)
        random.Random(f"{seed} {label}").shuffle(ids)
        chosen |= set(ids[:number])
    return [sample for sample in samples if sample.id in chosen]


def ask(
    samples: Sequence[Sample],
    answer_all: Callable[[Sequence[Request]], Sequence[Answer]],
    *,
    template: Template,
    decoding: Decoding,
    longest: int = LONGEST,
) -> list[Rewriting]:
    """Let a language model rewrite the last utterance of each dialogue.

    Parameters
    ----------
    samples
        Dialogues with their labels.
    answer_all
        Such as that of `everycell.language_models.recorded.Recorded`, which asks nothing twice and
        goes on where a run was stopped.
    template
        What `read_template` gives.
    decoding
        How answers are generated.
    longest : int
        Words of an utterance, 1 or more.

    Returns
    -------
    list of Rewriting
        One for each sample, in their order.
    """
    requests = [Request(prompt=prompt(template, sample), decoding=decoding) for sample in samples]
    found = []
    for sample, answer in zip(samples, answer_all(requests), strict=True):
        text, fault = clean_answer(answer, sample, longest=longest)
        found.append(Rewriting(sample, text, fault, answer.text))
    return found


#: Words that sentences of a language are built with. No word of the others is an English one.
_ENGLISH = frozenset(
    """
    a an the and or but of to for from with at by on it its is are was were be been has have had do
    does did can could will would shall should may might must not no yes i you he she we they me my
    your our their us them this that these those there here what which who when where why how if any
    some all in
    """.split()
)
_OTHERS = (
    frozenset(
        """
    der das und ist nicht ich sie wir ein eine einen zu mit für auf auch bitte können haben
    het een van voor niet wij jij naar kunt ik en je zijn heb deze
    le les une des est vous nous je ne pas pour avec dans qui sur et aux votre
    el los las una que por para con no está usted puedo su y muy
    il gli che è per di della sono posso non lo un
    o os uma não você em do da seu sua
    """.split()
    )
    - _ENGLISH
)
_SPEAKER = re.compile(
    r"""
    ^[\s*_#>"'`\[(-]*(?:\d+[.)]\s*)?               # emphasis, a quotation, a list
    (?:(?:counterfactual|new|last)\s+)*
    (system|assistant|user|utterance)\b
    (?:\s+(?:counterfactual|new|last|utterance|response|reply|turn)\b)*
    (?:\s*\(\w+\))?[\s*_)]*(?::|\])[\s*_]*
    """,
    re.IGNORECASE | re.VERBOSE,
)
#: What a model notes for itself before it answers, also where it does not come to an end.
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_QUOTES = "\"'`*_“”‘’«» \t"
# What a service says when it cannot help is a good counterfactual, so only words about the model
# and its task are a refusal.
_REFUSAL = re.compile(
    r"\b(as an? (ai|artificial|language model|assistant model)"
    r"|i am an? (ai|large|language)\b|i'm an? (ai|large|language)\b"
    r"|language model|counterfactual|my (guidelines|programming|training|policies)"
    r"|(can ?not|can't|won't|unable to|not able to|not comfortable) "
    r"(?:\w+ ){0,3}?(generate|generating|rewrit\w+|creat\w+|produc\w+|write|writing)\b)",
    re.IGNORECASE,
)


def clean_answer(answer: Answer, sample: Sample, *, longest: int = LONGEST) -> tuple[str, str]:
    r"""Take the utterance out of a model's answer, and say what is wrong with it.

    Of the answer, the first utterance of the system is taken: from "SYSTEM:" on, where that starts
    a line and the user does not speak before it (also as "assistant" or "counterfactual
    utterance"), else from the beginning without a first line that ends with a colon; up to the next
    speaker or empty line; without quotation marks around it. What stands in ``<think>`` is left
    out.

    Parameters
    ----------
    answer
        What the model gave.
    sample
        The dialogue that it was asked about.
    longest : int
        Words that are allowed, 1 or more.

    Returns
    -------
    tuple of str
        Utterance (what there is of it) and the first fault of `FAULTS` that it has, or "".
        Another language is one in other letters than Latin ones, or with more function words of
        German, Dutch, French, Spanish, Italian and Portuguese than of English. "Unchanged" and
        "copied" look at letters and digits only.

    Examples
    --------
    >>> sample = Sample("1", "toy", (("USER", "A taxi?"), ("SYSTEM", "At 8.")), True)
    >>> def cleaned(text, finish="stop"):
    ...     return clean_answer(Answer(text=text, finish=finish), sample)
    >>> cleaned('Sure, here it is:\nSYSTEM: "There is no taxi."\n\nIt lets the user down.')
    ('There is no taxi.', '')
    >>> cleaned("SYSTEM: at 8!")
    ('at 8!', 'unchanged')
    >>> cleaned("")
    ('', 'empty')
    >>> cleaned("As an AI model I cannot be rude.")[1]
    'refusal'
    >>> cleaned("I am sorry, I cannot book a taxi.")[1]
    ''
    >>> cleaned("SYSTEM: No taxi. No taxi. No taxi.", "length")[1]
    'over-long'
    """
    text = _utterance(_THOUGHT.sub("", unicodedata.normalize("NFC", answer.text)))
    words = re.findall(r"[^\W_]+(?:['’]\w+)?", text)
    *before, (_, last) = sample.turns
    if not words:
        fault = "empty"
    elif answer.finish == "refusal" or _REFUSAL.search(text.replace("’", "'")):
        fault = "refusal"
    elif not _is_english(words):
        fault = "another language"
    # Cut inside what was taken: an answer that goes on after its utterance may be cut there.
    elif len(words) > longest or (answer.finish == "length" and _runs_to_the_end(answer, text)):
        fault = "over-long"
    elif _bare(text) == _bare(last):
        fault = "unchanged"
    elif _bare(text) in {_bare(said) for _, said in before}:
        fault = "copied"
    else:
        fault = ""
    return text, fault


def _speaker(label: re.Match[str]) -> str:
    return USER if label[1].upper() == USER else SYSTEM


def _utterance(text: str) -> str:
    lines = text.strip().splitlines()
    speakers = {
        number: _speaker(found)
        for number, line in enumerate(lines)
        if (found := _SPEAKER.match(line))
    }
    # Where the user speaks next, what stands before that is the answer.
    before_user = bool(speakers) and min(speakers) > 0 and speakers[min(speakers)] == USER
    starts = [number for number, speaker in speakers.items() if speaker == SYSTEM]
    if starts and not before_user:
        lines = lines[starts[0] :]
        # The utterance may stand below its label, or have two of them.
        while lines:
            found = _SPEAKER.match(lines[0])
            if lines[0].strip(_QUOTES) and (not found or _speaker(found) == USER):
                break
            rest = lines[0][found.end() :] if found else ""
            lines = [rest] * bool(rest.strip(_QUOTES)) + lines[1:]
    elif len(lines) > 1 and lines[0].rstrip(_QUOTES).endswith(":"):
        lines = lines[1:]
        while lines and not lines[0].strip():
            lines = lines[1:]
    taken: list[str] = []
    for line in lines:
        if _SPEAKER.match(line) or (taken and not line.strip()):
            break
        taken.append(line.strip())
    return " ".join(taken).strip(_QUOTES)


def _runs_to_the_end(answer: Answer, text: str) -> bool:
    return _bare(answer.text).endswith(_bare(text))


def _is_english(words: Sequence[str]) -> bool:
    letters = [letter for word in words for letter in word if letter.isalpha()]
    foreign = sum(not unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    if foreign > len(letters) / 4:
        return False
    lowered = [word.lower().partition("'")[0] for word in words]
    return sum(word in _OTHERS for word in lowered) <= sum(word in _ENGLISH for word in lowered)


def _bare(text: str) -> str:
    """Letters and digits of a text, in small letters."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


@dataclass(frozen=True)
class _Slot:
    """Something that users state: how it is found, what else it can be, how one asks for it."""

    pattern: re.Pattern[str]
    others: tuple[str, ...]
    question: str


def _slot(pattern: str, others: str, question: str) -> _Slot:
    return _Slot(re.compile(pattern, re.IGNORECASE), tuple(others.split()), question)


_NUMBER = r"\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten"
#: The value is the group of each pattern.
_SLOTS: Mapping[str, _Slot] = {
    "area": _slot(
        r"\b(north|south|east|west|cent(?:re|er))\b",
        "north south east west centre",
        "Which part of town would you like?",
    ),
    "price": _slot(
        r"\b(cheap|moderate|expensive)(?=ly\b|\b)",
        "cheap moderate expensive",
        "What price range do you have in mind?",
    ),
    "day": _slot(
        r"\b((?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
        "Which day would that be?",
    ),
    "time": _slot(
        r"\b(\d{1,2}:\d{2})\b", "06:20 09:10 13:40 16:05 20:50 22:15", "At what time should it be?"
    ),
    "people": _slot(
        rf"\b({_NUMBER})(?= (?:people|persons?|guests?|passengers?|tickets?|of us)\b)",
        "2 3 4 5 6 7 8",
        "How many people will there be?",
    ),
    "nights": _slot(
        rf"\b({_NUMBER})(?= nights?\b)", "2 3 4 5 6 7", "How many nights will you stay?"
    ),
    "stars": _slot(
        rf"\b({_NUMBER})(?=[ -]stars?\b)", "1 2 3 4 5", "How many stars should it have?"
    ),
}
#: What the rules are called -> what they do.
RULES: Mapping[str, str] = {
    "contradiction": "a value that the user gave and the system repeats is exchanged",
    "asked again": "the system asks for a value that the user gave",
    "not answered": "the system cannot do it, or does not know",
    "confirmed": "the booking that the user asks for is made, with the values that they gave",
    "answered": "the user's question is answered",
    "met": "what the user wants has been found, with the values that they gave",
}
_CANNOT = (
    "I am afraid I cannot do that. Is there anything else?",
    "Sorry, I do not know that. Can I help you with something else?",
    "That did not work, and I cannot say why. Please try again another day.",
    "I have nothing like that in my system.",
)
_MORE = (" Is there anything else?", " Can I do more for you?", "")
_BOOKING = re.compile(r"\b(book\w*|reserv\w*|tickets?|table)\b", re.IGNORECASE)
_OPEN = re.compile(r"\b(what|which|when|where|how|phone|postcode|address|number)\b", re.IGNORECASE)


def stated(turns: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Values that the user gave in a dialogue, the last one where there are several.

    Parameters
    ----------
    turns
        Speakers and texts.

    Returns
    -------
    dict of str to str
        Slot -> value: area, price, day, time, people, nights, stars.

    Examples
    --------
    >>> stated([("USER", "A cheap room for 3 people"), ("USER", "Sorry, for four people.")])
    {'price': 'cheap', 'people': 'four'}
    """
    said = [text for speaker, text in turns if speaker == USER]
    found = {}
    for name, slot in _SLOTS.items():
        values = [match[1] for text in said for match in slot.pattern.finditer(text)]
        if values:
            found[name] = values[-1]
    return found


def rewrite_by_rule(sample: Sample, *, seed: int) -> Rewriting:
    """Rewrite the last utterance by one of the project's rules, drawn from those that apply.

    Satisfaction is turned round by "contradiction", "asked again" or "not answered",
    dissatisfaction by "confirmed" where the last utterance of the user speaks of booking, by
    "answered" where it is a question, and else by "met". The rules know seven kinds of values
    (`stated`) and no facts: an answer to a question is made up, as a model's is.

    Parameters
    ----------
    sample
        A dialogue with its label.
    seed : int
        With the id of the sample it gives the draw, so that no other sample has a part in it.

    Returns
    -------
    Rewriting
        `raw` is the name of the rule; there is never a fault.

    Examples
    --------
    >>> asked = ("USER", "A table on Friday for 3 people?")
    >>> booked = Sample("1", "toy", (asked, ("SYSTEM", "It is booked for Friday.")), True)
    >>> made = rewrite_by_rule(booked, seed=1)
    >>> made.raw, made.text
    ('not answered', 'That did not work, and I cannot say why. Please try again another day.')
    >>> failed = Sample("2", "toy", (asked, ("SYSTEM", "We have no taxis.")), False)
    >>> rewrite_by_rule(failed, seed=3).text
    'Your booking is made: Friday, 3 people. The reference is WGUFLL.'
    """
    draw = random.Random(f"{seed} {sample.id}")
    values = stated(sample.turns)
    rule, text = (_let_down if sample.satisfied else _serve)(sample, values, draw)
    return Rewriting(sample, text, "", rule)


def _let_down(sample: Sample, values: Mapping[str, str], draw: random.Random) -> tuple[str, str]:
    said = sample.turns[-1][1]
    repeated = [
        (name, match)
        for name, value in values.items()
        for match in _SLOTS[name].pattern.finditer(said)
        if match[1].casefold() == value.casefold()
    ]
    rules = ["contradiction"] * bool(repeated) + ["asked again"] * bool(values) + ["not answered"]
    rule = draw.choice(rules)
    if rule == "contradiction":
        name, match = draw.choice(repeated)
        known = values[name].casefold()
        other = draw.choice([value for value in _SLOTS[name].others if value.casefold() != known])
        return rule, said[: match.start(1)] + other + said[match.end(1) :]
    if rule == "asked again":
        return rule, _SLOTS[draw.choice(list(values))].question
    return rule, draw.choice(_CANNOT)


def _serve(sample: Sample, values: Mapping[str, str], draw: random.Random) -> tuple[str, str]:
    asked = next((text for who, text in reversed(sample.turns) if who == USER), "")
    more = draw.choice(_MORE)
    code = "".join(draw.choices("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=6))
    units = {"people": "{} people", "nights": "{} nights", "stars": "{} stars"}
    given = {name: units.get(name, "{}").format(value) for name, value in values.items()}
    if _BOOKING.search(asked):
        details = [given[name] for name in ("day", "time", "people", "nights") if name in given]
        listed = f": {', '.join(details)}" if details else ""
        return "confirmed", f"Your booking is made{listed}. The reference is {code}.{more}"
    if asked.rstrip().endswith("?"):
        if _OPEN.search(asked):
            return "answered", f"Certainly, it is {code}.{more}"
        return "answered", f"Yes, that is so, I have just checked it for you.{more}"
    details = [given[name] for name in ("price", "stars", "area", "day", "time") if name in given]
    listed = f" ({', '.join(details)})" if details else ""
    return "met", f"I have found just what you want{listed}. Shall I book it for you?"


def rewritten(rewriting: Rewriting) -> Sample:
    """The dialogue with its new last utterance and the other label, whatever its fault.

    Examples
    --------
    >>> sample = Sample("1", "toy", (("USER", "A taxi?"), ("SYSTEM", "At 8.")), True)
    >>> rewritten(Rewriting(sample, "At 8.", "unchanged", "")).id
    '1-cf'
    """
    sample = rewriting.sample
    return replace(
        sample,
        id=f"{sample.id}{COUNTERFACTUAL}",
        turns=(*sample.turns[:-1], (SYSTEM, rewriting.text)),
        satisfied=not sample.satisfied,
    )


def counterfactual(rewriting: Rewriting) -> Sample | None:
    """The dialogue with its new last utterance and the other label; None if it has a fault.

    Whether the label really is the other one is for annotators to say
    (`everycell.dialogue.annotation`).

    Examples
    --------
    >>> sample = Sample("1", "toy", (("USER", "A taxi?"), ("SYSTEM", "At 8.")), True)
    >>> made = counterfactual(Rewriting(sample, "No taxi.", "", ""))
    >>> made.id, made.turns[-1], made.satisfied
    ('1-cf', ('SYSTEM', 'No taxi.'), False)
    >>> counterfactual(Rewriting(sample, "", "empty", ""))
    """
    return None if rewriting.fault else rewritten(rewriting)


def rewritings_frame(rewritings: Sequence[Rewriting]) -> pd.DataFrame:
    """Rewritings as a frame that Parquet keeps.

    Returns
    -------
    pandas.DataFrame
        Columns `id`, `benchmark`, `turns`, `satisfied` (of the original), `text`, `fault`, `raw`.

    Examples
    --------
    >>> sample = Sample("1", "toy", (("USER", "A taxi?"), ("SYSTEM", "At 8.")), True)
    >>> made = [Rewriting(sample, "No taxi.", "", "SYSTEM: No taxi.")]
    >>> frame_rewritings(rewritings_frame(made)) == made
    True
    """
    frame = samples_frame(made.sample for made in rewritings)
    for column in ("text", "fault", "raw"):
        frame[column] = [getattr(made, column) for made in rewritings]
    return frame


def frame_rewritings(frame: pd.DataFrame) -> list[Rewriting]:
    """Rewritings of a frame made by `rewritings_frame`, also after Parquet; see there."""
    parts = (frame[column] for column in ("text", "fault", "raw"))
    return [Rewriting(*row) for row in zip(frame_samples(frame), *parts, strict=True)]


def count_faults(rewritings: Sequence[Rewriting]) -> pd.DataFrame:
    """What became of answers, by the label of the original.

    Returns
    -------
    pandas.DataFrame
        Columns `row` (Satisfaction, Dissatisfaction), `answer` ("usable", then `FAULTS`),
        `metric` ("count"), `value`; a row for each, also where there is none.

    Examples
    --------
    >>> sample = Sample("1", "toy", (("USER", "A taxi?"), ("SYSTEM", "At 8.")), True)
    >>> counts = count_faults([Rewriting(sample, "", "empty", "")])
    >>> counts[counts["value"] > 0].to_numpy().tolist()
    [['Satisfaction', 'empty', 'count', 1]]
    """
    counts = Counter((made.sample.satisfied, made.fault or "usable") for made in rewritings)
    rows = [
        (row, answer, "count", counts[label, answer])
        for row, label in (("Satisfaction", True), ("Dissatisfaction", False))
        for answer in ("usable", *FAULTS)
    ]
    return pd.DataFrame(rows, columns=["row", "answer", "metric", "value"])
