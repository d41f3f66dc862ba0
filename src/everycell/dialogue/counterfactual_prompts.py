"""Counterfactual utterances by a language model: prompt, and answers cleaned.

Source: abolghasemi2026, section 3.4.1 and Figure 3.6 (what the prompt holds; the words here are
this project's).
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from string import Template

from everycell.collections.satisfaction_samples import (
    SYSTEM,
    USER,
    Sample,
)
from everycell.dialogue.counterfactuals import Rewriting, dialogue_text
from everycell.language_models import templates
from everycell.language_models.generation import Answer, Message, Request
from everycell.language_models.settings import Decoding

#: Default template of the prompt.
TEMPLATE = Path(__file__).parent / "templates" / "counterfactual.txt"
#: Slots of a template: name -> content, and whether a template must have it.
SLOTS: templates.Slots = {
    "dialogue": ("the dialogue, an utterance a line, each after its speaker", True),
    "label": ("satisfied or dissatisfied: the user now", False),
    "wanted": ("the same, as it shall be", False),
}
#: Largest number of words in an utterance. The longest released counterfactual of MultiWOZ has 46.
LONGEST = 60


def read_template(path: Path = TEMPLATE) -> Template:
    """Read a prompt template with the slots `SLOTS` (`everycell.language_models.templates`)."""
    return templates.read_template(path, SLOTS, last="dialogue")


def prompt(template: Template, sample: Sample) -> tuple[Message, ...]:
    """Messages that ask for a counterfactual of a sample."""
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
    """Draw a given number of samples of each label."""
    picked: set[str] = set()
    for label, number in ((True, satisfied), (False, dissatisfied)):
        ids = sorted(sample.id for sample in samples if sample.satisfied == label)
        random.Random(f"{seed} {label}").shuffle(ids)
        picked |= set(ids[:number])
    return [sample for sample in samples if sample.id in picked]


def ask(
    samples: Sequence[Sample],
    answer_all: Callable[[Sequence[Request]], Sequence[Answer]],
    *,
    template: Template,
    decoding: Decoding,
    longest: int = LONGEST,
) -> list[Rewriting]:
    """Let a language model rewrite the last utterance of each dialogue."""
    requests = [Request(prompt=prompt(template, sample), decoding=decoding) for sample in samples]
    counterfactuals = []
    for sample, answer in zip(samples, answer_all(requests), strict=True):
        text, fault = clean_answer(answer, sample, longest=longest)
        counterfactuals.append(Rewriting(sample, text, fault, answer.text))
    return counterfactuals


#: Function words of English, and of other languages; none of the latter is an English word.
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
#: A model's notes to itself before it answers, even if unfinished.
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_QUOTES = "\"'`*_“”‘’«» \t"
# A service's statement that it cannot help is a good counterfactual, so only words about the
# model and its task count as a refusal.
_REFUSAL = re.compile(
    r"\b(as an? (ai|artificial|language model|assistant model)"
    r"|i am an? (ai|large|language)\b|i'm an? (ai|large|language)\b"
    r"|language model|counterfactual|my (guidelines|programming|training|policies)"
    r"|(can ?not|can't|won't|unable to|not able to|not comfortable) "
    r"(?:\w+ ){0,3}?(generate|generating|rewrit\w+|creat\w+|produc\w+|write|writing)\b)",
    re.IGNORECASE,
)


def clean_answer(answer: Answer, sample: Sample, *, longest: int = LONGEST) -> tuple[str, str]:
    """Extract the utterance from a model's answer, and say what is wrong with it.

    The first utterance of the system in the answer is taken: from "SYSTEM:" on, where that starts
    a line and the user does not speak before it (also as "assistant" or "counterfactual
    utterance"), else from the beginning without a first line that ends with a colon; up to the next
    speaker or empty line; without quotation marks around it. Anything in ``<think>`` is left out.
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
    # Only a cut inside the utterance counts: text after it may be cut.
    elif len(words) > longest or (answer.finish == "length" and _runs_to_the_end(answer, text)):
        fault = "over-long"
    elif _bare(text) == _bare(last):
        fault = "unchanged"
    elif _bare(text) in {_bare(utterance) for _, utterance in before}:
        fault = "copied"
    else:
        fault = ""
    return text, fault


def _speaker(label: re.Match[str]) -> str:
    return USER if label[1].upper() == USER else SYSTEM


def _utterance(text: str) -> str:
    lines = text.strip().splitlines()
    speakers = {
        number: _speaker(match)
        for number, line in enumerate(lines)
        if (match := _SPEAKER.match(line))
    }
    # If the user speaks next, the text before that is the answer.
    before_user = bool(speakers) and min(speakers) > 0 and speakers[min(speakers)] == USER
    starts = [number for number, speaker in speakers.items() if speaker == SYSTEM]
    if starts and not before_user:
        lines = lines[starts[0] :]
        # The utterance may be below its label, or have two labels.
        while lines:
            match = _SPEAKER.match(lines[0])
            if lines[0].strip(_QUOTES) and (not match or _speaker(match) == USER):
                break
            content = lines[0][match.end() :] if match else ""
            lines = [content] * bool(content.strip(_QUOTES)) + lines[1:]
    elif len(lines) > 1 and lines[0].rstrip(_QUOTES).endswith(":"):
        lines = lines[1:]
        while lines and not lines[0].strip():
            lines = lines[1:]
    lines_of_turn: list[str] = []
    for line in lines:
        if _SPEAKER.match(line) or (lines_of_turn and not line.strip()):
            break
        lines_of_turn.append(line.strip())
    return " ".join(lines_of_turn).strip(_QUOTES)


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
    """Letters and digits of a text, in lower case."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))
