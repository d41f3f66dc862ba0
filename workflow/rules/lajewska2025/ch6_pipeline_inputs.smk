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


def written_by(tier):
    """Responses of the language models of a tier."""
    models = getattr(GINGER, tier).models
    return [f"work/ginger/{tier}/written/{model}.parquet" for model in models]
