"""LightGBM forests, and their scores for documents with masked features.

A list with n documents, b background samples and c coalitions has n * b * c masked vectors. They
are not scored one by one: each tree is traversed once per document and sample, and the coalitions
split only at nodes where the document and the sample go different ways.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import BoolArray, FloatArray, IntArray
from everycell.base.text_files import read_text_file
from everycell.base.untrusted import in_quotes

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


#: Objectives for which LightGBM returns the sum of the leaves as the score.
_UNTRANSFORMED = frozenset(
    "regression regression_l1 huber fair quantile mape lambdarank rank_xendcg custom".split()
)
#: Integer fields of a tree, one value per split.
_INTEGER_FIELDS = ("split_feature", "decision_type", "left_child", "right_child")
#: Other fields of splits and of leaves: required, optional.
_SPLIT_FIELDS, _OPTIONAL_SPLIT_FIELDS = (
    ("threshold",),
    ("split_gain", "internal_value", "internal_weight", "internal_count"),
)
_LEAF_FIELDS, _OPTIONAL_LEAF_FIELDS = ("leaf_value",), ("leaf_weight", "leaf_count")


class ForestText(NamedTuple):
    """A model that is safe for LightGBM's parser."""

    names: list[str]
    text: str
    infos: tuple[str, ...] = ()


def sanitise_forest(text: str) -> ForestText:
    """Check the text of a model written by `Booster.save_model`, and rewrite it."""
    head, *trees = text.partition("\nend of trees")[0].split("\nTree=")
    if head.partition("\n")[0] != "tree":
        raise ValueError("the first line is not 'tree'")
    header = _values(head)
    for key in ("num_class", "num_tree_per_iteration", "max_feature_idx", "feature_names"):
        if key not in header:
            raise ValueError(f"the header lacks {key}")
    scores = _whole_number(header, "num_tree_per_iteration", 1)
    if scores != 1:
        raise ValueError(
            f"it has {scores} trees per iteration: use a model with one score per document, such "
            "as a ranker"
        )
    objective = header.get("objective", "custom").split()
    if objective[:1] and (objective[0] not in _UNTRANSFORMED or "sqrt" in objective):
        raise ValueError(
            f"its objective {in_quotes(' '.join(objective))} transforms the sum of the leaves: use "
            "a ranking objective, or remove the line 'objective=' to use the sum"
        )
    if "average_output" in head.split("\n"):
        raise ValueError("it is a random forest, which averages its trees: use boosted trees")
    names = header["feature_names"].split()
    if len(names) != _whole_number(header, "max_feature_idx", 0) + 1:
        raise ValueError("max_feature_idx does not match feature_names")
    blocks = []
    for number, tree in enumerate(trees):
        try:
            blocks.append(f"Tree={number}\n{_tree(_values(tree), len(names))}\n\n")
        except ValueError as error:
            raise ValueError(f"tree {number}: {error}") from None
    lines = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={len(names) - 1}",
        f"feature_names={' '.join(f'Column_{index}' for index in range(len(names)))}",
        f"feature_infos={' '.join(['none'] * len(names))}",
        f"tree_sizes={' '.join(str(len(block)) for block in blocks)}",
    ]
    text = "\n".join(lines) + "\n\n" + "".join(blocks) + "end of trees\n"
    infos = tuple(header.get("feature_infos", "").split())
    return ForestText(names, text, infos if len(infos) == len(names) else ())


