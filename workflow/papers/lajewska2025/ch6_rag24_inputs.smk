# Inputs and names of the rules of lajewska2025, ch6_rag24.smk.

from papers.lajewska2025.ch6_labels import JUDGES
from papers.lajewska2025.ch6_trec_rag import TOPICS, run_file, segment_files

#: Whether to write new responses to TREC RAG 2024; otherwise the released ones are judged.
WRITES_NEW_RESPONSES = GINGER.full.trec_rag is not None


def rag_folder():
    """The configured folder of TREC RAG 2024."""
    return named_by_user(
        "ginger.full.trec_rag",
        "topics, a run and segments of TREC RAG 2024",
        "grounded-responses.md",
    )


def rag_files(wildcards):
    """Topics and run; the segments are too large to hash, see `segment_sizes`."""
    return [rag_folder() / TOPICS, run_file(rag_folder())]


def segment_sizes(wildcards):
    """Size of each segment file; a change reruns the job."""
    return {path.name: path.stat().st_size for path in segment_files(rag_folder())}


def rag_model_file(ending):
    """Input function: a file of the language model that detects nuggets and writes responses."""

    def files(wildcards):
        model = named_by_user(
            "ginger.full.model",
            "a language model that detects nuggets and writes responses",
            "grounded-responses.md",
            kind="language model",
        )
        return f"work/ginger/rag24/{model}/{ending}"

    return files


def judge_files(folder, *endings):
    """Input function: files of the language models that judge responses."""

    def files(wildcards):
        judges = named_by_user(
            "ginger.full.judges",
            "language models that judge responses",
            "grounded-responses.md",
            kind="language models",
        )
        return [f"{folder}/{judge}.{ending}" for ending in endings for judge in judges]

    return files


def rag_provenance(wildcards):
    """Provenance of the new responses, and of created and assigned nuggets."""
    ending = "provenance.json"
    paths = [rag_model_file(f"{step}.{ending}")(wildcards) for step in ("detection", "responses")]
    for step in ("created", "assigned"):
        paths += judge_files(f"work/ginger/rag24/{step}", ending)(wildcards)
    return paths


def three_judges(ending):
    """Input function: labels by a language model for each judge of the thesis, for Table 6.8."""

    def files(wildcards):
        paths = judge_files("work/ginger/full/judged", ending)(wildcards)
        missing_judges = set(JUDGES) - set(GINGER.full.judges.values())
        if missing_judges:
            refuse(
                "config.yaml: `ginger.full.judges` has no model for "
                f"{' and '.join(sorted(missing_judges))}. Table 6.8 is the mean of three judges; "
                f"add a model for each of {', '.join(JUDGES)}, or run Table 6.7."
            )
        return paths

    return files
