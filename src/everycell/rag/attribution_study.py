"""The whole study of attribution bias: which prompts are sent, and what the answers cite.

A *setting* says how documents are found and shown: the retriever, how many, where the relevant one
stands, and how authors are named. In each setting every question meets the same arms
(`everycell.rag.attribution_arms`). The settings of abolghasemi2026 are

===========  ============================================================  =====================
name         what is shown                                                 goes into
===========  ============================================================  =====================
main         documents by both kinds of authors, by retrieval              Tables 5.1 to 5.6,
                                                                           5.10 to 5.15
extended     documents by one kind, people under names and machines as AI  Tables 5.7, 5.8
depths       people's documents, named so, the relevant one at a random    Figure 5.9
             place of 2 to 10
retrievers   people's documents, named so, found by learned retrievers     Table 5.9
===========  ============================================================  =====================

Source: abolghasemi2026, sections 5.3 to 5.5, appendices 5.C to 5.E.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Literal, NamedTuple

import pandas as pd

from everycell.engine.foreign import quoted
from everycell.language_models.generation import Answer, NotOfferedError, Request
from everycell.language_models.settings import Decoding
from everycell.metrics.attribution import citation_quality
from everycell.rag.answers import is_correct, usable_answers
from everycell.rag.attribution_arms import MIXED_ARMS, PLAIN_ARMS, Arm, Place, Question
from everycell.rag.attribution_results import ANSWERS
from everycell.rag.citations import (
    Citation,
    Forms,
    citation_logprobs,
    documents,
    find_citations,
    without_citations,
    written_citations,
)
from everycell.rag.draws import named_draws
from everycell.rag.paraphrases import standing_answers
from everycell.rag.prompts import cited_answer_prompt, shown_authors

Labels = Literal["plain", "extended"]
#: People's names for the extended labels, a line each.
NAMES = Path(__file__).parent / "names.txt"
#: Modes of the extended labels: none, people on the relevant document, people on the others (or,
#: where machines wrote all, the other way round).
_EXTENDED_MODES = {
    ("Vanilla", "Vanilla"),
    ("Informed", "CF-informed"),
    ("CF-informed", "Informed"),
}
#: Arms of documents by one kind of author under extended labels.
EXTENDED_ARMS = tuple(arm for arm in MIXED_ARMS if arm[2:] in _EXTENDED_MODES)
#: Of these, those of people's documents.
HUMAN_ARMS = tuple(arm for arm in EXTENDED_ARMS if arm.relevant_author == "Human")


class Setting(NamedTuple):
    """How the documents of a question are found and shown, and under which arms it is asked."""

    name: str
    retriever: str
    k: int
    place: Place
    labels: Labels
    arms: tuple[Arm, ...]


class Asked(NamedTuple):
    """One question as one prompt shows it."""

    setting: Setting
    arm: Arm
    question: Question


def study_settings(
    k: int, depths: Iterable[int], *, first: str = "BM25", others: Iterable[str] = ()
) -> list[Setting]:
    """All settings of the chapter.

    Parameters
    ----------
    k : int
        Documents of a prompt, 1 or more.
    depths : iterable of int
        Numbers of documents of Figure 5.9.
    first : str
        The retriever of all but the last settings.
    others : iterable of str
        The retrievers of Table 5.9.

    Examples
    --------
    >>> found = study_settings(10, [2, 5], others=["SPLADE"])
    >>> [(each.name, each.k, len(each.arms)) for each in found]
    [('main', 10, 16), ('extended', 10, 6), ('depths', 2, 3), ('depths', 5, 3), \
('retrievers', 10, 3)]
    """
    return [
        Setting("main", first, k, "retrieved", "plain", PLAIN_ARMS + MIXED_ARMS),
        Setting("extended", first, k, "retrieved", "extended", EXTENDED_ARMS),
        *(Setting("depths", first, depth, "random", "extended", HUMAN_ARMS) for depth in depths),
        *(Setting("retrievers", name, k, "retrieved", "extended", HUMAN_ARMS) for name in others),
    ]


def read_names(path: Path = NAMES) -> list[str]:
    """People's names for the extended labels.

    Parameters
    ----------
    path : Path
        Text file, UTF-8, a name on each line; blank lines are passed over.

    Raises
    ------
    ValueError
        The file is no text, has no name, one that stands twice, or one with a bracket, which could
        close the label.

    Examples
    --------
    >>> len(read_names())
    100
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as text ({error}); name another file.") from None
    names = [line.strip() for line in text.splitlines()]
    names = [name for name in names if name]
    if not names:
        raise ValueError(f"{path} has no name; write one on each line.")
    for place, name in enumerate(names):
        if name in names[:place] or set(name) & set("()[]"):
            raise ValueError(
                f"{path} has {quoted(name)}, which stands twice or has a bracket; take it out."
            )
    return names


