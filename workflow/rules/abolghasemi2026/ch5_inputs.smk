# Input functions and names of the rules of abolghasemi2026, chapter 5.
from everycell.collections.beir import CORPUS as BEIR_CORPUS, QUERIES as BEIR_QUERIES
from everycell.collections.cited_questions import PASSAGES, QUESTIONS
from everycell.collections.nq_open import KEY as NQ_OPEN

#: Files of the library that a job reads.
RAG = "src/everycell/rag"


#: The project's prompts for paraphrases, by what one of them asks for.
PARAPHRASE_PROMPTS = {
    "sentence": f"{RAG}/templates/paraphrase.txt",
    "passage": f"{RAG}/templates/paraphrase_passage.txt",
}


#: Benchmark of chapter 5 of abolghasemi2026 -> its name in tables.
ATTRIBUTION_NAMES = {"nq": "NQ", "nq_full": "NQ", "msmarco_qa": "MS MARCO"}


#: Data of the full tier: key in config.yaml -> benchmark.
ATTRIBUTION_FULL = {"nq": "nq_full", "msmarco_qa": "msmarco_qa"}
#: Files made from Natural Questions that are fetched automatically.
FETCHED_NQ = "work/attribution/nq_fetched"


def runs_of_named_nq():
    """Runs of Natural Questions: BM25's, and those of other available retrievers."""
    named = SETTINGS.attribution.full.nq
    runs = {"BM25": "bm25", "uniCOIL": "unicoil", "TCT-ColBERT": "tct-colbert"}
    return {
        retriever: run
        for retriever, run in runs.items()
        if run == "bm25"
        or named is None
        or (named != FETCH and (Path(named) / f"{run}.run").is_file())
    }


#: Its retrievers and their runs; the first is that of all settings but those of Table 5.9.
ATTRIBUTION_RUNS = {
    "nq": {"BM25": "bm25", "SPLADE": "splade", "MiniLM": "dense"},
    "nq_full": runs_of_named_nq(),
    # Its passages come in an order of their own, which stands where the other has BM25's.
    "msmarco_qa": {"BM25": "published"},
}


#: Benchmarks of a tier; one of the two of the full tier is enough.
ATTRIBUTION_BENCHMARKS = {
    "released": ["nq"],
    "full": [
        benchmark
        for key, benchmark in ATTRIBUTION_FULL.items()
        if getattr(SETTINGS.attribution.full, key)
    ]
    or list(ATTRIBUTION_FULL.values()),
}


def attribution_runs(benchmark):
    """Runs of all retrievers of a benchmark."""
    return [
        f"work/attribution/{benchmark}/runs/{run}.run"
        for run in ATTRIBUTION_RUNS[benchmark].values()
    ]


def paraphrase_sizes(wildcards):
    """Number of questions to paraphrase, and the candidates."""
    asked = getattr(SETTINGS.attribution, wildcards.tier)
    tried = getattr(SETTINGS.attribution.paraphrases, wildcards.tier)
    counts = tried.model_dump(exclude={"model"})
    return {"k": asked.k, "questions": asked.questions.main} | counts


def paraphrase_prompt(wildcards):
    """The user's prompt for paraphrases, or the project's for the unit of a tier."""
    chosen = SETTINGS.attribution.paraphrases
    return chosen.template or PARAPHRASE_PROMPTS[chosen.sizes(wildcards.tier).unit]


def paraphraser(wildcards):
    """The language model that paraphrases passages."""
    return named_by_user(
        f"attribution.paraphrases.{wildcards.tier}.model",
        "a language model that says passages again",
        "attribution.md",
        kind="language model",
    )


def attribution_nq(wildcards):
    """Natural Questions on a configured collection or on BEIR's, and their runs."""
    parts = [QUESTIONS, PASSAGES]
    parts += [f"{run}.run" for run in ATTRIBUTION_RUNS["nq_full"].values()]
    if SETTINGS.attribution.full.nq == FETCH:
        return [f"{FETCHED_NQ}/{part}" for part in parts]
    return files_named_by_user(
        "attribution.full.nq",
        parts,
        "questions, passages and runs (or the other data set below `attribution.full`)",
        "attribution.md",
        corpus="nq",
    )


def attribution_msmarco_qa(wildcards):
    """The file of MS MARCO QA, configured or downloaded."""
    return named_by_user(
        "attribution.full.msmarco_qa",
        "dev_v2.1.json of MS MARCO QA",
        "attribution.md",
        kind="file",
        corpus="msmarco_qa/dev_v2.1.json",
    )


def attribution_templates():
    """Prompts without and with authors, and people's names: the project's, or the user's own."""
    chosen = SETTINGS.attribution
    return {
        "template": chosen.template or f"{RAG}/templates/cited_answer.txt",
        "authors_template": chosen.authors_template or f"{RAG}/templates/cited_answer_authors.txt",
        "names": chosen.names or f"{RAG}/names.txt",
    }


def attribution_answers(tier, ending):
    """Answers to all benchmarks of a tier, of its language models and, in one, of the control."""

    def files(wildcards):
        models = named_by_user(
            f"attribution.{tier}.models",
            "language models that answer",
            "attribution.md",
            kind="language models",
        )
        named = [
            f"work/attribution/{tier}/{benchmark}/answers/{model}.{ending}"
            for benchmark in ATTRIBUTION_BENCHMARKS[tier]
            for model in models
        ]
        # The control is no language model, and has no identity.
        if tier == "released" and ending == "parquet":
            named.append("work/attribution/released/nq/control.parquet")
        return named

    return files


#: Results of attribution bias that a tier makes of its answers, next to Table 5.1. Other ones of the
#: embedded tier follow from published tables; MS MARCO is the full tier's.
ATTRIBUTION_RESULTS = {
    "embedded": ["table_5_2", "table_5_4", "table_5_6", "figure_5_9"],
    "released": [
        *(f"table_5_{number}" for number in (2, 3, 4, 5, 6, 7, 8, 9, 12, 14)),
        "figure_5_5",
        "figure_5_9",
    ],
    "full": [
        *(f"table_5_{number}" for number in range(2, 16)),
        "figure_5_5",
        "figure_5_9",
    ],
}


#: Supplementary tables and figures of Table 5.1.
ATTRIBUTION_BESIDE = {
    "embedded": (["intervals", "answers", "truth", "bias"], ["planted", "cited"]),
    "released": (["intervals", "answers", "readings", "truth", "bias"], []),
    "full": (["intervals", "answers", "readings"], []),
}


def attribution_outputs(tier):
    """Files of all results of attribution bias that a tier makes of its answers."""
    tables, figures = ATTRIBUTION_BESIDE[tier]
    files = table_files(tables=tables, figures=figures)
    for name in ATTRIBUTION_RESULTS[tier]:
        kind = table_files if name.startswith("table") else figure_files
        files |= kind(f"{tier}/abolghasemi2026/{name}")
    return files
