"""Systems in the tables of chapter 2 of abolghasemi2026, by tier, and their training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everycell.learning.rankers import TrainedRanker
from papers.abolghasemi2026.ch2_settings import Concepts, Full, QueryByExample

#: Row, ranker, detail and run.
System = tuple[str, str, str, str]

#: Untrained encoder for the collection of planted concepts.
NEW_ENCODER = "untrained"
#: Encoders of the tiers with surrogate data, and their names in tables.
ENCODERS = {"embedded": NEW_ENCODER, "released": "splade-tiny"}
ENCODER_NAMES = {"embedded": "small BERT", "released": "splade-tiny"}
#: Collection of each tier.
COLLECTION = {"embedded": "concepts", "released": "cacm", "full": "scidocs"}
#: Collection of each tier for Table 2.2, which needs real text.
TOKENISED_COLLECTION = COLLECTION | {"embedded": "pydocs"}
#: Additional ad-hoc collections of each tier for Table 2.2.
AD_HOC = {"embedded": [], "released": ["cisi", "cranfield"], "full": []}
#: Planted scores of the embedded collection, with their description.
PLANTED_SCORES = {
    "words": "weights of shared words, and names",
    "no-names": "weights of shared concepts",
    "concepts": "weights of shared concepts, and names",
}
#: Systems compared on short and long queries over the documents of pydocs, BM25 first.
SHORT_AND_LONG = {"BM25": "bm25.STM2", "SPLADE, zero-shot": "splade.splade-tiny.zero-shot"}
#: Numbers of expansion terms on SciDocs, as in the thesis.
FULL_EXPANSION = (200, 300)
#: Numbers of terms that TILDE proposes (m) for which the text states the appended tokens.
STATED_EXPANSIONS = ("200", "300", "100")
#: More pairs than any task has, so that all are used.
ALL_PAIRS = 1_000_000
#: Optional rankers on SciDocs: row -> setting of the encoder.
OPTIONAL = {"d": "tilde_msmarco", "g": "tildev2_msmarco"}


def expansions(settings: QueryByExample) -> dict[str, list[int]]:
    """Numbers of expansion terms on surrogate data, by tier."""
    return {"embedded": settings.concepts.expansion, "released": settings.expansion}


def ranking_systems(settings: QueryByExample) -> dict[str, list[System]]:
    """Rows of Table 2.1, by tier.

    A surrogate system has the letter of the published row that it replaces: a small encoder
    replaces SciBERT, and a zero-shot SPLADE replaces the zero-shot TILDEv2. Rows from m on are
    not in the thesis.
    """
    sizes = expansions(settings)
    planted = [
        (row, "Planted", detail, f"planted.{name}")
        for row, (name, detail) in zip("pqr", PLANTED_SCORES.items(), strict=True)
    ]
    surrogates = [
        ("b", "BM25", "SciBERT-Token", "bm25.SciBERT-Token"),
        ("g", "SPLADE", "splade-tiny zero-shot", "splade.splade-tiny.zero-shot"),
        ("m", "BM25", "STM2, tuned on validation", "bm25-tuned.STM2"),
        ("n", "BM25", "BERT-Token, cut as for the encoders", "bm25.BERT-Token-cut"),
        ("o", "Dense", "MiniLM zero-shot", "dense.minilm.zero-shot"),
    ]
    tiny = "splade-tiny"
    thesis = [
        ("a", "BM25", "STM2", "bm25.STM2"),
        ("b", "BM25", "SciBERT-Token", "bm25.SciBERT-Token"),
        ("c", "TILDE", "BERT", "tilde.bert.{task}.seed-{seed}"),
        ("d", "TILDE", "MSMARCO", "tilde.msmarco.zero-shot"),
        ("e", "TILDE", "SciBERT", "tilde.scibert.{task}.seed-{seed}"),
        ("f", "TILDEv2", "BERT", "tildev2.bert.{task}.seed-{seed}"),
        ("g", "TILDEv2", "MSMARCO", "tildev2.msmarco.zero-shot"),
        ("h", "TILDEv2", "SciBERT", "tildev2.scibert.{task}.seed-{seed}"),
        *expanded_systems("SciBERT", "scibert.{task}.seed-{seed}", FULL_EXPANSION),
        ("k", "Cross-Encoder", "SciBERT", "cross-encoder.scibert.{task}.seed-{seed}"),
        ("l", "Cross-Encoder", "MTFT-SciBERT", "mtft.scibert.{task}.seed-{seed}"),
    ]
    return {
        "embedded": trained_systems("embedded", sizes["embedded"], "BERT of TILDE", "tilde")
        + planted,
        "released": sorted(trained_systems("released", sizes["released"], tiny, tiny) + surrogates),
        "full": [
            system
            for system in thesis
            if system[0] not in OPTIONAL
            or getattr(settings.encoders, OPTIONAL[system[0]]) is not None
        ],
    }


def trained_systems(tier: str, sizes: Sequence[int], start_name: str, start: str) -> list[System]:
    """Rows on surrogate data with a published counterpart; cross-encoders start from `start`."""
    encoder, name = ENCODERS[tier], ENCODER_NAMES[tier]
    return [
        ("a", "BM25", "STM2", "bm25.STM2"),
        ("e", "TILDE", name, f"tilde.{encoder}.all"),
        ("h", "TILDEv2", name, f"tildev2.{encoder}.all"),
        *expanded_systems(name, f"{encoder}.all", sizes),
        ("k", "Cross-Encoder", start_name, f"cross-encoder.{start}.all"),
        ("l", "Cross-Encoder", f"MTFT-{start_name}", f"mtft.{start}.all"),
    ]


def expanded_systems(name: str, model: str, sizes: Sequence[int]) -> list[System]:
    """Rows i and j: TILDEv2 on documents with `sizes` proposed expansion terms."""
    return [
        (row, "TILDEv2", f"{name} expansion m={size}", f"tildev2-expanded-{size}.{model}")
        for row, size in zip("ij", sizes, strict=False)
    ]


def tokenised_systems() -> dict[str, list[System]]:
    """Rows of Table 2.2, by tier: two rankers with five tokenisers.

    Row k, with Dirichlet smoothing, is not in the thesis, and the full tier leaves it out. The
    embedded tier leaves out SciBERT, whose vocabulary is not in any installed package.
    """
    rankers = [
        (model, ranker, tokens)
        for model, ranker in (("LM", "lm"), ("BM25", "bm25"))
        for tokens in ("SA", "STM1", "STM2", "BERT-Token", "SciBERT-Token")
    ] + [("LM, Dirichlet", "lm-dirichlet", "STM2")]
    systems: list[System] = [
        (row, model, tokens, f"{ranker}.{tokens}")
        for row, (model, ranker, tokens) in zip("abcdefghijk", rankers, strict=True)
    ]
    return {
        "embedded": [system for system in systems if system[2] != "SciBERT-Token"],
        "released": systems,
        "full": [system for system in systems if system[0] != "k"],
    }


def combined_systems(seed: int) -> dict[str, list[System]]:
    """Systems of Tables 2.3 and 2.4 and Figure 2.3; on SciDocs, those trained with this seed."""
    models = {tier: (ENCODER_NAMES[tier], f"{ENCODERS[tier]}.all") for tier in ENCODERS}
    models["full"] = ("SciBERT", f"scibert.{{task}}.seed-{seed}")
    return {
        tier: [
            ("a", "BM25", "STM2", "bm25.STM2"),
            ("b", "TILDE", name, f"tilde.{model}"),
            ("c", "TILDEv2", name, f"tildev2.{model}"),
        ]
        for tier, (name, model) in models.items()
    }


def training_on_surrogate_data(
    ranker: TrainedRanker, settings: QueryByExample | Concepts
) -> dict[str, Any]:
    """Options for training a ranker with a small encoder in few steps.

    A ranker without its own settings in config.yaml uses the defaults of its class.
    """
    names = {"cross-encoder": "cross_encoder", "mtft": "multi_task"}
    hyperparameters = getattr(settings.models, names.get(ranker.name, ranker.name), None)
    hyperparameters = ranker.training if hyperparameters is None else hyperparameters.model_dump()
    return {
        "pairs": settings.models.pairs,
        "negatives": ranker.negatives,
        "input_options": ranker.training_input_options(
            settings.lengths.model_dump(), few_steps=True
        ),
        "options": {
            "epochs": hyperparameters["epochs"],
            "batch_size": hyperparameters["batch"],
            "learning_rate": hyperparameters["learning_rate"],
            "optimiser": ranker.optimiser,
            "warmup_ratio": 0.1,
            # A few passes over the pairs hardly overfit, and dropout takes a fifth of the time.
            "dropout": 0.0,
            "checkpoint_steps": 100,
        },
    }


def training_on_scidocs(ranker: TrainedRanker, settings: Full, bf16: bool) -> dict[str, Any]:
    """Options for training a ranker on SciDocs with all pairs, as in the thesis."""
    hyperparameters = getattr(settings, ranker.name, settings.cross_encoder)
    return {
        "pairs": ALL_PAIRS,
        "negatives": hyperparameters.negatives,
        "input_options": ranker.training_input_options(
            settings.lengths.model_dump(), few_steps=False
        ),
        "options": {
            "epochs": hyperparameters.epochs,
            "batch_size": hyperparameters.batch,
            "learning_rate": hyperparameters.learning_rate,
            "optimiser": ranker.optimiser,
            "schedule": hyperparameters.schedule,
            "warmup_ratio": hyperparameters.warmup,
            "bf16": bf16,
            "patience": getattr(hyperparameters, "patience", None),
        },
    }
