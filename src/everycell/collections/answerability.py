"""CAsT-answerability: whether sentences and passages answer a question, and what was predicted.

CAsT-snippets has five mostly relevant passages for each of 371 turns, with snippets that answer
them; five random passages that the assessors found not relevant count as having no answer
(CAsT-unanswerable). A sentence with a part of a snippet answers; a passage does unless none of its
three annotators found a snippet.

Source: Lajewska and Balog, "Towards Reliable and Factual Response Generation" (ECIR 2024);
lajewska2025, section 5.5 and Appendix B. `FILES` has the registry keys.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from everycell.collections.snippets import AnnotationError, literal
from everycell.collections.user_studies import read_table
from everycell.engine.untrusted import in_quotes, parse_json

#: Registry keys.
FILES: Mapping[str, str] = {
    "snippets": "cast-answerability/snippets_sentence_answerability.csv",
    "unanswerable": "cast-answerability/unanswerable_passages.csv",
    "snippets_sentences": "cast-answerability/snippets_sentences.csv",
    "unanswerable_sentences": "cast-answerability/unanswerable_sentences.csv",
    "chatgpt_passages": "cast-answerability/chatgpt_passage_zero_shot.csv",
    "classifier": "cast-answerability/predictions_snippets_unanswerable_on_unanswerable.csv",
    "augmented_classifier": (
        "cast-answerability/predictions_squad_snippets_unanswerable_on_unanswerable.csv"
    ),
}
PARTITIONS = ("train", "validation", "test")
#: Annotators of a passage of CAsT-snippets.
ANNOTATORS = 3
#: How far the two probabilities of a sentence may be from the sum 1; the released ones, of single
#: precision, are within 1e-7.
SUM_TOLERANCE = 1e-4


def read_passage_labels(snippets: Path, unanswerable: Path) -> pd.DataFrame:
    r"""Passages of both halves with their labels.

    Parameters
    ----------
    snippets, unanswerable
        The files of `FILES`.

    Returns
    -------
    pandas.DataFrame
        Columns `dataset` ("CAsT-snippets", "CAsT-unanswerable"), `turn_id`, `passage_id`,
        `partition`, `question`, `passage` (its text), `answerable` (bool), in the order of the
        files. A turn may have a passage in both halves if it has no answer: one has. Turns of
        different partitions may share a passage: the partition is by question.

    Raises
    ------
    AnnotationError
        A file that is no CSV, is empty or lacks a column; an unknown partition or label, a label
        that contradicts the annotators, a passage that a turn has twice in one half, one with an
        answer that stands in the other half too, or a turn in two partitions.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "s.csv").write_text(
    ...     "Input.turn_id,Input.passage_id,partition,Input.query,Input.passage,"
    ...     "no_answer_annotations,answerability\n8_1,p2,test,why?,So.,1,1\n")
    >>> _ = (folder / "u.csv").write_text(
    ...     "turn_id,passage_id,partition,query,passage\n8_1,p3,test,why?,Now.\n")
    >>> read_passage_labels(folder / "s.csv", folder / "u.csv")[["passage_id", "answerable"]]
      passage_id  answerable
    0         p2        True
    1         p3       False
    """
    columns = ["turn_id", "passage_id", "partition", "query", "passage"]
    counted, label = "no_answer_annotations", "answerability"
    first = _table(
        snippets,
        [column if column == "partition" else f"Input.{column}" for column in columns]
        + [counted, label],
    ).rename(columns=lambda name: name.removeprefix("Input."))
    _levels(snippets, first, counted, [str(number) for number in range(ANNOTATORS + 1)])
    _levels(snippets, first, label, ["0", "1"])
    nobody = first[counted] == str(ANNOTATORS)
    _refuse(
        snippets,
        first,
        label,
        nobody == (first[label] == "1"),
        f"0 where all {ANNOTATORS} annotators found no answer, and 1 elsewhere",
    )
    second = _table(unanswerable, columns)
    for path, rows in ((snippets, first), (unanswerable, second)):
        _levels(path, rows, "partition", PARTITIONS)
        _refuse(path, rows, "passage_id", rows.duplicated(columns[:2]), "a passage once a turn")
    answering = pd.MultiIndex.from_frame(first.loc[~nobody, columns[:2]])
    _refuse(
        unanswerable,
        second,
        "passage_id",
        pd.MultiIndex.from_frame(second[columns[:2]]).isin(answering),
        f"a passage without an answer, and this one has one in {snippets.name}",
    )
    _one_partition(snippets, first, "turn_id")
    of_first = first.drop_duplicates("turn_id").set_index("turn_id")["partition"]
    _one_partition(unanswerable, second, "turn_id", of_first)
    parts = [
        first[columns].assign(dataset="CAsT-snippets", answerable=~nobody),
        second[columns].assign(dataset="CAsT-unanswerable", answerable=False),
    ]
    found = pd.concat(parts, ignore_index=True)[["dataset", *columns, "answerable"]]
    return found.rename(columns={"query": "question"})


def read_passage_sentences(path: Path) -> pd.DataFrame:
    r"""Sentences of the passages of CAsT-snippets with their labels, in the passage's order.

    Parameters
    ----------
    path
        The file `snippets` of `FILES`.

    Returns
    -------
    pandas.DataFrame
        Columns `turn_id`, `passage_id`, `answerable` (of the passage, bool), `sentence` (1 for
        the first of its passage), `answers` (of the sentence, bool). Of equal sentences of a
        passage the file has one; of two that start at the same character the shorter is first.

    Raises
    ------
    AnnotationError
        A file that is no CSV, is empty or lacks a column; an unknown label, a set of sentences
        that cannot be read, or a sentence that its passage does not have.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "snippets.csv"
    >>> _ = path.write_text(
    ...     "Input.turn_id,Input.passage_id,Input.passage,answerable_sentences,"
    ...     "unanswerable_sentences,answerability\n"
    ...     "8_1,p2,Why? So. There.,\"{'So.', 'There.'}\",{'Why?'},1\n")
    >>> read_passage_sentences(path)[["sentence", "answers"]].values.tolist()
    [[1, False], [2, True], [3, True]]
    """
    labels = {"answerable_sentences": True, "unanswerable_sentences": False}
    raw = _table(
        path, ["Input.turn_id", "Input.passage_id", "Input.passage", "answerability", *labels]
    )
    _levels(path, raw, "answerability", ["0", "1"])
    rows = []
    for number, row in enumerate(raw.to_dict("records"), start=1):
        found = []
        for column, answers in labels.items():
            for sentence in literal(row[column], set, f"{path}, row {number}: {column}"):
                start = row["Input.passage"].find(sentence)
                if start < 0:
                    raise AnnotationError(
                        f"{path}, row {number}: {column} has {sentence[:40]!r}, which its passage "
                        "does not have; fetch the file again (delete it first)."
                    )
                found.append((start, len(sentence), answers))
        rows += [
            (
                row["Input.turn_id"],
                row["Input.passage_id"],
                row["answerability"] == "1",
                place,
                answers,
            )
            for place, (_, _, answers) in enumerate(sorted(found), start=1)
        ]
    return pd.DataFrame(
        rows, columns=["turn_id", "passage_id", "answerable", "sentence", "answers"]
    )


def read_sentence_labels(path: Path) -> pd.DataFrame:
    r"""Question-sentence pairs that a classifier is trained and tested on.

    Parameters
    ----------
    path
        The file `snippets_sentences` or `unanswerable_sentences` of `FILES`.

    Returns
    -------
    pandas.DataFrame
        Columns `partition`, `question`, `sentence`, `answers` (bool), one row a pair. A pair may
        stand more than once, since passages repeat sentences, and with both labels, since a
        snippet is of one passage: 21 pairs of the file `snippets_sentences` do.

    Raises
    ------
    AnnotationError
        A file that is no CSV, is empty or lacks a column; an unknown partition or label, a pair
        without the separator, or a question in two partitions.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "sentences.csv"
    >>> _ = path.write_text("partition,sentences,labels\ntest,why? [SEP] So.,1\n")
    >>> read_sentence_labels(path).values.tolist()
    [['test', 'why?', 'So.', True]]
    """
    raw = _table(path, ["partition", "sentences", "labels"])
    _levels(path, raw, "partition", PARTITIONS)
    _levels(path, raw, "labels", ["0", "1"])
    pairs = raw["sentences"].str.split(" [SEP] ", n=1, expand=True, regex=False)
    if 1 not in pairs:
        pairs[1] = None
    _refuse(path, raw, "sentences", pairs[1].isna(), "a question, ' [SEP] ' and a sentence")
    _one_partition(path, raw.assign(question=pairs[0]), "question")
    return pd.DataFrame(
        {
            "partition": raw["partition"],
            "question": pairs[0],
            "sentence": pairs[1],
            "answers": raw["labels"] == "1",
        }
    )


def check_partitions(passages: pd.DataFrame, sentences: pd.DataFrame) -> None:
    """Refuse sentences whose question is in another partition than its passages.

    A classifier trained on such sentences would be tested on questions that it has seen.

    Parameters
    ----------
    passages, sentences
        What `read_passage_labels` and `read_sentence_labels` give.

    Raises
    ------
    AnnotationError
        Such a question, or one without passages.

    Examples
    --------
    >>> passages = pd.DataFrame({"question": ["why?"], "partition": ["test"]})
    >>> check_partitions(passages, pd.DataFrame({"question": ["why?"], "partition": ["train"]}))
    Traceback (most recent call last):
    everycell.collections.snippets.AnnotationError: Row 1 of the sentences: the question 'why?' is \
