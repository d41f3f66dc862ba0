# abolghasemi2026, chapter 5: attribution bias in retrieval-augmented generation.


include: "ch5_inputs.smk"
include: "ch5_texts.smk"


# Cells that follow from other published cells: bias from attribution quality, recall and counts
# from each other, and Figure 5.5.
use rule table as abolghasemi2026_ch5_derived with:
    input:
        published=expand("published/abolghasemi2026/{table}.csv", table=ATTRIBUTION_TABLES),
    output:
        **table_files(tables=["tests"]),
        **table_files("embedded/abolghasemi2026/table_5_5"),
        **table_files("embedded/abolghasemi2026/table_5_11"),
        **table_files("embedded/abolghasemi2026/table_5_12"),
        **table_files("embedded/abolghasemi2026/text_5"),
        **figure_files("embedded/abolghasemi2026/figure_5_5"),
    pathvars:
        result="embedded/abolghasemi2026/table_5_3",
    params:
        **runs("abolghasemi2026/ch5:derived"),
        declared=declared_inputs("embedded", "abolghasemi2026", *ATTRIBUTION_TABLES),
    message:
        "Attribution bias and counts from other published tables (Tables 5.3, 5.5, 5.11, 5.12)"


# A control with a known bias, on short queries to docstrings with documents retrieved by BM25.
use rule step as abolghasemi2026_ch5_planted with:
    input:
        documents="work/pydocs/documents.parquet",
        candidates="work/pydocs/candidates.parquet",
        run="work/pydocs/runs/bm25.STM2.run",
    output:
        answers="work/attribution/embedded/answers.parquet",
        strengths="work/attribution/embedded/strengths.parquet",
    pathvars:
        job="attribution/planted",
    resources:
        **needs(900, 10),
    params:
        **runs("abolghasemi2026/ch5_controls:planted"),
        **PLANTED_PREFERENCE,
        dataset="pydocs",
        task="known-item",
        setting=COLLECTIONS["pydocs"].setting,
        k=ATTRIBUTION.k,
        depths=ATTRIBUTION.depths,
        seed=SETTINGS.seed,
    message:
        "Answers of generators with a planted preference for a label"


# All tables and figures that are computed from answers, which takes seconds. In the embedded tier,
# the answers are those of the control.
use rule table as abolghasemi2026_ch5_tables with:
    input:
        answers=["work/attribution/embedded/answers.parquet"],
        provenance=[],
        strengths="work/attribution/embedded/strengths.parquet",
    output:
        **attribution_outputs("embedded"),
    pathvars:
        result="embedded/abolghasemi2026/table_5_1",
    resources:
        **needs(900, 10),
    params:
        **runs("abolghasemi2026/ch5:tables"),
        **PLANTED_PREFERENCE,
        published_generators=None,
        seed=SETTINGS.seed,
    message:
        "Measuring a planted preference for a label (Tables 5.1, 5.2, 5.4, 5.6, Figure 5.9)"


# Released tier: answers of a small language model to Natural Questions.
use rule table as abolghasemi2026_ch5_tables_released with:
    input:
        answers=attribution_answers("released", "parquet"),
        readings=attribution_answers("released", "readings.parquet"),
        provenance=attribution_answers("released", "provenance.json"),
    output:
        **attribution_outputs("released"),
    pathvars:
        result="released/abolghasemi2026/table_5_1",
    resources:
        **needs(900, 10),
    params:
        **runs("abolghasemi2026/ch5:tables"),
        **PLANTED_PREFERENCE,
        published_generators=None,
        seed=SETTINGS.seed,
    message:
        "Attribution bias of a small language model (Tables 5.1 to 5.9, 5.12, 5.14)"


# Full tier: the models of the thesis, on both data sets.
use rule table as abolghasemi2026_ch5_tables_full with:
    input:
        answers=attribution_answers("full", "parquet"),
        readings=attribution_answers("full", "readings.parquet"),
        provenance=attribution_answers("full", "provenance.json"),
    output:
        **attribution_outputs("full"),
    pathvars:
        result="full/abolghasemi2026/table_5_1",
    resources:
        **needs(900, 10),
    params:
        **runs("abolghasemi2026/ch5:tables"),
        **PLANTED_PREFERENCE,
        # Table 5.14 lacks the rows of GPT-4.
        published_generators={
            "all": ["Mistral", "Llama3", "GPT-4"],
            "table_5_14": ["Mistral", "Llama3"],
        },
        seed=SETTINGS.seed,
    message:
        "Attribution bias of the thesis' models (Tables 5.1 to 5.15)"
