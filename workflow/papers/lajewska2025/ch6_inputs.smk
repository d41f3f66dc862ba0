# Inputs and names of the rules of lajewska2025, ch6.smk.

from papers.lajewska2025.ch6_labels import CONDENSED, RESPONSES as GINGER_RESPONSES, TABLES

FETCHED_TOGETHER["ginger-tables"] = [resource(key) for key in TABLES]


def nugget_labels():
    """Labels of nuggets: one file if a mirror or the cache has it, otherwise the authors' tables.

    Only the tables (83 MB) can be downloaded.
    """
    paths = [Path(resource(CONDENSED))]
    mirror = SETTINGS.mirror_folder()
    if mirror is not None:
        paths += [mirror / CONDENSED, mirror / f"{CONDENSED}.gz"]
    is_condensed = any(path.exists() for path in paths)
    return [resource(key) for key in ([CONDENSED] if is_condensed else TABLES)]


GINGER = SETTINGS.ginger

FETCHED_TOGETHER["ginger-responses"] = [resource(key) for key in GINGER_RESPONSES]

#: Sizes of responses.
RESPONSE_SIZES = {
    "clusters": GINGER.clusters,
    "sentences": GINGER.sentences,
    "words": GINGER.words,
}

#: Options for writing responses with a language model.
WRITING = {
    **RESPONSE_SIZES,
    "max_tokens": GINGER.max_tokens,
    "reasoning_tokens": GINGER.reasoning_tokens,
    "prompts": GINGER.prompts,
}


def written_by(tier):
    """Responses of the language models of a tier."""
    models = getattr(GINGER, tier).models
    return [f"work/ginger/{tier}/written/{model}.parquet" for model in models]


def is_rag(wildcards):
    """Whether nuggets come from passages of TREC RAG 2024."""
    return wildcards.source.startswith("rag24")


def passages_of(wildcards):
    """Source passages of the wildcard's nuggets."""
    return f"work/ginger/{'rag24' if is_rag(wildcards) else wildcards.source}/passages.parquet"
