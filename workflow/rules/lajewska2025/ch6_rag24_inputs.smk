# Input functions of TREC RAG 2024 in the full tier of lajewska2025, chapter 6.
from everycell.collections.nugget_labels import JUDGES
from everycell.collections.trec_rag import TOPICS, run_file, segment_files

#: Whether responses to TREC RAG 2024 are written again; else the released ones are judged.
WRITTEN_ANEW = GINGER.full.trec_rag is not None


def rag_folder():
    """The configured folder of TREC RAG 2024."""
    return named_by_user(
        "ginger.full.trec_rag",
        "topics, a run and segments of TREC RAG 2024",
        "grounded-responses.md",
    )


def rag_files(wildcards):
    """Topics and run; segments are far too many to hash, see `segment_sizes`."""
    return [rag_folder() / TOPICS, run_file(rag_folder())]


def segment_sizes(wildcards):
    """Size of each file of segments; a change causes a new read."""
    return {path.name: path.stat().st_size for path in segment_files(rag_folder())}


def written_for_rag(ending):
    """A file of the language model that detects and writes."""

    def files(wildcards):
        model = named_by_user(
            "ginger.full.model",
            "a language model that detects nuggets and writes",
            "grounded-responses.md",
            kind="language model",
        )
        return f"work/ginger/rag24/{model}/{ending}"

    return files


def judges_named(folder, *endings):
    """Files of the language models that judge."""

    def files(wildcards):
        judges = named_by_user(
            "ginger.full.judges",
            "language models that judge",
            "grounded-responses.md",
            kind="language models",
        )
        return [f"{folder}/{judge}.{ending}" for ending in endings for judge in judges]

    return files


def asked_for_rag(wildcards):
    """Models and prompts for writing responses, and for creating and assigning nuggets."""
    ending = "provenance.json"
    found = [written_for_rag(f"{step}.{ending}")(wildcards) for step in ("detection", "responses")]
    for step in ("created", "assigned"):
        found += judges_named(f"work/ginger/rag24/{step}", ending)(wildcards)
    return found


def three_judges(ending):
    """Labels by a language model for each judge of the thesis; Table 6.8 averages them."""

    def files(wildcards):
        found = judges_named("work/ginger/full/judged", ending)(wildcards)
        lacking = set(JUDGES) - set(GINGER.full.judges.values())
        if lacking:
            refuse(
                "config.yaml: `ginger.full.judges` names no model for "
                f"{' and '.join(sorted(lacking))}; Table 6.8 is the mean of three judges, so name "
                f"one for each of {', '.join(JUDGES)}, or ask for Table 6.7."
            )
        return found

    return files
