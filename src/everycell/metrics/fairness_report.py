"""Group fairness of runs and collections that are not ours: files in, one table out.

`everycell count-terms` reads documents (`read_documents`) and word lists (`read_word_lists`) and
counts; `everycell fairness` puts every measure of `everycell.metrics.term_fairness` side by side
(`fairness_report`). Where the measures have a documented value for input that is more often a
mistake, such as a list shorter than the cut-off, these functions refuse it unless it is allowed.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.dataset
import pyarrow.parquet as pq

from everycell.engine.untrusted import in_quotes, most_unpacked, parse_json
from everycell.metrics.fairness_frames import correlation, fairness_by_query
from everycell.metrics.ranked_counts import RankedCounts, ranked_counts
from everycell.metrics.ranked_lists import checked_target
from everycell.metrics.term_counts import DOCUMENT, LENGTH, check_counts, parquet_errors, read_words
from everycell.metrics.term_fairness import TAU, Unknown, largest_divergence, neutrality

Background = Literal["all", "run"]

#: Keys of an id and of a text in a line of JSON: ours, Pyserini's and BEIR's.
_ID_KEYS, _TEXT_KEYS = (DOCUMENT, "id", "_id"), ("text", "contents")
_WORD = re.compile(r"\w")
#: Ten letters in a row of a script that puts no blanks between words: more than any one word has.
_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]{10}"
)


def read_documents(path: Path | str) -> Iterator[tuple[str, str]]:
    r"""Read the ids and texts of a collection one by one.

    Parameters
    ----------
    path
        One of, by its ending:

        - ``.parquet``: columns ``document_id`` and ``text``;
        - ``.jsonl``: one object a line, with ``document_id``, ``id`` or ``_id``, and ``text`` or
          ``contents``; other keys, a title among them, are not read;
        - ``.tsv``: id, tab, text; no header. Further tabs belong to the text.

        The last two also gzipped (``.jsonl.gz``, ``.tsv.gz``), in UTF-8.

    Yields
    ------
    (str, str)
        Id and text, in the order of the file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        Another ending, a missing column or key, an id or text that is not text, a line that
        cannot be read; the message names the line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "passages.tsv"
    >>> _ = path.write_text("d1\tShe runs" + chr(10) + "d2\tHe sleeps")
    >>> list(read_documents(path))
    [('d1', 'She runs'), ('d2', 'He sleeps')]
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"The documents {path} do not exist: check the path.")
    kind = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if kind == "parquet":
        yield from _from_parquet(path)
    elif kind in ("jsonl", "tsv"):
        yield from _from_lines(path, _object if kind == "jsonl" else _row)
    else:
        raise ValueError(
            f"{path} has an unknown ending; give documents as .parquet, .jsonl or .tsv (the last "
            "two also with .gz)."
        )


def _from_parquet(path: Path) -> Iterator[tuple[str, str]]:
    row = 0
    with parquet_errors(path), pq.ParquetFile(path) as file:
        for column in (DOCUMENT, "text"):
            if column not in file.schema_arrow.names:
                raise ValueError(
                    f"{path} has no column {column!r}: it has "
                    f"{in_quotes(file.schema_arrow.names, 300)}; give '{DOCUMENT}' and 'text'."
                )
        for batch in file.iter_batches(batch_size=10_000, columns=[DOCUMENT, "text"]):
            ids, texts = (batch.column(name).to_pylist() for name in (DOCUMENT, "text"))
            for pair in zip(ids, texts, strict=True):
                row += 1
                if not all(isinstance(value, str) for value in pair):
                    raise ValueError(
                        f"Row {row} of {path} has the id and text {in_quotes(pair)}; both are "
                        "text, so correct it."
                    )
                yield pair


