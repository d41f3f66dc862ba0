"""Settings of chapter 3 of heuss2025: PUFR."""

from __future__ import annotations

import math

from pydantic import Field, model_validator

from everycell.base.settings import Settings

#: Tier -> name in files -> ranker; the first is in the table.
RANKERS = {
    "released": {"minilm": "MiniLM, logistic head", "cross-encoder": "Cross-encoder"},
    "full": {"msmarco": "BERT-Mini"},
}
#: Methods that train a ranker; the full tier reads their runs.
TRAINED = ("ADV", "CODER")


class MsMarco(Settings):
    """Full tier: a ranker for MS MARCO, or its scores, and trained methods."""

    scores: str | None = Field(
        None,
        description="The authors' CSV: qid, docid, mean_score and std_score.",
    )
    model: str | None = Field(
        None,
        description=(
            "Cross-encoder in safetensors, used without `scores`: a folder, or a name on the hub."
        ),
    )
    candidates: str | None = Field(
        None, description="Run with the documents that the model scores; null: BM25."
    )
    depth: int = Field(200, ge=2, le=1000, description="Number of top documents of this run.")
    runs: dict[str, dict[str, str]] = Field(
        {}, description="Trained method -> strength -> run of its ranker."
    )

    @model_validator(mode="after")
    def _check(self) -> MsMarco:
        for method, runs in self.runs.items():
            if method not in TRAINED:
                raise ValueError(
                    f"`runs` has the method {method!r}, expected one of {', '.join(TRAINED)}"
                )
            for strength in runs:
                try:
                    finite = math.isfinite(float(strength))
                except ValueError:
                    finite = False
                if not finite:
                    raise ValueError(
                        f"`runs.{method}` has the strength {strength!r}, expected a number"
                    )
        return self


class UncertainRanking(Settings):
    """Table 3.1 and Figures 3.2 to 3.7 of heuss2025."""

    fisher_pairs: int = Field(
        3200,
        ge=10,
        le=10_000_000,
        description="Training pairs over which the Fisher information is summed.",
    )
    prior: float = Field(
        1e-5, gt=0, description="Prior precision of the weights of the last layer."
    )
    samples: int = Field(
        150,
        ge=2,
        le=100_000,
        description="Number of sampled heads, in addition to the closed form.",
    )
    protected_from: float = Field(
        1.0, gt=0, le=1, description="Minimum neutrality of a protected document."
    )
    constrained: int = Field(
        50,
        ge=2,
        le=1000,
        description="Number of top documents that the constrained ranking re-orders.",
    )
    significance: float = Field(
        0.1, gt=0, lt=1, description="Significance level of FA*IR's test in each prefix."
    )
    losses: list[float] = Field(
        [0.01, 0.02], min_length=1, description="Allowed losses of nDCG@100."
    )
    msmarco: MsMarco = Field(MsMarco(), description="Full tier.")


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"uncertain_ranking": UncertainRanking}
