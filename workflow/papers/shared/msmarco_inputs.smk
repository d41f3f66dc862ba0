# Input functions and names of the rules of MS MARCO.
from importlib.util import find_spec

from everycell.collections.msmarco import COLLECTION as MSMARCO_PASSAGES, QUERY_SETS

MSMARCO = SETTINGS.term_fairness.msmarco
#: Content of each index, and the kind of query encoder (everycell.learning.query_encoders).
MSMARCO_INDEXES = {
    "bm25": ("text", None),
    "unicoil": ("impacts", "unicoil"),
    "deepimpact": ("impacts", "words"),
    "ance": ("vectors", "ance"),
    "distilbert_kd": ("vectors", "first"),
    "distilbert_tasb": ("vectors", "first"),
    "tct_colbert": ("vectors", "tct_colbert"),
    "sbert": ("vectors", "mean"),
}
MSMARCO_RERANKERS = ("bert", "minilm", "tinybert")


def msmarco_file(name):
    """A published file in the user's folder, or downloaded."""
    return files_named_by_user(
        "term_fairness.msmarco.folder",
        [name],
        "the published files of MS MARCO",
        "data-cards/msmarco.md",
        corpus="msmarco",
    )[0]


def msmarco_model(reranker):
    """Files of a cross-encoder."""
    return named_model_files(
        f"term_fairness.msmarco.rerankers.{reranker}",
        "data-cards/msmarco.md",
        "a cross-encoder in safetensors with its tokenizer",
    )


def check_msmarco(rankers):
    """Reject rankers whose settings are incomplete.

    Call it in the input function of the requested result: Snakemake reacts to an error in an
    upstream rule by trying another rule.
    """
    for name in (MSMARCO_PASSAGES, MSMARCO.qrels):
        msmarco_file(name)
    for ranker in rankers:
        if ranker in MSMARCO_INDEXES:
            msmarco_fetched_index(ranker)
        if ranker in MSMARCO_RERANKERS:
            msmarco_model(ranker)
        elif MSMARCO_INDEXES[ranker][1] is not None:
            msmarco_encoder_files(ranker)
    kinds = {MSMARCO_INDEXES.get(ranker, (None,))[0] for ranker in rankers}
    if "vectors" in kinds and not rules_have_environments() and find_spec("faiss") is None:
        refuse(
            "Searching vectors of MS MARCO needs the package faiss-cpu, which is not installed: "
            "run `make setup` again, which installs envs/lucene.lock, or use --sdm conda."
        )


def msmarco_encoder_files(ranker):
    """Query encoder of a ranker: files of a model, a file of encoded queries, or nothing."""
    key = f"term_fairness.msmarco.encoders.{ranker}"
    source = getattr(MSMARCO.encoders, ranker)
    if source == "words":
        return []
    page = "data-cards/msmarco.md"
    if source.endswith(".jsonl"):
        return [str(named_by_user(key, "encoded queries", page, kind="file"))]
    return named_model_files(key, page, "a query encoder in safetensors")


def msmarco_fetched_index(ranker):
    """Marker file of a downloaded index; none if the index is a folder."""
    key = f"term_fairness.msmarco.indexes.{ranker}"
    page = "data-cards/msmarco.md"
    index = named_by_user(key, "an index", page, kind="index")
    return [] if os.path.isdir(index) else f"work/published-indexes/{index}.json"


def msmarco_encoded(wildcards):
    """Encoded queries, if an index needs them."""
    if MSMARCO_INDEXES[wildcards.ranker][1] is None:
        return []
    return f"work/msmarco/encoded/{wildcards.ranker}.jsonl"


def msmarco_search_memory(wildcards, attempt):
    """MB for a search: faiss loads a flat index of 8.8 million vectors completely."""
    vectors = MSMARCO_INDEXES[wildcards.ranker][0] == "vectors"
    return memory(40000 if vectors else 8000)(wildcards, attempt)


def msmarco_candidates(collection):
    """BM25 runs that the cross-encoders re-rank."""
    return [f"work/{collection}/runs/bm25.{name}.run" for name in QUERY_SETS]