def _tree(values: dict[str, str], features: int) -> str:
    leaves = _whole_number(values, "num_leaves", 1)
    if _whole_number(values, "num_cat", 0):
        raise ValueError("it has categorical splits: train the model on numerical features")
    if values.get("is_linear", "0") != "0":
        raise ValueError("it has linear trees: train the model without `linear_tree`")
    arrays: dict[str, Sequence[float]] = {}
    for keys, size, is_optional in (
        (_INTEGER_FIELDS + _SPLIT_FIELDS, leaves - 1, False),
        (_OPTIONAL_SPLIT_FIELDS, leaves - 1, True),
        (_LEAF_FIELDS, leaves, False),
        (_OPTIONAL_LEAF_FIELDS, leaves, True),
    ):
        for key in keys:
            # For a tree with one leaf, LightGBM writes empty optional fields.
            if is_optional and not values.get(key, "").strip():
                continue
            arrays[key] = _numbers(values.get(key, ""), key, size)
    if not all(0 <= feature < features for feature in arrays["split_feature"]):
        raise ValueError(f"a split uses a feature that is not among the {features} features")
    # Bits: categorical split, direction of missing values, kind of missing values (none, 0 or NaN).
    if not set(arrays["decision_type"]) <= {0, 2, 4, 6, 8, 10}:
        raise ValueError("a split has an unknown type")
    sides = (arrays["left_child"], arrays["right_child"])
    # Each leaf, and each split except the first, is the child of exactly one split.
    if leaves > 1 and sorted(map(int, [*sides[0], *sides[1]])) != [
        *range(-leaves, 0),
        *range(1, leaves - 1),
    ]:
        raise ValueError("its splits and leaves do not form a tree")
    if any(0 <= child <= parent for side in sides for parent, child in enumerate(side)):
        raise ValueError("a split has a child that precedes it")
    lines = [f"num_leaves={leaves}", "num_cat=0"]
    lines += [f"{key}={' '.join(map(repr, numbers))}" for key, numbers in arrays.items() if numbers]
    return "\n".join([*lines, "is_linear=0", "shrinkage=1"])


def _numbers(text: str, key: str, size: int) -> Sequence[float]:
    words = text.split()
    if len(words) != size:
        raise ValueError(f"{key} has {len(words)} values, expected {size}")
    is_integer = key in _INTEGER_FIELDS or key.endswith("_count")
    try:
        numbers = [int(word) if is_integer else float(word) for word in words]
    except ValueError:
        raise ValueError(f"{key} has a value that is not a number") from None
    # A threshold of infinity separates missing values from all numbers.
    highest = math.inf if key == "threshold" else sys.float_info.max
    if not all(abs(number) < 2**31 if is_integer else abs(number) <= highest for number in numbers):
        raise ValueError(f"{key} has a value that is too large or not finite")
    return numbers


def _values(block: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in block.split("\n"))
    return {key: value for key, sign, value in pairs if sign}


def _whole_number(values: dict[str, str], key: str, minimum: int) -> int:
    try:
        number = int(values.get(key, ""))
    except ValueError:
        number = minimum - 1
    if not minimum <= number < 2**31:
        raise ValueError(f"{key} must be an integer of {minimum} or more")
    return number


#: Largest share of documents that may deviate from the median of a column without a range.
_MAX_DEVIATING = 0.1
_RANGE = re.compile(r"\[([^:\[\]]+):([^:\[\]]+)\]")


def first_number(values: FloatArray, columns: int, infos: Sequence[str] = ()) -> int | None:
    """Feature number of a model's first column, 0 or 1; None if both are possible."""
    candidates = [first for first in (0, 1) if _fits(values, first, columns, infos)]
    if not candidates:
        raise ValueError(
            f"its features, up to number {values.shape[1] - 1}, do not fit the {columns} columns "
            "of the model, whether they are numbered from 0 or from 1: give the file that belongs "
            "to the model, or set --numbered-from"
        )
    return candidates[0] if len(candidates) == 1 else None


def _fits(values: FloatArray, first: int, columns: int, infos: Sequence[str]) -> bool:
    if values[:, :first].any() or values[:, first + columns :].any():
        return False
    for column, info in enumerate(infos):
        number = first + column
        feature = values[:, number] if number < values.shape[1] else np.zeros(len(values))
        if info == "none":
            # The feature was constant in training, or could not split a leaf (feature_pre_filter).
            if np.mean(feature != np.median(feature)) > _MAX_DEVIATING:
                return False
        elif (bounds := _RANGE.fullmatch(info)) and not feature.any():
            low, high = float(bounds[1]), float(bounds[2])
            if low > 0 or high < 0:
                return False
    return True
