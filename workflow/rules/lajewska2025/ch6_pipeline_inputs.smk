# Input functions and names of the pipeline of lajewska2025, chapter 6.
from everycell.collections.ginger_responses import FILES as GINGER_RESPONSES

GINGER = SETTINGS.ginger

FETCHED_TOGETHER["ginger-responses"] = [resource(key) for key in GINGER_RESPONSES]

#: How large responses are.
RESPONSE_SIZES = {
    "clusters": GINGER.clusters,
    "sentences": GINGER.sentences,
    "words": GINGER.words,
}


#: How a language model writes them.
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
    """Whether nuggets are from passages of TREC RAG 2024."""
    return wildcards.source.startswith("rag24")


def passages_of(wildcards):
    """Source passages of the wildcard's nuggets."""
    return f"work/ginger/{'rag24' if is_rag(wildcards) else 'released'}/passages.parquet"


def of_tier_in_ginger(ending):
    """A file of the wildcard's tier: of people's nuggets, or of those that a language model detects."""

    def file(wildcards):
        if wildcards.tier == "full":
            return written_in_full(ending)(wildcards)
        return f"work/ginger/released/{ending}"

    return file
