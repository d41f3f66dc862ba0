"""Is an explanation faithful? Rankings with its features alone, and without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everycell.explain.shapley import Game

FloatArray = npt.NDArray[np.float64]


class Checks(NamedTuple):
    """Worth of a list for each size of an explanation, shapes (sizes,) or (sizes, k)."""

    preservation: FloatArray  #: with the features of the explanation alone
    deletion: FloatArray  #: with all other features


def checks(game: Game, attributions: FloatArray, sizes: Sequence[int]) -> Checks:
    """Keep the features with the highest attributions, and remove them.

    Parameters
    ----------
    game : callable
        From coalitions, shape (c, f), to their worth, shape (c,) or (c, k). Its background should
        not be that of the explanation.
    attributions : numpy.ndarray of float, shape (f,)
        Attribution of each feature; of equal ones the first feature is taken.
    sizes : sequence of int
        Features of an explanation; all where there are fewer.

    Raises
    ------
    ValueError
        For an attribution that is no finite number.

    Notes
    -----
    Source: heuss2025, section 4.6, Preservation(e) and Deletion(e).

    Examples
    --------
    >>> game = lambda coalitions: coalitions @ np.array([1.0, 2.0, 4.0])
    >>> checks(game, np.array([0.1, 0.2, 0.3]), [1, 2])
    Checks(preservation=array([4., 6.]), deletion=array([3., 1.]))
    """
    if not np.isfinite(attributions).all():
        raise ValueError("An attribution is not a finite number: nothing is known of its place.")
    places = np.argsort(np.argsort(-attributions, kind="stable"), kind="stable")
    kept = np.array([places < size for size in sizes])
    return Checks(game(kept), game(~kept))
