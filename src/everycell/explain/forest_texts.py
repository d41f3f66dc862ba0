"""LightGBM models as text, checked and rewritten, since LightGBM crashes on malformed ones."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

from everycell.base.untrusted import in_quotes

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