def _from_lines(
    path: Path, parse: Callable[[str, str], tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    number = 0
    try:
        most = most_unpacked(path)
        with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rb") as lines:
            for number, raw in enumerate(iter(lambda: lines.readline(most + 1), b""), 1):
                if len(raw) > most:
                    raise ValueError(
                        f"Line {number} of {path} has more than {most:,} bytes; a line is one "
                        "document, so get the file again."
                    )
                line = raw.decode("utf-8").rstrip("\r\n")
                if line:
                    yield parse(line, f"Line {number} of {path}")
    except UnicodeDecodeError:
        raise ValueError(
            f"Line {number} of {path} is not UTF-8 text; convert the file to UTF-8."
        ) from None
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise ValueError(f"{path} is damaged or no gzip file; get it again.") from None


def _row(line: str, where: str) -> tuple[str, str]:
    document, tab, text = line.partition("\t")
    if not tab:
        raise ValueError(f"{where} has no tab; a line is an id, a tab and a text, so correct it.")
    return document, text


def _object(line: str, where: str) -> tuple[str, str]:
    try:
        found = parse_json(line)
    except ValueError as error:
        raise ValueError(f"{where} is no JSON ({error}); correct it.") from None
    values = []
    for what, keys in (("id", _ID_KEYS), ("text", _TEXT_KEYS)):
        here = [key for key in keys if isinstance(found, dict) and isinstance(found.get(key), str)]
        if not here:
            raise ValueError(
                f"{where} has no {what}: a line is an object with a string under "
                f"{' or '.join(map(repr, keys))}, so add it."
            )
        values.append(found[here[0]])
    return values[0], values[1]


def check_texts(
    documents: Iterable[tuple[str, str]], *, by_blanks: bool = True, allow_empty: bool = False
) -> Iterator[tuple[str, str]]:
    """Pass documents on, and stop at one that the count would be silently wrong for.

    Parameters
    ----------
    documents : iterable of (id, text)
        See `read_documents`; texts that are no strings are `count_terms`' to refuse.
    by_blanks
        Whether texts will be cut at blanks (`blank_tokens`), so that Chinese, Japanese or Thai
        would be one word.
    allow_empty
        Pass texts without a letter or digit, too: they are counted with what length they have,
        0 for an empty one.

    Yields
    ------
    (str, str)
        The documents.

    Raises
    ------
    ValueError
        A document without a word; with `by_blanks`, one with ten letters in a row of a script
        without blanks. Other scripts (Greek, Cyrillic, Arabic, Devanagari) pass, as does Chinese
        that was cut into words.

    Examples
    --------
    >>> list(check_texts([("d1", "она бежит"), ("d2", "她 跑")]))
    [('d1', 'она бежит'), ('d2', '她 跑')]
    >>> list(check_texts([("d3", "...")]))
    Traceback (most recent call last):
    ValueError: Document 'd3' has no word: its text is '...'; remove it, or count it with what
    length it has (--allow-empty).
    """
    for document, text in documents:
        if isinstance(text, str):
            if not allow_empty and not _WORD.search(text):
                raise ValueError(
                    f"Document {document!r} has no word: its text is {text!r:.40}; remove it, or "
                    "count it with what length it has (--allow-empty)."
                )
            if by_blanks and not text.isascii() and (run := _WITHOUT_BLANKS.search(text)):
                raise ValueError(
                    f"Document {document!r} has {run[0]!r} in one piece, a script without blanks "
                    "between words; put blanks between its words, or take --tokens standard."
                )
        yield document, text


def read_word_lists(paths: Sequence[Path | str]) -> dict[str, tuple[str, ...]]:
    """Read one or more word lists as one: terms of groups with the same name are put together.

    Parameters
    ----------
    paths
        Files as `read_words` reads them; one or more.

    Returns
    -------
    dict of str to tuple of str
        Group -> terms in lower case, in the order of the files, each once.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        What `read_words` refuses, a file that is not UTF-8, or a term that two files have in
        different groups; the message names the file.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("she,f" + chr(10) + "he,m")
    >>> _ = (folder / "b.txt").write_text("queen,f" + chr(10) + "she,f")
    >>> read_word_lists([folder / "a.txt", folder / "b.txt"])
    {'f': ('she', 'queen'), 'm': ('he',)}
    """
    place: dict[str, tuple[str, Path | str]] = {}
    words: dict[str, list[str]] = {}
    for path in paths:
        for group, terms in read_words(path).items():
            for term in terms:
                other, before = place.setdefault(term, (group, path))
                if other != group:
                    raise ValueError(
                        f"The term {term!r} is in group {other!r} of {before} and in group "
                        f"{group!r} of {path}; a term represents one group, so remove it from one."
                    )
                if before is path:
                    words.setdefault(group, []).append(term)
    return {group: tuple(terms) for group, terms in words.items()}


def documents_with_terms(path: Path | str) -> tuple[int, int]:
    """Count the documents of a counts file, and those with a term of any group.

    Parameters
    ----------
    path
        What `count_terms` wrote.

    Returns
    -------
    (int, int)
        Documents, and documents with at least one group term.

    Raises
    ------
    ValueError
        A file that is no Parquet, is damaged, or has no group.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "counts.parquet"
    >>> frame = pd.DataFrame({"document_id": ["d1", "d2"], "length": 5, "f": [0, 1], "m": 0})
    >>> frame.to_parquet(path)
    >>> documents_with_terms(path)
    (2, 1)
    """
    with parquet_errors(path):
        table = pyarrow.dataset.dataset(path, format="parquet")
        groups = [name for name in table.schema.names if name not in (DOCUMENT, LENGTH)]
        if not groups:
            raise ValueError(f"{path} has no group; make it again with count_terms.")
        any_term = reduce(or_, (pyarrow.dataset.field(group) > 0 for group in groups))
        return table.count_rows(), table.count_rows(filter=any_term)


def most_neutral(
    path: Path | str, number: int, *, tau: float = TAU, target: npt.ArrayLike | None = None
) -> pd.DataFrame:
    """Find the most neutral documents of a counts file of any size, in constant memory.

    Parameters
    ----------
    path
        What `count_terms` wrote.
    number
        Documents wanted, 1 or more.
    tau, target
        As for `neutrality`.

    Returns
    -------
    pandas.DataFrame
        Rows of the file as `read_counts` gives them, at most `number`. As the background of
        `fairness_by_query` they give NFaiRR at cut-offs down to `number` the ideal that the whole
        file does. Reading stops where this many wholly neutral documents are found.

    Raises
    ------
    ValueError
        Counts that `check_counts` refuses, among the rows that were read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "counts.parquet"
    >>> frame = pd.DataFrame({"document_id": ["d1", "d2"], "length": 5, "f": [3, 2], "m": [0, 2]})
    >>> frame.to_parquet(path)
    >>> most_neutral(path, 1).index.tolist()
    ['d2']
    """
    best: list[pd.DataFrame] = []
    for batch in pyarrow.dataset.dataset(path, format="parquet").to_batches():
        rows = check_counts(pd.concat([*best, batch.to_pandas().set_index(DOCUMENT)]))
        omega = neutrality(rows.drop(columns=LENGTH).to_numpy(dtype=float), tau=tau, target=target)
        order = np.argsort(-omega, kind="stable")[:number]
        best = [rows.iloc[order]]
        if len(order) == number and omega[order[-1]] == 1:
            break
    return best[0]


@dataclass(frozen=True)
class FairnessReport:
    """Measures of a run at one or more cut-offs.

    Attributes
    ----------
    means : pandas.DataFrame
        One row a cut-off: ``k``; ``queries``; the means of NFaiRR, TExFAIR, TExFAIR without RBDF
        and AWRF over the queries that have a value; ``r`` and ``p``, Pearson's correlation of
        NFaiRR and TExFAIR over queries and its p-value; ``lists with terms`` and ``documents with
        terms``, the shares of top-k lists and of documents in them with a term of any group.
    by_query : pandas.DataFrame
        What `fairness_by_query` gives, and ``documents`` (of the top k that are there) and ``with
        terms`` (those of them with a term of any group).
    groups : tuple of G str
        In the order of the counts file and of the target.
    target : tuple of G float
        Share of each group.
    highest : float
        Largest TExFAIR for this target; 1 for two equal shares.
    """

    means: pd.DataFrame
    by_query: pd.DataFrame
    groups: tuple[str, ...]
    target: tuple[float, ...]
    highest: float


def fairness_report(
    run: pd.DataFrame,
    counts: Path | str,
    cutoffs: Iterable[int] = (10,),
    *,
    tau: float = TAU,
    target: npt.ArrayLike | None = None,
    background: Background = "all",
    unknown: Unknown = "error",
    allow_short: bool = False,
    allow_empty: bool = False,
) -> FairnessReport:
    """Put every measure of a run together.

    Parameters
    ----------
    run : pandas.DataFrame
        Columns ``query``, ``document``, ``score``; ranks are trec_eval's.
    counts
        What `count_terms` wrote.
    cutoffs : iterable of int
        Each 1 or more; one that comes twice counts once.
    tau, target
        As for `fairness_by_query`.
    background
        What NFaiRR is normalised by: "all" documents of the counts file, or the documents that
        the "run" has for the query, at all of its ranks (the NFaiRR authors' default).
    unknown
        As for `ranked_counts`. "neutral" gives documents without counts the length 0, so that it
        allows those of that length, too.
    allow_short, allow_empty
        Whether a query may have fewer documents than the largest cut-off, and a document the
        length 0; both are an error otherwise.

    Returns
    -------
    FairnessReport

    Raises
    ------
    FileNotFoundError
        If there is no such counts file.
    ValueError
        No cut-off or one below 1, an unknown choice, a list or document that is not allowed, or
        as for `ranked_counts` and `fairness_by_query`.

    Notes
    -----
    Source of the correlation: abolghasemi2026, Table 4.1, column r.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "counts.parquet"
    >>> frame = pd.DataFrame({"document_id": ["d1", "d2"], "length": 5, "f": [1, 0], "m": [0, 2]})
    >>> frame.to_parquet(path)
    >>> run = pd.DataFrame({"query": "q", "document": ["d1", "d2"], "score": [2.0, 1.0]})
    >>> report = fairness_report(run, path, [2])
    >>> report.means[["k", "queries", "TExFAIR", "lists with terms"]].round(3).values.tolist()
    [[2.0, 1.0, 0.884, 1.0]]
    """
    wanted = list(dict.fromkeys(cutoffs))
    if not wanted or min(wanted) < 1:
        raise ValueError(f"The cut-offs are {wanted}; give one or more, each 1 or more.")
    if background not in ("all", "run"):
        raise ValueError(f"The background is {background!r}; choose 'all' or 'run'.")
    depth = max(wanted)
    ranked = ranked_counts(run, counts, depth=depth, unknown=unknown)
    shares = checked_target(target, len(ranked.groups))
    if not allow_short:
        _refuse_short(ranked)
    if not allow_empty and unknown == "error":
        _refuse_empty(ranked)
    against = (
        most_neutral(counts, depth, tau=tau, target=shares)
        if background == "all"
        else ranked_counts(run, counts, unknown=unknown)
    )
    by_query = fairness_by_query(ranked, wanted, target=shares, tau=tau, background=against)
    columns = [k - 1 for k in wanted]
    having = np.cumsum(ranked.counts.sum(axis=2) > 0, axis=1)[:, columns].T.ravel()
    there = np.cumsum(ranked.listed, axis=1)[:, columns].T.ravel()
    by_query = by_query.assign(**{"documents": there, "with terms": having})
    rows = []
    for k, at in by_query.groupby("k", sort=False):
        measures = at.drop(columns=["query", "k", "documents", "with terms"])
        related = correlation(at["NFaiRR"], at["TExFAIR"])
        rows.append(
            {"k": k, "queries": len(at)}
            | measures.mean().to_dict()
            | {"r": related.r, "p": related.p}
            | {
                "lists with terms": (at["with terms"] > 0).mean(),
                "documents with terms": at["with terms"].sum() / at["documents"].sum(),
            }
        )
    return FairnessReport(
        pd.DataFrame(rows),
        by_query,
        ranked.groups,
        tuple(shares.tolist()),
        largest_divergence(shares, len(shares)),
    )


def _refuse_short(ranked: RankedCounts) -> None:
    depth = ranked.listed.shape[1]
    short = ~ranked.listed[:, -1]
    if short.any():
        query = int(short.argmax())
        raise ValueError(
            f"Query {ranked.queries[query]!r} has {ranked.listed[query].sum()} documents, fewer "
            f"than the cut-off {depth} ({short.sum()} of {len(short)} queries have); search "
            "deeper, take a smaller cut-off, or keep such lists (--allow-short)."
        )


def _refuse_empty(ranked: RankedCounts) -> None:
    empty = ranked.listed & (ranked.lengths == 0)
    if empty.any():
        query, rank = np.argwhere(empty)[0]
        raise ValueError(
            f"The document at rank {rank + 1} of query {ranked.queries[query]!r} has the length 0 "
            f"({empty.sum()} of {ranked.listed.sum()} places have such a one); remove it from "
            "the run, or take it as neutral (--allow-empty)."
        )
