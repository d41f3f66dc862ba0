# Inputs and names of the rules of abolghasemi2026, ch5.smk.

from everycell.collections.cited_questions import CORPUS as BEIR_CORPUS
from everycell.collections.cited_questions import QUERIES as BEIR_QUERIES
from everycell.collections.cited_questions import PASSAGES, QUESTIONS
from papers.abolghasemi2026.ch5_nq_open import KEY as NQ_OPEN

#: Folder of the default prompts and names.
RAG = "src/everycell/rag"

#: Default prompts for paraphrases, by unit.
PARAPHRASE_PROMPTS = {
    "sentence": "workflow/papers/abolghasemi2026/ch5_paraphrase.txt",
    "passage": "workflow/papers/abolghasemi2026/ch5_paraphrase_passage.txt",
}

#: Benchmark of chapter 5 of abolghasemi2026 -> its name in tables.
ATTRIBUTION_NAMES = {"nq": "NQ", "nq_full": "NQ", "msmarco_qa": "MS MARCO"}

#: Data of the full tier: key in config.yaml -> benchmark.
ATTRIBUTION_FULL = {"nq": "nq_full", "msmarco_qa": "msmarco_qa"}

#: Folder of the converted Natural Questions of BEIR, which are downloaded automatically.
FETCHED_NQ = "work/attribution/nq_fetched"


#: Value of a retriever's setting: its passages are encoded here.
ENCODE = "encode"

#: Runs of the retrievers of Table 5.9 -> keys of their settings.
RETRIEVER_KEYS = {"unicoil": "unicoil", "tct-colbert": "tct_colbert"}


def retriever_setting(run):
    """Run file of a retriever of Table 5.9, `encode`, or nothing."""
    return getattr(SETTINGS.attribution.full.retrievers, RETRIEVER_KEYS[run])


def available_nq_runs():
    """Runs on Natural Questions by retriever: BM25, and other retrievers with a run."""
    folder = SETTINGS.attribution.full.nq
    runs = {"BM25": "bm25", "uniCOIL": "unicoil", "TCT-ColBERT": "tct-colbert"}
    return {
        retriever: run
        for retriever, run in runs.items()
        if run == "bm25"
        or folder is None
        or retriever_setting(run) is not None
        or (folder != FETCH and (Path(folder) / f"{run}.run").is_file())
    }


#: Benchmark -> retrievers and their runs; all settings except that of Table 5.9 use the first.
ATTRIBUTION_RUNS = {
    "nq": {"BM25": "bm25", "SPLADE": "splade", "MiniLM": "dense"},
    "nq_full": available_nq_runs(),
    # The published order of the passages replaces that of BM25.
    "msmarco_qa": {"BM25": "published"},
}

#: Benchmarks of a tier; in the full tier those that are configured, or both.
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
    """Numbers of questions and passages to paraphrase."""
    settings = getattr(SETTINGS.attribution, wildcards.tier)
    sizes = getattr(SETTINGS.attribution.paraphrases, wildcards.tier).model_dump(exclude={"model"})
    return {"k": settings.k, "questions": settings.questions.main} | sizes


def paraphrase_templates():
    """Prompts for paraphrases by unit: the user's own, or the defaults."""
    own = SETTINGS.attribution.paraphrases.template
    return {unit: own or template for unit, template in PARAPHRASE_PROMPTS.items()}


def paraphrase_prompt(wildcards):
    """The user's prompt for paraphrases, or the default for the unit of a tier."""
    unit = SETTINGS.attribution.paraphrases.sizes(wildcards.tier).unit
    return paraphrase_templates()[unit]


def paraphraser(wildcards):
    """The language model that paraphrases passages."""
    return named_by_user(
        f"attribution.paraphrases.{wildcards.tier}.model",
        "a language model that paraphrases passages",
        "attribution.md",
        kind="language model",
    )


def nq_files(names):
    """Files of Natural Questions: in the user's folder, or made from those of BEIR."""
    if SETTINGS.attribution.full.nq == FETCH:
        return [f"{FETCHED_NQ}/{name}" for name in names]
    return files_named_by_user(
        "attribution.full.nq",
        names,
        "questions, passages and runs (or the other data set under `attribution.full`)",
        "attribution.md",
        corpus="nq",
    )


