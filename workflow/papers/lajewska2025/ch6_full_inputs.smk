# Inputs and names of the rules of lajewska2025, ch6_full.smk.

#: Notes on the sources of texts on a page of responses; the key is True for TREC RAG 2024.
NOTES_ON_PAGES = {
    False: "Questions and passages are from CAsT-snippets (Lajewska and Balog, CIKM 2023), which "
    "are from TREC CAsT.",
    True: "Topics are from TREC RAG 2024, and passages are segments of MS MARCO V2.1.",
}


def full_ginger_files(*endings):
    """Input function: files of the language model of the full tier; a single path if only one."""

    def files(wildcards):
        model = named_by_user(
            "ginger.full.model",
            "a language model that detects nuggets and writes responses",
            "grounded-responses.md",
            kind="language model",
        )
        paths = [f"work/ginger/full/{model}/{ending}" for ending in endings]
        return paths if len(paths) > 1 else paths[0]

    return files


def duo_files(wildcards):
    """Files of duoT5, if configured."""
    if GINGER.full.duo is None:
        return []
    return named_model_files("ginger.full.duo", "grounded-responses.md", "a T5 in safetensors")


def inference_files(wildcards):
    """Files of the inference model."""
    return named_model_files(
        "ginger.full.inference",
        "grounded-responses.md",
        "an inference model in safetensors",
        revision=GINGER.full.inference_revision,
    )


def retrieved_file(key, content):
    """Input function: a file of the input "retrieved", if configured."""

    def file(wildcards):
        if GINGER.full.retrieved.run is None:
            return []
        return str(
            named_by_user(
                f"ginger.full.retrieved.{key}", content, "grounded-responses.md", kind="file"
            )
        )

    return file
