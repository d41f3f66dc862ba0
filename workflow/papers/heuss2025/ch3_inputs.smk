# Inputs and names of the rules of heuss2025, ch3.smk.

from papers.heuss2025.ch3_settings import RANKERS as UNCERTAIN_RANKERS, TRAIN

UNCERTAIN = SETTINGS.uncertain_ranking
RANKER_TRAINING = UNCERTAIN.msmarco.training

#: Options of the re-ranking methods.
UNCERTAIN_METHODS = {
    "protected_from": UNCERTAIN.protected_from,
    "constrained": UNCERTAIN.constrained,
    "significance": UNCERTAIN.significance,
}

#: Post-processing methods that PUFR is compared with.
POST_PROCESSING = ["CVXOPT", "FA*IR"]

#: Trained methods and strengths -> the user's runs, or runs of rankers that are trained here.
TRAINED_RUNS = {
    (method, float(strength)): (
        f"work/heuss2025/ch3/runs/{method.lower()}-{float(strength):g}.run" if run == TRAIN else run
    )
    for method, runs in UNCERTAIN.msmarco.runs.items()
    for strength, run in sorted(runs.items(), key=lambda item: float(item[0]))
}

TRAINED_METHODS = list(dict.fromkeys(method for method, _ in TRAINED_RUNS))

#: Tier -> group terms and relevance judgements of its collection.
UNCERTAIN_COLLECTION = {
    "released": {
        "counts": "work/cast/counts.parquet",
        "qrels": "work/cast/qrels.parquet",
    },
    "full": {
        "counts": "work/msmarco/counts.parquet",
        "qrels": "work/msmarco/qrels.qs2.parquet",
    },
}

RANKED_BY = {ranker: tier for tier, rankers in UNCERTAIN_RANKERS.items() for ranker in rankers}


def trained_runs(tier):
    """Runs of trained methods by method and strength; only in the full tier."""
    return TRAINED_RUNS if tier == "full" else {}


def check_uncertain(tier):
    """Reject a full tier whose settings are incomplete."""
    if tier != "full":
        return
    check_msmarco([])
    page = "fair-reranking.md"
    if any(run == TRAIN for run in UNCERTAIN.msmarco.runs.get("ADV", {}).values()):
        training_triples(None)
    if any(run == TRAIN for run in UNCERTAIN.msmarco.runs.get("CODER", {}).values()):
        check_msmarco(["distilbert_tasb"])
    if UNCERTAIN.msmarco.scores is None:
        uncertain_model_files(None)
    else:
        key = "uncertain_ranking.msmarco.scores"
        named_by_user(key, "the authors' scores", page, kind="file")
    for method, runs in UNCERTAIN.msmarco.runs.items():
        for strength, run in runs.items():
            if run != TRAIN and not os.path.isfile(run):
                refuse(
                    f"config.yaml: `uncertain_ranking.msmarco.runs.{method}` has {run!r} for "
                    f"{strength}, which is not a file. Set it to a run in TREC format, or to "
                    f"`{TRAIN}` (see docs/{page})."
                )


def training_triples(wildcards):
    """Triples for the training of cross-encoders."""
    key = "uncertain_ranking.msmarco.training.triples"
    return named_by_user(key, "the training triples", "fair-reranking.md", kind="file")


def mini_encoder(wildcards):
    """Files of the encoder from which BERT-Mini is trained."""
    return named_model_files(
        "uncertain_ranking.msmarco.training.encoder",
        "fair-reranking.md",
        "a pre-trained BERT in safetensors",
    )


def training_options(settings):
    """Options of a training run that both trainings have."""
    return {
        "epochs": settings.epochs,
        "batch_size": settings.batch,
        "learning_rate": settings.learning_rate,
        "schedule": "constant",
    }


#: Parameters of the training of cross-encoders.
PAIR_TRAINING = {
    "options": training_options(RANKER_TRAINING.pairs)
    | {"optimiser": "adam", "bf16": SETTINGS.gpu_precision == "bfloat16"},
    "triples": RANKER_TRAINING.first,
    "pair": MSMARCO.pair,
    "seed": SETTINGS.seed,
}


def uncertain_model_files(wildcards):
    """Files of the configured cross-encoder, or BERT-Mini, which is trained if there are triples."""
    if UNCERTAIN.msmarco.model is None and RANKER_TRAINING.triples is not None:
        training_triples(wildcards)
        mini_encoder(wildcards)
        return ["work/heuss2025/ch3/models/bert-mini"]
    return named_model_files(
        "uncertain_ranking.msmarco.model",
        "fair-reranking.md",
        "a cross-encoder in safetensors, or the authors' file as `scores`",
    )


def msmarco_scores(wildcards):
    """Scores on MS MARCO: from the authors' file, or by a configured model."""
    given = UNCERTAIN.msmarco.scores is not None
    return f"work/heuss2025/ch3/{'given' if given else 'cross-encoded'}.scores.parquet"


def scores_of(ranker):
    """Scores of a ranker."""
    if ranker == "msmarco":
        return msmarco_scores(None)
    return f"work/heuss2025/ch3/{ranker}.scores.parquet"


def trade_off_inputs(wildcards):
    """Scores, and the inputs of their measures."""
    tier = RANKED_BY[wildcards.ranker]
    return {
        "scores": scores_of(wildcards.ranker),
        **UNCERTAIN_COLLECTION[tier],
        "trained": list(trained_runs(tier).values()),
    }


def ranker_files(*kinds, collection=False, first=False):
    """Input function: scores or measures of all rankers of a tier, or of the first."""

    def files(wildcards):
        check_uncertain(wildcards.tier)
        rankers = list(UNCERTAIN_RANKERS[wildcards.tier])[: 1 if first else None]
        paths_by_kind = {
            kind: [
                (
                    scores_of(ranker)
                    if kind == "scores"
                    else f"work/heuss2025/ch3/{ranker}.{kind}.parquet"
                )
                for ranker in rankers
            ]
            for kind in kinds
        }
        if first:
            paths_by_kind = {kind: paths[0] for kind, paths in paths_by_kind.items()}
        return paths_by_kind | (UNCERTAIN_COLLECTION[wildcards.tier] if collection else {})

    return files


def operating_point_inputs(wildcards):
    """Measures of the first ranker, with binary neutrality, and with scores over sampled heads."""
    first = list(UNCERTAIN_RANKERS[wildcards.tier])[0]
    return ranker_files("measures", first=True)(wildcards) | {
        variant: f"work/heuss2025/ch3/{first}.measures-{variant}.parquet"
        for variant in ("binary", "sampled")
    }


def ranker_names(wildcards):
    """Names of the rankers of a tier."""
    return list(UNCERTAIN_RANKERS[wildcards.tier].values())


def compared_methods(wildcards):
    """Baselines of PUFR in a tier."""
    return POST_PROCESSING + (TRAINED_METHODS if wildcards.tier == "full" else [])
