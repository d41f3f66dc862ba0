"""Pairs of a passage and its paraphrase, for annotators.

The passages are the relevant ones of all questions and, for a share of the questions, one that is
not relevant.

Source: abolghasemi2026, section 5.3.2 and appendix 5.A.
"""

from __future__ import annotations

import random
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from everycell.engine.parquet_limits import check_parquet_size
from everycell.text.sheets import SheetError
from everycell.trec.runs import trec_order


class Pair(NamedTuple):
    """A passage and its paraphrase, with a question for which the passage is shown.

    Attributes
    ----------
    name : str
        Its name on the sheets.
    query, document : str
        Ids.
    question : str
    answers : tuple of str
        Right ones.
    original, paraphrase : str
    relevant : bool
        Whether the passage is relevant for the question.
    swapped : bool
        Whether the paraphrase is shown first.
    """

    name: str
    query: str
    document: str
    question: str
    answers: tuple[str, ...]
    original: str
    paraphrase: str
    relevant: bool
    swapped: bool


def read_frame(path: Path, *columns: str) -> pd.DataFrame:
    """Read a frame of the workflow."""
    try:
        check_parquet_size(path)
        return pd.read_parquet(path, columns=list(columns))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise SheetError(
            f"{path}: holds no frame with the columns {', '.join(columns)} "
            f"({str(error).splitlines()[0][:100]}); name a folder that the workflow wrote."
        ) from None


def draw_others(
    run: pd.DataFrame,
    questions: pd.DataFrame,
    relevant: pd.DataFrame,
    paraphrases: pd.DataFrame,
    *,
    share: float,
    seed: int,
) -> pd.DataFrame:
    """Draw passages that are not relevant: one each for a share of the questions.

    It is one of a question's first passages before the first whose paraphrase was not kept, since a
    prompt with only paraphrased passages reaches no further.

    Examples
    --------
    >>> run = pd.DataFrame({"query": "q1", "document": ["d1", "d2", "d3"], "score": [3, 2, 1]})
    >>> said = pd.DataFrame({"document_id": ["d1", "d2", "d3"], "kept": [True, True, False]})
    >>> gold = pd.DataFrame({"query": ["q1"], "document": ["d1"]})
    >>> asked = pd.DataFrame({"query_id": ["q1"]})
    >>> draw_others(run, asked, gold, said, share=0.1, seed=1).values.tolist()
    [['q1', 'd2']]
    """
    kept = set(paraphrases.loc[paraphrases["kept"], "document_id"])
    right = set(relevant[["query", "document"]].itertuples(index=False, name=None))
    lists = trec_order(run).groupby("query")["document"].agg(list)
    others = {
        query: [
            document
            for document in takewhile(kept.__contains__, lists.get(query, []))
            if (query, document) not in right
        ]
        for query in sorted(questions["query_id"])
    }
    fitting = [query for query, documents in others.items() if documents]
    if share and not fitting:
        raise SheetError(
            f"None of {len(others)} questions has a retrieved passage that is not relevant and "
            "whose paraphrase was kept; name the run that the paraphrases were made for, or a "
            "share of 0."
        )
    draw = random.Random(seed)
    number = max(1, round(share * len(others))) if share else 0
    drawn = sorted(draw.sample(fitting, min(number, len(fitting))))
    rows = [(query, draw.choice(others[query])) for query in drawn]
    return pd.DataFrame(rows, columns=["query", "document"])


def make_pairs(
    questions: pd.DataFrame,
    relevant: pd.DataFrame,
    passages: pd.DataFrame,
    paraphrases: pd.DataFrame,
    others: pd.DataFrame | None = None,
    *,
    seed: int,
) -> list[Pair]:
    """Pairs to be annotated: the relevant passage of each question, where its paraphrase was kept.

    Examples
    --------
    >>> asked = pd.DataFrame({"query_id": ["q1"], "text": ["where"], "answers": [["Delft"]]})
    >>> gold = pd.DataFrame({"query": ["q1"], "document": ["d1"]})
    >>> passages = pd.DataFrame({"document_id": ["d1"], "text": ["It is in Delft."]})
    >>> said = passages.assign(text="Delft has it.", kept=True)
    >>> [(pair.name, pair.paraphrase) for pair in make_pairs(asked, gold, passages, said, seed=1)]
    [('p0001', 'Delft has it.')]
    """
    kept = paraphrases[paraphrases["kept"]].set_index("document_id")["text"]
    texts = passages.set_index("document_id")["text"]
    known = questions.set_index("query_id")
    wanted = relevant[relevant["query"].isin(known.index) & relevant["document"].isin(kept.index)]
    if wanted.empty:
        raise SheetError("No question has a relevant passage whose paraphrase was kept; make some.")
    # Sorted first, so that names do not depend on the order of the input.
    ids = sorted(
        (query, document, status)
        for frame, status in ((wanted, True), (others, False))
        if frame is not None
        for query, document in frame[["query", "document"]].itertuples(index=False, name=None)
    )
    draw = random.Random(seed)
    draw.shuffle(ids)
    return [
        Pair(
            name=f"p{number:04}",
            query=query,
            document=document,
            question=known["text"][query],
            answers=tuple(known["answers"][query]),
            original=texts[document],
            paraphrase=kept[document],
            relevant=status,
            swapped=draw.random() < 0.5,
        )
        for number, (query, document, status) in enumerate(ids, start=1)
    ]
