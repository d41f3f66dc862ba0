"""Experimental design of chapter 5 of abolghasemi2026: settings, and arms that they compare.

An *arm* is one way to present a question: the authors of the relevant document and of the others,
and the mode in which the prompt labels each. There are `PLAIN_ARMS` (Tables 5.1 to 5.3) and
`MIXED_ARMS` (Tables 5.4, 5.5, 5.14 and 5.15). A *setting* determines the retriever, the number of
documents, the position of the relevant one, and the form of the labels. In a setting every question
is presented in the same arms, so that answers can be compared in pairs:

===========  ============================================================  =====================
name         documents and labels                                          used in
===========  ============================================================  =====================
main         documents by people and models, in retrieval order            Tables 5.1 to 5.6,
                                                                           5.10 to 5.15
extended     documents by one kind of author, labelled with people's       Tables 5.7, 5.8
             names or "AI"
depths       documents by people, extended labels, the relevant one at a   Figure 5.9
             random position
retrievers   documents by people, extended labels, learned retrievers      Table 5.9
opposite     the two arms of the main setting with documents by people     Tables 5.4, 5.5
             and opposite labels
random       documents by people without labels, the relevant one at a     Table 5.1,
             random position                                               share of answers
===========  ============================================================  =====================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from everycell.metrics.attribution import Author
from everycell.rag.prompts import GoldPosition, Question

CONDITION_COLUMNS = ["dataset", "generator", "relevant_author", "nonrelevant_author"]
PRECISION, RECALL = "attribution precision", "attribution recall"
#: Mean number of cited documents that are relevant, and of all cited documents.
CITED, TOTAL = "avg cited relevant", "avg cited total"
#: Modes: labels with no authors, with the true authors, or with the opposite ones.
MODES = ("Vanilla", "Informed", "CF-informed")
OTHER_AUTHOR = {"Human": "LLM", "LLM": "Human"}


def displayed_author(author: str, mode: str) -> str:
    """Author in the label of a document; empty without a label."""
    if author not in OTHER_AUTHOR or mode not in MODES:
        raise ValueError(
            f"Got author {author!r} and mode {mode!r}. The author must be one of "
            f"{', '.join(OTHER_AUTHOR)}, and the mode one of {', '.join(MODES)}."
        )
    return {"Vanilla": "", "Informed": author, "CF-informed": OTHER_AUTHOR[author]}[mode]


Labels = Literal["plain", "extended"]


class Arm(NamedTuple):
    """Authors and label modes of the relevant document and of the others."""

    relevant_author: Author
    nonrelevant_author: Author
    mode_relevant: str
    mode_nonrelevant: str

    def labels(self, question: Question) -> list[str]:
        """Label of each document of a question: "Human", "LLM", or "" for no label."""
        relevant = displayed_author(self.relevant_author, self.mode_relevant)
        other_label = displayed_author(self.nonrelevant_author, self.mode_nonrelevant)
        numbers = range(1, len(question.documents) + 1)
        return [relevant if number == question.gold else other_label for number in numbers]


_PAIRS: tuple[tuple[Author, Author], ...] = (("LLM", "Human"), ("Human", "LLM"))
#: Documents by different kinds of author, all labelled in one mode.
PLAIN_ARMS = tuple(Arm(*pair, mode, mode) for pair in _PAIRS for mode in MODES)
#: The five pairs of modes of Tables 5.14 and 5.15, in their order.
_MIXED = (
    ("Vanilla", "Vanilla"),
    ("Informed", "Informed"),
    ("CF-informed", "Informed"),
    ("Informed", "CF-informed"),
    ("CF-informed", "CF-informed"),
)
#: Documents by one kind of author, with a mode for the relevant document and one for the others.
MIXED_ARMS = tuple(Arm(author, author, *modes) for author in ("Human", "LLM") for modes in _MIXED)
#: The two arms of Table 5.4: documents by people, labelled with opposite authors.
OPPOSITE_ARMS = tuple(
    arm
    for arm in MIXED_ARMS
    if arm.relevant_author == "Human" and {*arm[2:]} == {"Informed", "CF-informed"}
)
#: Modes of the extended labels: no labels, a true label only on the relevant document, and true
#: labels only on the others.
_EXTENDED_MODES = {
    ("Vanilla", "Vanilla"),
    ("Informed", "CF-informed"),
    ("CF-informed", "Informed"),
}
#: Arms with documents by one kind of author and extended labels.
EXTENDED_ARMS = tuple(arm for arm in MIXED_ARMS if arm[2:] in _EXTENDED_MODES)
#: Arms among `EXTENDED_ARMS` with documents by people.
HUMAN_ARMS = tuple(arm for arm in EXTENDED_ARMS if arm.relevant_author == "Human")
#: Pairs of arms that sensitivity compares, with authors of different kinds and of one kind.
INFORMED_AGAINST_VANILLA = tuple(
    (Arm(*pair, "Informed", "Informed"), Arm(*pair, "Vanilla", "Vanilla")) for pair in _PAIRS
)
MIXED_AGAINST_VANILLA = tuple(
    (Arm(author, author, *modes), Arm(author, author, "Vanilla", "Vanilla"))
    for author, modes in (
        ("Human", ("Informed", "CF-informed")),
        ("LLM", ("CF-informed", "Informed")),
    )
)
#: The retriever of all tables except Table 5.9.
FIRST_RETRIEVER = "BM25"


class Setting(NamedTuple):
    """Retrieval and presentation of documents, and the arms of a setting."""

    name: str
    retriever: str
    k: int
    position: GoldPosition
    labels: Labels
    arms: tuple[Arm, ...]


class Presentation(NamedTuple):
    """A question as presented in one prompt."""

    setting: Setting
    arm: Arm
    question: Question


def study_settings(
    k: int,
    depths: Iterable[int],
    *,
    first: str = FIRST_RETRIEVER,
    other_retrievers: Iterable[str] = (),
) -> list[Setting]:
    """All settings of chapter 5."""
    return [
        Setting("main", first, k, "retrieved", "plain", PLAIN_ARMS + MIXED_ARMS),
        Setting("extended", first, k, "retrieved", "extended", EXTENDED_ARMS),
        *(Setting("depths", first, depth, "random", "extended", HUMAN_ARMS) for depth in depths),
        *(
            Setting("retrievers", name, k, "retrieved", "extended", HUMAN_ARMS)
            for name in other_retrievers
        ),
    ]


def few_settings(k: int, *, first: str = FIRST_RETRIEVER) -> list[Setting]:
    """Settings of a model that receives only a part of the chapter's prompts."""
    return [
        Setting("opposite", first, k, "retrieved", "plain", OPPOSITE_ARMS),
        Setting("random", first, k, "random", "plain", MIXED_ARMS[:1]),
    ]


def present_questions(
    settings: Iterable[Setting], questions: Callable[[Setting, Arm], Sequence[Question]]
) -> list[Presentation]:
    """Presentations of all questions, ordered by setting, arm and question."""
    return [
        Presentation(setting, arm, question)
        for setting in settings
        for arm in setting.arms
        for question in questions(setting, arm)
    ]
