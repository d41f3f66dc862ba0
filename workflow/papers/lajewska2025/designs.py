"""Simulation designs of the user studies of chapters 4 and 7 of lajewska2025.

Each design has the design matrix, the number of ratings and the four-point scale of the real study;
only the ratings are simulated. Without a planted effect, the thresholds of the scale reproduce the
real shares of the four ratings.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from everycell.statistics.simulation import UserStudy

QUERIES = 10


def _rotated(conditions: int, hits: int, workers_per_hit: int) -> pd.DataFrame:
    """Within-subject rotation: HIT h shows query q under condition (h + q) mod `conditions`."""
    hit, worker, query = np.meshgrid(
        np.arange(hits), np.arange(workers_per_hit), np.arange(QUERIES), indexing="ij"
    )
    return pd.DataFrame(
        {
            "worker": (hit * workers_per_hit + worker).ravel(),
            "query": query.ravel(),
            "condition": [f"EC{1 + c}" for c in ((hit + query) % conditions).ravel()],
        }
    )


def answerability_study() -> UserStudy:
    """Answerability study of chapter 4: 96 workers, 10 queries, 4 conditions, 960 ratings.

    12 HITs x 8 workers (3 in the first run, 5 in the second), each query under each condition 24
    times; factors ``factual_correctness`` (1 in EC1, EC2) and ``source`` (1 in EC1, EC3). Source:
    lajewska2025, sections 4.2 and 4.3, Tables 4.5 and 4.7. The shares are those of the
    factual correctness ratings.
    """
    design = _rotated(conditions=4, hits=12, workers_per_hit=8)
    design["factual_correctness"] = design["condition"].isin(["EC1", "EC2"]).astype(int)
    design["source"] = design["condition"].isin(["EC1", "EC3"]).astype(int)
    return UserStudy(
        name="answerability",
        design=design,
        contrasts={"factual_correctness": {0: -0.5, 1: 0.5}, "source": {0: -0.5, 1: 0.5}},
        analyses={
            "two-way": ("factual_correctness", "source"),
            "three-way": ("factual_correctness", "source", "query"),
        },
        shares=(0.014, 0.066, 0.450, 0.470),
    )


def viewpoints_study() -> UserStudy:
    """Viewpoints study of chapter 4: 27 workers, 10 queries, 3 conditions, 270 ratings.

    9 HITs x 3 workers, each query under each condition 9 times; factors ``diversity`` (1 in EC1,
    EC2) and ``balance`` (1 in EC1 only), so the cell "balanced, not diverse" is empty. Source:
    lajewska2025, sections 4.2 and 4.3, Tables 4.6 and 4.7. The shares are those of the
    diversity ratings.
    """
    design = _rotated(conditions=3, hits=9, workers_per_hit=3)
    design["diversity"] = design["condition"].isin(["EC1", "EC2"]).astype(int)
    design["balance"] = (design["condition"] == "EC1").astype(int)
    return UserStudy(
        name="viewpoints",
        design=design,
        contrasts={"diversity": {0: -0.5, 1: 0.5}, "balance": {0: -0.5, 1: 0.5}},
        analyses={
            "two-way": ("diversity", "balance"),
            "three-way": ("diversity", "balance", "query"),
        },
        shares=(0.156, 0.259, 0.333, 0.252),
    )


def transparency_study() -> UserStudy:
    """Transparency study of chapter 7: 160 workers, 10 queries, 10 conditions, 1,600 ratings.

    Between subjects: 16 workers per condition, each rating all 10 queries. The factors are
    ``response_quality``, ``explanation_quality`` and ``presentation_mode``, with the levels of the
    released data (V visual, T textual, ``"None"`` without an explanation), and ``explanation``
    (``"Given"`` or ``"None"``). Source: lajewska2025, section 7.3, Table 7.3. The shares are those
    of the usefulness ratings.
    """
    worker, query = np.meshgrid(np.arange(160), np.arange(QUERIES), indexing="ij")
    number = 1 + worker.ravel() // 16
    design = pd.DataFrame(
        {
            "worker": worker.ravel(),
            "query": query.ravel(),
            "condition": [f"EC{i}" for i in number],
            "response_quality": np.where(np.isin(number, [1, 2, 5, 6, 9]), "Good", "Flawed"),
            "explanation_quality": np.select(
                [number <= 4, number <= 8], ["Good", "Flawed"], "None"
            ),
            "presentation_mode": np.select([number > 8, number % 2 == 1], ["None", "V"], "T"),
            "explanation": np.where(number > 8, "None", "Given"),
        }
    )
    return UserStudy(
        name="transparency",
        design=design,
        contrasts={
            "response_quality": {"Flawed": -0.5, "Good": 0.5},
            "explanation_quality": {"Flawed": -0.5, "None": 0.0, "Good": 0.5},
            "presentation_mode": {"T": -0.5, "None": 0.0, "V": 0.5},
            "explanation": {"Given": -0.5, "None": 0.5},
        },
        analyses={
            "response quality": ("response_quality",),
            "explanation quality": ("explanation_quality",),
            "presentation mode": ("presentation_mode",),
            "response quality x query": ("response_quality", "query"),
        },
        shares=(0.015, 0.081, 0.468, 0.436),
    )
