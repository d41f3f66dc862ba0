"""Generation of counterfactual utterances for chapter 3 of abolghasemi2026.

The wording of the prompt is our own (section 3.4.1, Figure 3.6).
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from string import Template

import pandas as pd

from everycell.collections.satisfaction_samples import (
    SYSTEM,
    USER,
    Sample,
    samples_from_frame,
    samples_to_frame,
)
from everycell.jobs.job import Job
from everycell.language_models import templates
from everycell.language_models.answering import model_of_job
from everycell.language_models.generation import Answer, Message, Request
from everycell.language_models.reasoning import without_reasoning
from everycell.language_models.settings import Decoding
from papers.abolghasemi2026.ch3_counterfactuals import (
    Rewriting,
    dialogue_text,
    rewrite_by_rule,
    rewritings_frame,
)
from papers.abolghasemi2026.ch3_data import CAUSE_BENCHMARK
from papers.abolghasemi2026.ch3_planted import plant_dialogues


def generate(job: Job) -> None:
    """Rewritten last utterances of sampled dialogues, by a language model and by rules."""
    params, files = job.params, job.input
    if "samples" in files.keys():
        frame = pd.read_parquet(files.samples)
        main = frame[(frame["part"] == "main") & (frame["benchmark"] == CAUSE_BENCHMARK)]
        samples = samples_from_frame(main)
    else:
        planted = plant_dialogues(**params.planted, seed=job.params.seed)
        samples = list(planted.samples)
        job.write_frame(samples_to_frame(samples), "samples")
    picked = pick_samples(
        samples, satisfied=params.samples, dissatisfied=params.samples, seed=job.params.seed
    )
    generated = rewrite_by_model(job, picked)
    by_rules = [rewrite_by_rule(sample, seed=job.params.seed) for sample in picked]
    job.write_frame(rewritings_frame(generated), "generated")
    job.write_frame(rewritings_frame(by_rules), "rules")


def rewrite_by_model(job: Job, samples: Sequence[Sample]) -> list[Rewriting]:
    """Rewritten last utterances of samples, by the language model of a job."""
    with model_of_job(job.snakemake, job.log) as model:
        return ask(
            samples,
            model.answer_all,
            template=read_template(Path(job.input.template)),
            decoding=Decoding(**job.params.decoding),
            longest=job.params.longest,
        )


#: Default prompt template.
TEMPLATE = Path(__file__).with_name("ch3_counterfactual.txt")
#: Slots of a template: name -> content, and whether a template must have it.
SLOTS: templates.Slots = {
    "dialogue": ("the dialogue, one line per utterance, with its speaker", True),
    "label": ("satisfied or dissatisfied: the label of the dialogue", False),
    "wanted": ("satisfied or dissatisfied: the intended label", False),
}
#: Largest number of words in an utterance. The longest released counterfactual of MultiWOZ has 46.
LONGEST = 60


def read_template(path: Path = TEMPLATE) -> Template:
    """Read a prompt template with the slots `SLOTS`."""
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
    """Draw the given numbers of satisfied and dissatisfied samples."""
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
    """Rewrite the last utterance of each dialogue with a language model."""
    requests = [Request(prompt=prompt(template, sample), decoding=decoding) for sample in samples]
    counterfactuals = []
    for sample, answer in zip(samples, answer_all(requests), strict=True):
        text, fault = clean_answer(answer, sample, longest=longest)
        counterfactuals.append(Rewriting(sample, text, fault, answer.text))
    return counterfactuals


#: Function words of English and of other languages; the second set has no English words.
_ENGLISH = frozenset(
    """
    a an the and or but of to for from with at by on it its is are was were be been has have had do
    does did can could will would shall should may might must not no yes i you he she we they me my
    your our their us them this that these those there here what which who when where why how if any
    some all in
    """.split()
)
_OTHER_LANGUAGES = (
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
    ^[\s*_#>"'`\[(-]*(?:\d+[.)]\s*)?               # emphasis, quotation or list markers
    (?:(?:counterfactual|new|last)\s+)*
    (system|assistant|user|utterance)\b
    (?:\s+(?:counterfactual|new|last|utterance|response|reply|turn)\b)*
    (?:\s*\(\w+\))?[\s*_)]*(?::|\])[\s*_]*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_QUOTES = "\"'`*_“”‘’«» \t"
# A service that says it cannot help is a valid counterfactual, so only words about the model and
# its task count as a refusal.
_REFUSAL = re.compile(
    r"\b(as an? (ai|artificial|language model|assistant model)"
    r"|i am an? (ai|large|language)\b|i'm an? (ai|large|language)\b"
    r"|language model|counterfactual|my (guidelines|programming|training|policies)"
    r"|(can ?not|can't|won't|unable to|not able to|not comfortable) "
    r"(?:\w+ ){0,3}?(generate|generating|rewrit\w+|creat\w+|produc\w+|write|writing)\b)",
    re.IGNORECASE,
)


def clean_answer(answer: Answer, sample: Sample, *, longest: int = LONGEST) -> tuple[str, str]:
    """Extract the utterance from a model's answer, and its fault ("" if there is none).

    The utterance starts at the first line labelled "SYSTEM:" (or "assistant:", "counterfactual
    utterance:"). If there is no such label, or if unlabelled text precedes a line of the user, it
    starts at the beginning of the answer, except that a first line that ends with a colon is
    skipped. It ends at the next speaker or empty line. Surrounding quotation marks and reasoning
    are removed.
    """
    text = _utterance(without_reasoning(unicodedata.normalize("NFC", answer.text)))
    words = re.findall(r"[^\W_]+(?:['’]\w+)?", text)
    *before, (_, last) = sample.turns
    if not words:
        fault = "empty"
    elif answer.finish == "refusal" or _REFUSAL.search(text.replace("’", "'")):
        fault = "refusal"
    elif not _is_english(words):
        fault = "another language"
    # Text after the utterance may be cut off.
    elif len(words) > longest or (answer.finish == "length" and _ends_answer(answer, text)):
        fault = "over-long"
    elif _normalise(text) == _normalise(last):
        fault = "unchanged"
    elif _normalise(text) in {_normalise(utterance) for _, utterance in before}:
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
    # If a line of the user comes next, the text before it is the answer.
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


def _ends_answer(answer: Answer, text: str) -> bool:
    return _normalise(answer.text).endswith(_normalise(text))


def _is_english(words: Sequence[str]) -> bool:
    letters = [letter for word in words for letter in word if letter.isalpha()]
    non_latin = sum(not unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    if non_latin > len(letters) / 4:
        return False
    lowered = [word.lower().partition("'")[0] for word in words]
    return sum(word in _OTHER_LANGUAGES for word in lowered) <= sum(
        word in _ENGLISH for word in lowered
    )


def _normalise(text: str) -> str:
    """Words of a text in lower case, without punctuation."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))
