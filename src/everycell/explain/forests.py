"""LightGBM forests, and their scores for documents with masked features.

A list with n documents, b background samples and c coalitions has n * b * c masked vectors. They
are not scored one by one: each tree is traversed once per document and sample, and the coalitions
split only at nodes where the document and the sample go different ways.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import BoolArray, FloatArray, IntArray
from everycell.base.text_files import read_text_file
from everycell.explain.forest_texts import sanitise_forest

#: Number of bits in a word of coalitions.
_BITS = 64


class Forest(NamedTuple):
    """Trees of a LightGBM model as arrays; a negative node number ``~leaf`` denotes a leaf.

    Leaf values are integer multiples of `unit`, about 2**-60 of the largest possible score, so that
    the order of summation does not matter. Documents that reach the same leaves have the same
    score.
    """

    names: list[str]  #: features, in the order of their columns
    roots: IntArray  #: first node of each tree, shape (t,)
    features: IntArray  #: column that a node tests, shape (nodes,)
    thresholds: FloatArray  #: values up to the threshold go left
    zeros_left: BoolArray  #: whether 0 goes left, as a number or as a missing value
    missing_left: BoolArray  #: whether NaN goes left
    lefts: IntArray
    rights: IntArray
    leaves: IntArray  #: values of all leaves, in units
    unit: float
    text: str = ""  #: the model in LightGBM's format
    infos: tuple[str, ...] = ()  #: ranges of the features in training, in LightGBM's format

    def __call__(self, vectors: FloatArray) -> FloatArray:
        """Score feature vectors of shape (m, f); returns scores of shape (m,).

        NaN and 0 are missing, or NaN is 0, as in LightGBM and as the model was trained.
        """
        # numba takes a second to import, and most jobs do not need it.
        from everycell.explain.compiled import add_own_leaves

        matrix = self._check_columns("documents", vectors)
        sums = np.zeros(len(matrix), dtype=np.int64)
        splits = self.features, self.thresholds, self.zeros_left, self.missing_left
        add_own_leaves(matrix, *splits, self.roots, self.lefts, self.rights, self.leaves, sums)
        return sums * self.unit

    def masked_scores(
        self, documents: FloatArray, background: FloatArray, coalitions: BoolArray
    ) -> FloatArray:
        """Scores of documents in which samples replace the features outside coalitions."""
        matrix = self._check_columns("documents", documents)
        samples = self._check_columns("background", background)
        masks = self._check_columns("coalitions", coalitions)
        # Sorted so that neighbouring coalitions agree on the features that are tested most. Many
        # words of coalitions are then empty at a leaf and can be skipped.
        by_use = np.argsort(np.bincount(self.features, minlength=len(self.names)), kind="stable")
        order = np.lexsort(masks.T[by_use])
        words = _bits_by_feature(masks[order])
        from everycell.explain.compiled import add_leaves

        scores = np.empty((len(samples), len(masks), len(matrix)))
        directions = self._goes_left(matrix), self._goes_left(samples)
        trees = self.features, self.roots, self.lefts, self.rights, self.leaves
        add_leaves(*directions, words, order, *trees, self.unit, scores)
        return scores

    def _goes_left(self, vectors: FloatArray) -> BoolArray:
        """Whether a vector goes left at a node, shape (m, nodes)."""
        from everycell.explain.compiled import ZERO

        values = vectors[:, self.features]
        left = np.where(np.abs(values) <= ZERO, self.zeros_left, values <= self.thresholds)
        return np.where(np.isnan(values), self.missing_left, left)

    def _check_columns(self, name: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if values.ndim != 2 or values.shape[1] != len(self.names):
            raise ValueError(
                f"The shape of the {name} is {values.shape}, but the model has {len(self.names)} "
                "features: give one column per feature."
            )
        return np.ascontiguousarray(values, dtype=values.dtype if values.dtype == bool else float)


def read_forest(path: Path | str) -> Forest:
    """Read a model that LightGBM saved as text.

    Parameters
    ----------
    path : pathlib.Path or str
        File written by `Booster.save_model`.

    Returns
    -------
    Forest

    Raises
    ------
    ValueError
        For a file that is not such a model, and for models whose scores are not a sum of numerical
        trees: several scores per document, an objective that transforms the sum (such as binary),
        averaged (random forests) or linear trees, and categorical splits.

    Notes
    -----
    Scores equal those of `Booster.predict`, also for missing values (`use_missing`,
    `zero_as_missing`).
    """
    import lightgbm

    try:
        text = sanitise_forest(read_text_file(Path(path)))
        model = lightgbm.Booster(model_str=text.text).dump_model()
    except (lightgbm.basic.LightGBMError, UnicodeDecodeError, ValueError) as error:
        raise ValueError(
            f"{path} cannot be read as a LightGBM ranking model ({error}); it must be written by "
            "`save_model`."
        ) from error
    trees = [tree["tree_structure"] for tree in model["tree_info"]]
    try:
        return forest_of(trees, text.names)._replace(text=text.text, infos=text.infos)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def forest_of(trees: list[dict[str, Any]], names: list[str]) -> Forest:
    """Convert the nested trees of LightGBM's `dump_model` to arrays."""
    if not trees:
        raise ValueError("The model has no trees: train it for at least one iteration.")
    splits: list[tuple[int, float, bool, bool]] = []
    children: list[list[int]] = []
    leaves: list[float] = []
    roots, largest = [], 0.0
    for tree in trees:
        first = len(leaves)
        roots.append(_add_subtree(tree, splits, children, leaves))
        largest += max(abs(value) for value in leaves[first:])
    unit = 2.0 ** (np.ceil(np.log2(largest)) - 60) if largest > 0 else 1.0
    columns = zip(*splits, strict=True) if splits else ((),) * 4
    features, thresholds, zeros_left, missing_left = columns
    lefts, rights = np.array(children, dtype=np.int64).reshape(-1, 2).T
    return Forest(
        names,
        np.array(roots, dtype=np.int64),
        np.array(features, dtype=np.int64),
        np.array(thresholds, dtype=np.float64),
        np.array(zeros_left, dtype=bool),
        np.array(missing_left, dtype=bool),
        np.ascontiguousarray(lefts),
        np.ascontiguousarray(rights),
        np.rint(np.array(leaves) / unit).astype(np.int64),
        unit,
    )


