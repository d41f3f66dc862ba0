# Input functions of the full tier of lajewska2025, chapter 6.
#: Where texts on a page of responses are from, by whether it is TREC RAG 2024.
NOTES_ON_PAGES = {
    False: "Questions and passages are those of CAsT-snippets (Lajewska and Balog, CIKM 2023), "
    "which come from TREC CAsT.",
    True: "Topics are those of TREC RAG 2024, passages are segments of MS MARCO V2.1.",
}


def written_in_full(*endings):
    """Files of the language model that detects and writes; one alone is no list."""

    def files(wildcards):
        model = named_by_user(
            "ginger.full.model",
            "a language model that detects nuggets and writes",
            "grounded-responses.md",
            kind="language model",
        )
        found = [f"work/ginger/full/{model}/{ending}" for ending in endings]
        return found if len(found) > 1 else found[0]

    return files


def duo_files(wildcards):
    """Files of duoT5, if one is named."""
    if GINGER.full.duo is None:
        return []
    return named_model_files("ginger.full.duo", "grounded-responses.md", "a T5 in safetensors")


def inference_files(wildcards):
    """Files of the model of inference."""
    return named_model_files(
        "ginger.full.inference",
        "grounded-responses.md",
        "a model of inference in safetensors",
        revision=GINGER.full.inference_revision,
    )