def everything_asked(
    settings: Iterable[Setting], questions: Callable[[Setting, Arm], Sequence[Question]]
) -> list[Asked]:
    """Each question of each setting under each arm, in this order.

    Parameters
    ----------
    settings
        What `study_settings` gives.
    questions
        The questions of a setting and an arm, such as what `pick_questions` gives. Arms of the
        same authors must have the same ones, since their answers are compared in pairs.

    Examples
    --------
    >>> question = Question("q1", ("d7", "d3"), gold=2)
    >>> len(everything_asked(study_settings(2, [2]), lambda setting, arm: [question]))
    25
    """
    return [
        Asked(setting, arm, question)
        for setting in settings
        for arm in setting.arms
        for question in questions(setting, arm)
    ]


def drawn_questions(
    questions: Sequence[Question],
    size: int,
    *,
    authors: tuple[str, str],
    texts: Mapping[str, Mapping[str, str]],
    answers: Mapping[str, Sequence[str]] = MappingProxyType({}),
    seed: int,
) -> list[Question]:
    """The first questions of a drawn order for whose documents there are texts by their authors.

    A passage whose paraphrase lost the answer has no text by [LLM], and the questions that would
    show it are passed over. A paraphrase may have been made for another question, for which the
    passage is not relevant; so that of the relevant document must have all answers that people's
    text has.

    Parameters
    ----------
    questions
        Those that can be asked.
    size : int
        Most of them that are wanted.
    authors : tuple of str
        Who writes the relevant document, and who the others.
    texts
        Texts of each author, by document.
    answers
        Right answers of each question, by its id; of one without any nothing can be lost.
    seed : int
        Of the order, which depends on nothing else but the ids.

    Examples
    --------
    >>> shown = [Question("q1", ("a", "b"), gold=1), Question("q2", ("b", "c"), gold=2)]
    >>> texts = {"Human": {"a": "...", "b": "...", "c": "..."}, "LLM": {"c": "..."}}
    >>> [found.id for found in drawn_questions(shown, 5, authors=("LLM", "Human"), texts=texts,
    ...                                        seed=1)]
    ['q2']
    """
    relevant, other = authors

    def keeps_answers(question: Question) -> bool:
        document = question.documents[question.gold - 1]
        gold = answers.get(question.id, ())
        standing = standing_answers(texts["Human"][document], gold) if gold else []
        return standing_answers(texts[relevant][document], standing) == standing

    found: list[Question] = []
    for question in sorted(questions, key=lambda each: named_draws(f"{seed}\t{each.id}").random()):
        numbered = enumerate(question.documents, start=1)
        shown = all(
            document in texts[relevant if number == question.gold else other]
            for number, document in numbered
        )
        if len(found) < size and shown and keeps_answers(question):
            found.append(question)
    return found