in the partition 'train', and its passages are in 'test'; take both from one release.
    """
    places = passages.drop_duplicates(["question", "partition"]).groupby("question")["partition"]
    allowed = places.agg(set).to_dict()
    for number, (question, partition) in enumerate(
        zip(sentences["question"], sentences["partition"], strict=True), start=1
    ):
        found = allowed.get(question, set())
        if partition not in found:
            theirs = " and ".join(map(repr, sorted(found))) or "no partition"
            raise AnnotationError(
                f"Row {number} of the sentences: the question {question!r} is in the partition "
                f"{partition!r}, and its passages are in {theirs}; take both from one release."
            )


def read_squad(path: Path) -> pd.DataFrame:
    """Questions of SQuAD 2.0 with the paragraph that may answer them.

    Parameters
    ----------
    path
        `train-v2.0.json` as published (Rajpurkar et al. 2018).

    Returns
    -------
    pandas.DataFrame
        Columns `question`, `passage` and `found` (tuple of the answers as they stand in the
        passage; none for a question without an answer), one row a question.

    Raises
    ------
    AnnotationError
        A file that is not of this form, or an answer that its passage does not have.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "train.json"
    >>> _ = path.write_text('{"version": "v2.0", "data": [{"paragraphs": [{"context": "So.", '
    ...     '"qas": [{"question": "how?", "answers": [{"text": "So"}]}]}]}]}')
    >>> read_squad(path).values.tolist()
    [['how?', 'So.', ('So',)]]
    """
    try:
        rows = [
            (
                entry["question"],
                paragraph["context"],
                tuple(answer["text"] for answer in entry["answers"]),
            )
            for article in parse_json(path.read_text(encoding="utf-8"))["data"]
            for paragraph in article["paragraphs"]
            for entry in paragraph["qas"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise AnnotationError(
            f"{path}: is no SQuAD 2.0 ({type(error).__name__}: {error}); allowed is "
            "train-v2.0.json as published, so download it again."
        ) from None
    for question, passage, found in rows:
        for answer in found:
            if answer not in passage:
                raise AnnotationError(
                    f"{path}: the answer {answer[:40]!r} to {question[:40]!r} is not in its "
                    "paragraph; download the file again."
                )
    return pd.DataFrame(rows, columns=["question", "passage", "found"])


def read_passage_predictions(path: Path) -> pd.DataFrame:
    r"""What a language model said of passages: answerable or not.

    Parameters
    ----------
    path
        The file `chatgpt_passages` of `FILES`.

    Returns
    -------
    pandas.DataFrame
        Columns `turn_id`, `passage_id`, `answerable` and `predicted` (bool), in the order of the
        file. A turn that has a passage twice has two rows of it.

    Raises
    ------
    AnnotationError
        A file that is no CSV, is empty or lacks a column; a label or prediction that is neither 0
        nor 1, or two rows of one passage that differ.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "chatgpt.csv"
    >>> _ = path.write_text("turn_id,passage_id,answerability,predicted_value\n8_1,p2,1,0\n")
    >>> read_passage_predictions(path).values.tolist()
    [['8_1', 'p2', True, False]]
    """
    labels = {"answerability": "answerable", "predicted_value": "predicted"}
    keys = ["turn_id", "passage_id"]
    raw = _table(path, [*keys, *labels])
    for column in labels:
        _levels(path, raw, column, ["0", "1"])
        before = raw.groupby(keys)[column].transform("first")
        _refuse(path, raw, column, raw[column] != before, "what a row before has for this passage")
    return raw[["turn_id", "passage_id"]].assign(
        **{name: raw[column] == "1" for column, name in labels.items()}
    )


def read_sentence_scores(path: Path) -> pd.DataFrame:
    r"""Probabilities that a classifier gave the sentences of passages.

    Parameters
    ----------
    path
        The file `classifier` or `augmented_classifier` of `FILES`.

    Returns
    -------
    pandas.DataFrame
        Columns `turn_id`, `passage_id`, `partition`, `scores` (tuple: the probability of each
        sentence, 0 to 1, that it answers), one row a passage.

    Raises
    ------
    AnnotationError
        A file that is no CSV, is empty or lacks a column; an unknown partition, a turn in two, a
        passage that a turn has twice, or scores that are no list of pairs of probabilities with
        the sum 1.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text(
    ...     "turn_id,passage_id,partition,sentence_probabilities\n"
    ...     "8_1,p2,test,\"[[0.75, 0.25], [0.5, 0.5]]\"\n")
    >>> read_sentence_scores(path)["scores"].tolist()
    [(0.25, 0.5)]
    """
    keys, column = ["turn_id", "passage_id"], "sentence_probabilities"
    raw = _table(path, [*keys, "partition", column])
    _levels(path, raw, "partition", PARTITIONS)
    _one_partition(path, raw, "turn_id")
    _refuse(path, raw, "passage_id", raw.duplicated(keys), "a passage once a turn")
    scores = []
    for number, value in enumerate(raw[column], start=1):
        pairs = literal(value, list, f"{path}, row {number}: {column}")
        try:
            sound = bool(pairs) and all(
                min(pair) >= 0 and math.isclose(sum(pair), 1, abs_tol=SUM_TOLERANCE)
                for pair in pairs
            )
            of_passage = tuple(float(answers) for _, answers in pairs)
        except (TypeError, ValueError):
            sound = False
        if not sound:
            raise AnnotationError(
                f"{path}, row {number}: {column} is {value[:40]!r}; allowed is a list with a pair "
                "of probabilities, which sum to 1, for each sentence, so fetch the file again "
                "(delete it first)."
            )
        scores.append(of_passage)
    return raw[[*keys, "partition"]].assign(scores=scores)


def paired_scores(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Scores of several classifiers for the same passages, each passage one row.

    Parameters
    ----------
    scores
        Name of a classifier, one or more -> what `read_sentence_scores` gives, in any order.

    Returns
    -------
    pandas.DataFrame
        Columns `turn_id`, `passage_id`, `partition`, and a column of scores for each name, in the
        order of the first.

    Raises
    ------
    AnnotationError
        A passage that one of them does not have, or has in another partition.

    Examples
    --------
    >>> rows = pd.DataFrame({"turn_id": "8_1", "passage_id": ["p1", "p2"], "partition": "test"})
    >>> one = rows.assign(scores=[(0.1,), (0.9,)])
    >>> paired_scores({"a": one, "b": one[::-1]})[["passage_id", "a", "b"]].values.tolist()
    [['p1', (0.1,), (0.1,)], ['p2', (0.9,), (0.9,)]]
    """
    keys = ["turn_id", "passage_id", "partition"]
    named = [part.set_index(keys)["scores"].rename(name) for name, part in scores.items()]
    both = pd.concat(named, axis=1)
    lost = both.isna()
    if lost.to_numpy().any():
        turn, passage, partition, of = lost.stack().idxmax()
        raise AnnotationError(
            f"The scores of {of!r} lack passage {passage} of turn {turn} in the partition "
            f"{partition}; give scores of the same passages, or fetch the files again."
        )
    return both.reset_index()


def _table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    return read_table(path, columns, error=AnnotationError)


def _one_partition(
    path: Path, rows: pd.DataFrame, column: str, known: pd.Series | None = None
) -> None:
    """Refuse a turn or question in two partitions; `known` are those of another file."""
    expected = rows.groupby(column)["partition"].transform("first")
    if known is not None:
        expected = rows[column].map(known).fillna(expected)
    other = rows["partition"] != expected
    _refuse(path, rows, "partition", other, f"the partition that the same {column} has before")


def _levels(path: Path, raw: pd.DataFrame, column: str, allowed: Sequence[str]) -> None:
    _refuse(path, raw, column, ~raw[column].isin(allowed), " or ".join(allowed))


def _refuse(path: Path, raw: pd.DataFrame, column: str, bad: pd.Series, allowed: str) -> None:
    if bad.any():
        row = int(bad.argmax())
        raise AnnotationError(
            f"{path}, row {row + 1}: {column} is {in_quotes(raw[column][row])}; allowed is "
            f"{allowed}, so fetch the file again (delete it first)."
        )
