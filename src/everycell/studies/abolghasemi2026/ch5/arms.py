"""What the chapter asks: every question in every setting, under every labelling of its documents.

An *arm* is one way to present a question: who wrote the relevant document and the others, and
which of it a prompt tells (a mode on either side): `PLAIN_ARMS` (Tables 5.1 to 5.3), `MIXED_ARMS`
(Tables 5.4, 5.5, 5.14 and 5.15). A *setting* says how documents are found and shown: the retriever,
how many, where the relevant one stands, and how authors are named. In each setting every question
meets the same arms, so that answers can be compared in pairs:

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
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from everycell.metrics.attribution import Author
from everycell.rag.questions import Place, Question
from everycell.studies.abolghasemi2026.ch5.modes import MODES, displayed_author

Labels = Literal["plain", "extended"]


class Arm(NamedTuple):
    """Authors of the relevant document and of the others, and what is told of either."""

    relevant_author: Author
    nonrelevant_author: Author
    mode_relevant: str
    mode_nonrelevant: str

    def labels(self, question: Question) -> list[str]:
        """Author that is told of each document of a question: "Human", "LLM", or ""."""
        relevant = displayed_author(self.relevant_author, self.mode_relevant)
        other = displayed_author(self.nonrelevant_author, self.mode_nonrelevant)
        numbers = range(1, len(question.documents) + 1)
        return [relevant if number == question.gold else other for number in numbers]


_PAIRS: tuple[tuple[Author, Author], ...] = (("LLM", "Human"), ("Human", "LLM"))
#: Documents of two origins, all told in one mode.
PLAIN_ARMS = tuple(Arm(*pair, mode, mode) for pair in _PAIRS for mode in MODES)
#: The five pairs of modes of Tables 5.14 and 5.15, in their order.
_MIXED = (
    ("Vanilla", "Vanilla"),
    ("Informed", "Informed"),
    ("CF-informed", "Informed"),
    ("Informed", "CF-informed"),
    ("CF-informed", "CF-informed"),
)
#: Documents of one origin, told in a mode on either side.
MIXED_ARMS = tuple(Arm(author, author, *modes) for author in ("Human", "LLM") for modes in _MIXED)
#: The two arms of Table 5.4: opposite authors are told of people's documents.
OPPOSITE_ARMS = tuple(
    arm
    for arm in MIXED_ARMS
    if arm.relevant_author == "Human" and {*arm[2:]} == {"Informed", "CF-informed"}
)
#: Modes of the extended labels: none, people on the relevant document, people on the others (or,
#: where machines wrote all, the opposite).
_EXTENDED_MODES = {
    ("Vanilla", "Vanilla"),
    ("Informed", "CF-informed"),
    ("CF-informed", "Informed"),
}
#: Arms of documents by one kind of author under extended labels.
EXTENDED_ARMS = tuple(arm for arm in MIXED_ARMS if arm[2:] in _EXTENDED_MODES)
#: Of these, those of people's documents.
HUMAN_ARMS = tuple(arm for arm in EXTENDED_ARMS if arm.relevant_author == "Human")
#: Arms whose answers sensitivity compares: of documents of two origins, and of one.
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
#: The retriever of all tables but Table 5.9.
FIRST_RETRIEVER = "BM25"


class Setting(NamedTuple):
    """How the documents of a question are found and shown, and under which arms it is asked."""

    name: str
    retriever: str
    k: int
    position: Place
    labels: Labels
    arms: tuple[Arm, ...]


class Presentation(NamedTuple):
    """One question as one prompt shows it."""

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
    """All settings of the chapter."""
    return [
        Setting("main", first, k, "retrieved", "plain", PLAIN_ARMS + MIXED_ARMS),
        Setting("extended", first, k, "retrieved", "extended", EXTENDED_ARMS),
        *(Setting("depths", first, depth, "random", "extended", HUMAN_ARMS) for depth in depths),
        *(
            Setting("retrievers", name, k, "retrieved", "extended", HUMAN_ARMS)
            for name in other_retrievers
        ),
    ]


def present_questions(
    settings: Iterable[Setting], questions: Callable[[Setting, Arm], Sequence[Question]]
) -> list[Presentation]:
    """Each question of each setting under each arm, in this order."""
    return [
        Presentation(setting, arm, question)
        for setting in settings
        for arm in setting.arms
        for question in questions(setting, arm)
    ]