def request_of(
    asked: Asked,
    *,
    question: str,
    text: Callable[[str, str], str],
    templates: tuple[Template, Template],
    decoding: Decoding,
    names: Sequence[str] = (),
    seed: int = 0,
) -> Request:
    """What a language model is asked.

    Parameters
    ----------
    asked
        Which question, and how it is shown.
    question : str
        Its text.
    text : callable
        Text of a document (by its id) as an author ("Human" or "LLM") wrote it.
    templates
        Of prompts without and with authors (`everycell.rag.prompts.read_template`). A prompt
        that names no author has the first.
    decoding
        How the answer is generated.
    names
        People's names, for settings with extended labels.
    seed : int
        Of the draw of names, which depends on the question too, and on nothing else.

    Raises
    ------
    ValueError
        A document without a text, or a setting with extended labels and no names.

    Examples
    --------
    >>> from everycell.rag.prompts import AUTHORS_TEMPLATE, PLAIN_TEMPLATE, read_template
    >>> both = read_template(PLAIN_TEMPLATE), read_template(AUTHORS_TEMPLATE)
    >>> setting = study_settings(2, [])[0]
    >>> asked = Asked(setting, PLAIN_ARMS[1], Question("q1", ("d7", "d3"), gold=2))
    >>> said = {("d7", "Human"): "Rye is a grass.", ("d3", "LLM"): "Delft is old."}
    >>> found = request_of(asked, question="How old is Delft?", templates=both,
    ...     text=lambda document, author: said[document, author], decoding=Decoding())
    >>> found.prompt[-1].content.splitlines()[-4:-2]
    ['[1] (author: Human) Rye is a grass.', '[2] (author: LLM) Delft is old.']
    """
    setting, arm, shown = asked
    if setting.labels == "extended" and not names:
        raise ValueError(f"The setting {setting.name!r} has extended labels; give people's names.")
    numbered = enumerate(shown.documents, start=1)
    texts = [
        text(document, arm.relevant_author if number == shown.gold else arm.nonrelevant_author)
        for number, document in numbered
    ]
    authors = shown_authors(
        shown.labels(arm),
        names=names if setting.labels == "extended" else (),
        key=f"{seed}\t{shown.id}",
    )
    template = templates[any(authors)]
    return Request(
        prompt=cited_answer_prompt(template, question, texts, authors), decoding=decoding
    )


def answers_frame(
    asked: Sequence[Asked],
    answers: Sequence[Answer],
    *,
    gold_answers: Mapping[str, Sequence[str]],
    dataset: str,
    generator: str,
    forms: Forms = "all",
) -> pd.DataFrame:
    """What the answers of one generator cite, and whether they are right.

    Parameters
    ----------
    asked, answers
        Of the same length and order.
    gold_answers
        Right answers of each question, by its id; the answer to a question without any, or whose
        answers have no word ("The"), is neither right nor wrong.
    dataset, generator : str
        Names in the tables.
    forms
        Forms of citations that are read (`everycell.rag.citations.find_citations`).

    Returns
    -------
    pandas.DataFrame
        One row an answer, with the columns `ANSWERS`. Citations are counted each time that one
        stands there, but for the numbers inside a range, which are not written.

    Raises
    ------
    ValueError
        Not one answer for each question asked.

    Examples
    --------
    >>> setting = study_settings(2, [])[0]
    >>> shown = [Asked(setting, PLAIN_ARMS[0], Question("q1", ("d7", "d3"), gold=2))]
    >>> said = [Answer(text="In 1246 [2][1][9].", finish="stop")]
    >>> found = answers_frame(shown, said, gold_answers={"q1": ["1246"]}, dataset="toy",
    ...                       generator="parrot")
    >>> found[["cited", "stray", "attribution recall", "right"]].values.tolist()
    [[3.0, 1.0, 1.0, 1.0]]
    """
    rows = []
    for (setting, arm, question), answer in zip(asked, answers, strict=True):
        citations = find_citations(answer.text, forms=forms)
        k = len(question.documents)
        cited = documents(citations, k)
        numbers = [*cited.documents, *cited.stray]
        gold = usable_answers(gold_answers.get(question.id, ()))
        said = without_citations(answer.text, k=k)
        right = float(is_correct(said, gold)) if gold else math.nan
        sides = _confidence(answer, citations, question.gold, k)
        rows.append(
            (
                dataset,
                generator,
                *(setting.retriever, setting.k, setting.place, setting.labels),
                question.id,
                *arm,
                question.gold,
                *(len(numbers), len(cited.stray)),
                *citation_quality(numbers, [question.gold]),
                right,
                float(answer.finish == "length"),
                *sides,
            )
        )
    return pd.DataFrame(rows, columns=ANSWERS)


def _confidence(
    answer: Answer, citations: Sequence[Citation], gold: int, k: int
) -> tuple[int, int, float, float]:
    """Citations of the relevant document and of the others, and sums of their probabilities."""
    written = written_citations(citations, answer.text)
    try:
        probabilities = [math.exp(value) for value in citation_logprobs(answer, written)]
    except NotOfferedError:
        probabilities = [math.nan] * len(written)
        missing = math.nan
    else:
        missing = 0.0
    counts, sums = [0, 0], [missing, missing]
    for citation, probability in zip(written, probabilities, strict=True):
        if 1 <= citation.number <= k:
            side = int(citation.number != gold)
            counts[side] += 1
            sums[side] += probability
    return counts[0], counts[1], sums[0], sums[1]
