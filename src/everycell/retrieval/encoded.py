"""Documents and queries encoded as arrays, from which query-document pairs are scored.

There are three kinds, each with a scoring function in `everycell.retrieval.term_scores`:

==============  =====================================  =====================================
kind            documents                              queries
==============  =====================================  =====================================
likelihoods     log P of terms, dense (TILDE)          term counts, CSR
term_weights    term weights, CSR (TILDEv2, SPLADE)    counts (TILDEv2) or weights (SPLADE)
vectors         dense vectors                          dense vectors
==============  =====================================  =====================================
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.text_files import check_regular
from everycell.base.untrusted import max_unpacked_size
from everycell.retrieval.term_scores import likelihood_scores, term_weight_scores, vector_scores
from everycell.trec.runs import id_order

Kind = Literal["likelihoods", "term_weights", "vectors"]
Matrix = FloatArray | sparse.csr_array
_SCORE_FUNCTIONS = {
    "likelihoods": likelihood_scores,
    "term_weights": term_weight_scores,
    "vectors": vector_scores,
}


@dataclass(frozen=True)
class Encoded:
    """Documents and queries of a collection as encoded by one ranker.

    Rows of `documents` and `queries` are in the order of their ids, which have no duplicates. The
    rows of `proposed` (TILDE only) are the most likely vocabulary entries of each document, best
    first.
    """

    kind: Kind
    documents: Matrix
    queries: Matrix
    document_ids: Sequence[str]
    query_ids: Sequence[str]
    proposed: npt.NDArray[np.int32] | None = None

    def score(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Score query-document pairs."""
        rows = [
            _find_rows(pairs[column], ids, column)
            for column, ids in (("query", self.query_ids), ("document", self.document_ids))
        ]
        scores = _SCORE_FUNCTIONS[self.kind](self.documents, self.queries, *rows)
        return pairs[["query", "document"]].reset_index(drop=True).assign(score=scores)

    def search(self, queries: Sequence[str], k: int) -> pd.DataFrame:
        """Find the k best of all encoded documents for each query."""
        if k < 1:
            raise ValueError(f"k is {k}: it must be 1 or more.")
        rows = _find_rows(pd.Series(list(queries), dtype="str"), self.query_ids, "query")
        ties, names = id_order(pd.Series(self.document_ids)), np.array(self.document_ids, object)
        # In float64, like the scores of pairs.
        documents, vectors = (part.astype(np.float64) for part in (self.documents, self.queries))
        parts = []
        for query, row in zip(queries, rows, strict=True):
            scores = documents @ vectors[[row]].T
            scores = np.ravel(scores.toarray() if sparse.issparse(scores) else scores)
            # Ties are decided in float32, as in trec_eval.
            order = np.lexsort((ties, -scores.astype(np.float32)))[:k]
            parts.append(
                pd.DataFrame({"query": query, "document": names[order], "score": scores[order]})
            )
        empty = pd.DataFrame({"query": [], "document": [], "score": np.empty(0)})
        return pd.concat(parts or [empty], ignore_index=True)


def _find_rows(names: pd.Series, ids: Sequence[str], kind: str) -> IntArray:
    index = pd.Index(ids)
    if index.has_duplicates:
        raise ValueError(
            f"The {kind} {index[index.duplicated()][0]!r} was encoded twice: ids must be unique."
        )
    rows = index.get_indexer(names)
    if (rows < 0).any():
        missing = names.iloc[int(np.argmin(rows))]
        raise ValueError(
            f"The {kind} {missing!r} was not encoded: encode the collection that contains it."
        )
    return rows


def write_encoded(encoded: Encoded, path: Path) -> None:
    """Write to a NumPy archive, with the same bytes for the same content."""
    arrays = {
        "kind": np.array(encoded.kind),
        "document_ids": np.array(list(encoded.document_ids), dtype=np.str_),
        "query_ids": np.array(list(encoded.query_ids), dtype=np.str_),
    }
    for part in ("documents", "queries"):
        matrix = getattr(encoded, part)
        if sparse.issparse(matrix):
            arrays |= {
                f"{part}_{name}": getattr(matrix, name) for name in ("data", "indices", "indptr")
            }
            arrays[f"{part}_shape"] = np.array(matrix.shape)
        else:
            arrays[part] = matrix
    if encoded.proposed is not None:
        arrays["proposed"] = encoded.proposed
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def read_encoded(path: Path) -> Encoded:
    """Read an archive written by `write_encoded`."""
    try:
        check_regular(path)
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > max_unpacked_size(path):
            raise ValueError(f"it unpacks to {size} bytes, more than any encoded collection needs")
        with np.load(path, allow_pickle=False) as arrays:
            kind = cast(Kind, str(arrays["kind"]))
            parts = {part: _matrix(arrays, part) for part in ("documents", "queries")}
            ids = {part: arrays[part].tolist() for part in ("document_ids", "query_ids")}
            proposed = arrays["proposed"] if "proposed" in arrays else None
    # Errors that numpy, scipy and zipfile raise for a file that is damaged or claims to be huge.
    except (
        OSError,
        EOFError,
        KeyError,
        IndexError,
        TypeError,
        ValueError,
        MemoryError,
        NotImplementedError,
        RuntimeError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise ValueError(
            f"{path} is not an encoded collection ({str(error)[:200]}): delete it and encode the "
            "collection again."
        ) from None
    if kind not in get_args(Kind):
        raise ValueError(f"{path} has the unknown kind {kind!r}: encode the collection again.")
    return Encoded(kind, **parts, **ids, proposed=proposed)


def _matrix(arrays: np.lib.npyio.NpzFile, part: str) -> Matrix:
    if part in arrays:
        return arrays[part]
    content = tuple(arrays[f"{part}_{name}"] for name in ("data", "indices", "indptr"))
    return sparse.csr_array(content, shape=tuple(arrays[f"{part}_shape"]))
