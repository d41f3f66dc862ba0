# Input functions of the full tier of lajewska2025, chapter 6.


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
    """Files of duoT5, where it is a folder; a hub's are found by its library."""
    folder = Path(GINGER.full.duo or "")
    if GINGER.full.duo is None or not folder.is_dir():
        return []
    return encoder_files_in(folder, "ginger.full.duo", what="a T5 in safetensors")


def inference_files(wildcards):
    """Files of the model of inference, where it is a folder; a hub's are found by its library."""
    folder = Path(GINGER.full.inference)
    if not folder.is_dir():
        return []
    return encoder_files_in(
        folder, "ginger.full.inference", what="a model of inference in safetensors"
    )
