# abolghasemi2026, chapter 5: prompts and answers, shown as figures and tables.


# Figures 5.2, 5.6, 5.7 and 5.8: the project's prompts, with slots for the data, and its list of names.
use rule figure as abolghasemi2026_ch5_prompts with:
    input:
        **attribution_templates(),
        **paraphrase_templates(),
    output:
        **figure_files(),
        **figure_files("embedded/abolghasemi2026/figure_5_6"),
        **figure_files("embedded/abolghasemi2026/figure_5_7"),
        **figure_files("embedded/abolghasemi2026/figure_5_8"),
    pathvars:
        result="embedded/abolghasemi2026/figure_5_2",
    params:
        **runs("abolghasemi2026/ch5_prompts:prompts"),
        k=ATTRIBUTION.k,
    message:
        "Prompts for answers, paraphrases and names (Figures 5.2, 5.6, 5.7 and 5.8)"


# Figures 5.3 and 5.4: which author a document has in the prompt of each mode.
use rule figure as abolghasemi2026_ch5_modes with:
    output:
        **figure_files(),
        **figure_files("embedded/abolghasemi2026/figure_5_4"),
    pathvars:
        result="embedded/abolghasemi2026/figure_5_3",
    params:
        **runs("abolghasemi2026/ch5_prompts:modes"),
    message:
        "Authors of documents in the prompts of each mode (Figures 5.3 and 5.4)"


# Tables 5.16 and 5.17 and Figure 5.1: answers of the tier's models to single questions, chosen by a
# rule.
use rule table as abolghasemi2026_ch5_examples with:
    input:
        **attribution_templates(),
        questions="work/attribution/nq/questions.parquet",
        relevant="work/attribution/nq/relevant.parquet",
        passages="work/attribution/nq/passages.parquet",
        runs=attribution_runs("nq"),
        paraphrases="work/attribution/released/nq/paraphrases.parquet",
        asked="work/attribution/released/nq/asked.parquet",
        records=expand(
            "work/attribution/released/nq/answers/{model}.record.jsonl",
            model=FULLY_ASKED_MODELS,
        ),
    output:
        **table_files(),
        **table_files("released/abolghasemi2026/table_5_17"),
        **figure_files("released/abolghasemi2026/figure_5_1"),
    pathvars:
        result="released/abolghasemi2026/table_5_16",
    resources:
        **needs(900, 10),
    params:
        **runs("abolghasemi2026/ch5_examples:examples"),
        models=list(FULLY_ASKED_MODELS.values()),
        sizes=ATTRIBUTION.released.model_dump(exclude={"few"}),
        retrievers=list(ATTRIBUTION_RUNS["nq"]),
        dataset=ATTRIBUTION_NAMES["nq"],
        labels=ATTRIBUTION.labels.model_dump(),
        seed=SETTINGS.seed,
    message:
        "Answers to single questions (Tables 5.16 and 5.17, Figure 5.1)"