def nq_texts(wildcards):
    """Questions and passages of Natural Questions."""
    return nq_files([QUESTIONS, PASSAGES])


def attribution_nq(wildcards):
    """Natural Questions with passages and runs: the user's files, or made from those of BEIR."""
    own_runs = {
        run: nq_run(run)
        for run in ATTRIBUTION_RUNS["nq_full"].values()
        if run in RETRIEVER_KEYS and retriever_setting(run) is not None
    }
    runs = ATTRIBUTION_RUNS["nq_full"].values()
    names = [QUESTIONS, PASSAGES, *(f"{run}.run" for run in runs if run not in own_runs)]
    in_folder = dict(zip(names, nq_files(names), strict=True))
    return nq_texts(wildcards) + [own_runs.get(run) or in_folder[f"{run}.run"] for run in runs]


def nq_run(run):
    """A run that the user set, or that is made by encoding the passages."""
    if retriever_setting(run) == ENCODE:
        return f"work/attribution/nq_encoded/{run}.run"
    key = f"attribution.full.retrievers.{RETRIEVER_KEYS[run]}"
    return str(named_by_user(key, "a run in TREC format", "attribution.md", kind="file"))


def retriever_encoder(wildcards):
    """Files of the encoder of a retriever."""
    return named_model_files(
        f"attribution.full.retrievers.{RETRIEVER_KEYS[wildcards.run]}_encoder",
        "attribution.md",
        "an encoder of questions and passages in safetensors",
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
    """Prompts without and with authors, and people's names: the user's own, or the defaults."""
    own = SETTINGS.attribution
    return {
        "template": own.template or f"{RAG}/templates/cited_answer.txt",
        "authors_template": own.authors_template or f"{RAG}/templates/cited_answer_authors.txt",
        "names": own.names or f"{RAG}/names.txt",
    }


def attribution_answers(tier, ending):
    """Input function: answers by a tier's language models, and by the control if any."""

    def files(wildcards):
        models = named_by_user(
            f"attribution.{tier}.models",
            "language models that answer questions",
            "attribution.md",
            kind="language models",
        )
        paths = [
            f"work/attribution/{tier}/{benchmark}/answers/{model}.{ending}"
            for benchmark in ATTRIBUTION_BENCHMARKS[tier]
            for model in models
        ]
        # The control has no readings and no provenance.
        if tier == "released" and ending == "parquet":
            paths.append("work/attribution/released/nq/control.parquet")
        return paths

    return files


#: Results, in addition to Table 5.1, that a tier computes from its answers. The embedded tier derives
#: others from published tables; only the full tier has MS MARCO.
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
ATTRIBUTION_SUPPLEMENTS = {
    "embedded": (["intervals", "answers", "truth", "bias"], ["planted", "cited"]),
    "released": (["intervals", "answers", "readings", "truth", "bias"], []),
    "full": (["intervals", "answers", "readings"], []),
}


def attribution_outputs(tier):
    """Files of all results that a tier computes from its answers."""
    tables, figures = ATTRIBUTION_SUPPLEMENTS[tier]
    files = table_files(tables=tables, figures=figures)
    for name in ATTRIBUTION_RESULTS[tier]:
        kind = table_files if name.startswith("table") else figure_files
        files |= kind(f"{tier}/abolghasemi2026/{name}")
    return files


ATTRIBUTION = SETTINGS.attribution

#: Models of the released tier that receive all prompts, by name, with their names in tables.
FULLY_ASKED_MODELS = {
    name: title
    for name, title in ATTRIBUTION.released.models.items()
    if name not in ATTRIBUTION.released.few
}

#: Parameters of the control: label preferences in the figure and in the tables, other log-odds.
PLANTED_PREFERENCE = {
    "strengths": ATTRIBUTION.planted.strengths,
    "shown": ATTRIBUTION.planted.shown,
    "odds": ATTRIBUTION.planted.model_dump(include={"skill", "base"}),
}

#: Published tables from which others are derived.
ATTRIBUTION_TABLES = [
    "table_5_1",
    "table_5_2",
    "table_5_4",
    "table_5_11",
    "table_5_12",
    "table_5_13",
    "table_5_14",
    "table_5_15",
]
