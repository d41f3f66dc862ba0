"""Settings of chapter 3 of heuss2025: PUFR."""

from __future__ import annotations

import math

from pydantic import Field, model_validator

from everycell.base.settings import PlainPath, Settings
from everycell.retrieval.settings import Training

#: Tier -> name in files -> ranker; the first is in the table.
RANKERS = {
    "released": {"minilm": "MiniLM, logistic head", "cross-encoder": "Cross-encoder"},
    "full": {"msmarco": "BERT-Mini"},
}
#: Methods that train a ranker; the full tier trains them, or reads their runs.
TRAINED = ("ADV", "CODER")
#: In place of a run: train the method here.
TRAIN = "train"


class Pairs(Training):
    """Training of BERT-Mini and of ADV; the thesis states the settings of neither.

    For ADV it uses the "suggested hyperparameters" of the method's authors (p. 47), which are in
    their code (configs/msmarco-passage.yaml); BERT-Mini gets the same, since they also train their
    plain ranker with them. Adam's epsilon is torch's 1e-8 here, and 1e-5 in that code.
    """

    epochs: int = Field(2, ge=1, le=100, description="Passes over the triples (ADV's code).")
    batch: int = Field(64, ge=1, description="Triples per step (ADV's code).")
    learning_rate: float = Field(
        3e-5, gt=0, lt=1, description="Constant learning rate of Adam (ADV's code)."
    )


class Coder(Training):
    """Training of CODER; the thesis states no settings.

    They are those of the training configuration for TAS-B in the code of the method's authors. It
    uses RAdam, reduces the rate on plateaus and selects a checkpoint by validation, which are not
    implemented here: AdamW, a constant rate after warm-up, and the last checkpoint.
    """

    epochs: int = Field(15, ge=1, le=100, description="Passes over the queries (CODER's code).")
    batch: int = Field(32, ge=1, description="Queries per step (CODER's code).")
    learning_rate: float = Field(
        1.7306177116476083e-06, gt=0, lt=1, description="Learning rate (CODER's code)."
    )
    warmup_steps: int = Field(9000, ge=0, description="Steps of warm-up (CODER's code).")
    weight_decay: float = Field(
        9.495145000681325e-05, ge=0, description="Weight decay (CODER's code)."
    )
    query_length: int = Field(
        32, ge=4, le=512, description="Maximum number of word pieces per query (CODER's code)."
    )
    candidates: int = Field(
        1000,
        ge=2,
        description="Passages per training query, by TAS-B (CODER's code; p. 48: thousands).",
    )
    cutoff: int = Field(
        100, ge=2, description="Top passages in the neutrality loss (default of CODER's code)."
    )
    queries: int | None = Field(
        None, ge=2, description="Number of training queries (our choice); null: all judged ones."
    )


class RankerTraining(Settings):
    """Training of the rankers of the thesis on MS MARCO (section 3.4, pp. 45 to 48)."""

    triples: PlainPath | None = Field(
        None,
        description="File triples.train.small.tsv; trains BERT-Mini without `model` or `scores`.",
    )
    first: int | None = Field(
        None, ge=1, description="Number of triples that are read (our choice); null: all."
    )
    encoder: str = Field(
        "google/bert_uncased_L-4_H-256_A-4",
        min_length=1,
        description="Pre-trained BERT-Mini (p. 45): name on the hub, or folder.",
    )
    pairs: Pairs = Pairs()
    coder: Coder = Coder()


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
        {}, description="Trained method -> strength -> run of its ranker, or `train`."
    )
    training: RankerTraining = Field(
        RankerTraining(), description="How BERT-Mini, ADV and CODER are trained."
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
