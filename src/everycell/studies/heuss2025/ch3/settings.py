"""Settings of chapter 3 of heuss2025: PUFR."""

from __future__ import annotations

import math

from pydantic import Field, model_validator

from everycell.engine.settings import Settings

#: Rankers of each tier by the name of their files; the first is in the table.
RANKERS = {
    "released": {"minilm": "MiniLM, logistic head", "cross-encoder": "Cross-encoder"},
    "full": {"msmarco": "BERT-Mini"},
}
#: Methods that train a ranker, so that their rankings come from elsewhere.
TRAINED = ("ADV", "CODER")


class MsMarco(Settings):
    """Full tier: a ranker of MS MARCO or its scores, and trained methods."""

    scores: str | None = Field(
        None,
        description="The authors' CSV: qid, docid, mean_score and std_score.",
    )
    model: str | None = Field(
        None,
        description=(
            "Cross-encoder in safetensors where no scores are named: a folder, or a hub name."
        ),
    )
    candidates: str | None = Field(
        None, description="Run whose documents the model scores; by default that of BM25."
    )
    depth: int = Field(200, ge=2, le=1000, description="Number of its first documents.")
    runs: dict[str, dict[str, str]] = Field(
        {}, description="Trained method -> strength -> run of its ranker."
    )

    @model_validator(mode="after")
    def _check(self) -> MsMarco:
        for method, runs in self.runs.items():
            if method not in TRAINED:
                raise ValueError(
                    f"`runs` names the method {method!r}: expected one of {', '.join(TRAINED)}."
                )
            for strength in runs:
                try:
                    known = math.isfinite(float(strength))
                except ValueError:
                    known = False
                if not known:
                    raise ValueError(
                        f"`runs.{method}` has the strength {strength!r}: give a number."
                    )
        return self


class UncertainRanking(Settings):
    """Table 3.1 and Figures 3.2 to 3.7 of heuss2025."""

    fisher_pairs: int = Field(
        3200, ge=10, le=10_000_000, description="Training pairs that the Fisher information sums."
    )
    prior: float = Field(
        1e-5, gt=0, description="Precision of the last layer's weights before training."
    )
    samples: int = Field(
        150, ge=2, le=100_000, description="Number of sampled heads, beside the closed form."
    )
    protected_from: float = Field(
        1.0, gt=0, le=1, description="Least neutrality of a protected document."
    )
    constrained: int = Field(
        50,
        ge=2,
        le=1000,
        description="Number of first documents that the constrained ranking re-orders.",
    )
    significance: float = Field(
        0.1, gt=0, lt=1, description="Significance of FA*IR's test in each prefix."
    )
    losses: list[float] = Field(
        [0.01, 0.02], min_length=1, description="Loss of nDCG@100 that a method may have."
    )
    msmarco: MsMarco = Field(MsMarco(), description="Tier full.")


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"uncertain_ranking": UncertainRanking}