def _add_subtree(
    node: dict[str, Any],
    splits: list[tuple[int, float, bool, bool]],
    children: list[list[int]],
    leaves: list[float],
) -> int:
    """Add a node and its subtree; return the number of the node, or ``~leaf``."""
    if "leaf_value" in node and "split_feature" not in node:
        if node.get("leaf_coeff"):
            raise ValueError("The model has linear trees: train it without `linear_tree`.")
        leaves.append(float(node["leaf_value"]))
        return ~(len(leaves) - 1)
    if node["decision_type"] != "<=":
        raise ValueError(
            f"The model has categorical splits of feature {node['split_feature'] + 1}: train it on "
            "numerical features."
        )
    number = len(splits)
    threshold, default, kind = float(node["threshold"]), node["default_left"], node["missing_type"]
    # LightGBM dumps infinity as 1e300.
    threshold = math.copysign(math.inf, threshold) if abs(threshold) >= 1e300 else threshold
    # Unless NaN is missing, LightGBM replaces it by 0.
    zero = default if kind == "Zero" else threshold >= 0
    splits.append((node["split_feature"], threshold, zero, default if kind == "NaN" else zero))
    children.append([0, 0])
    for side, name in enumerate(("left_child", "right_child")):
        children[number][side] = _add_subtree(node[name], splits, children, leaves)
    return number


def _bits_by_feature(coalitions: BoolArray) -> npt.NDArray[np.uint64]:
    """Bits of the coalitions with each feature, shape (f + 1, words); the last row marks all."""
    count, features = coalitions.shape
    padded = np.zeros((features + 1, -(-count // _BITS) * _BITS), dtype=bool)
    padded[:features, :count] = coalitions.T
    padded[features, :count] = True
    packed = np.packbits(padded, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64)
