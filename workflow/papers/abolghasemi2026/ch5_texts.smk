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
