# abolghasemi2026, chapter 3: prompts and dialogues, shown as figures.


# Figures 3.3 and 3.6: the project's prompts, with slots for the input dialogue.
use rule figure as abolghasemi2026_ch3_prompts with:
    input:
        template=SETTINGS.counterfactuals.template or COUNTERFACTUAL_PROMPT,
    output:
        **figure_files(),
        **figure_files("embedded/abolghasemi2026/figure_3_6"),
    pathvars:
        result="embedded/abolghasemi2026/figure_3_3",
    params:
        **runs("abolghasemi2026/ch3_texts:prompts"),
    message:
        "Prompts for labels and counterfactuals (Figures 3.3 and 3.6)"


# Figures 3.1, 3.2 and 3.7: dialogues of the released test set. The examples are the lines of the file
# with the dialogues of the thesis.
use rule figure as abolghasemi2026_ch3_dialogues with:
    input:
        **counterfactual_dialogues(),
    output:
        **figure_files(),
        **figure_files("released/abolghasemi2026/figure_3_1"),
        **figure_files("released/abolghasemi2026/figure_3_2"),
    pathvars:
        result="released/abolghasemi2026/figure_3_7",
    params:
        **runs("abolghasemi2026/ch3_texts:dialogues"),
        examples=["MultiWOZ-main-0264", "MultiWOZ-main-0276"],
    message:
        "Dialogues with counterfactuals (Figures 3.1, 3.2 and 3.7)"
