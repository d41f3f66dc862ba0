# lajewska2025, chapter 1: the pipelines of the thesis, as the rules of chapters 3, 5 and 6.


# Figure 1.4: retrieval alone, and responses from nuggets.
use rule figure as lajewska2025_ch1_pipelines with:
    pathvars:
        result="embedded/lajewska2025/figure_1_4",
    params:
        **runs("shared/pipelines:pipeline"),
        rules=rules_before(
            {
                "Conversational search": "results/released/lajewska2025/text_3_4_1.csv",
                "Detection of questions without an answer": "results/released/lajewska2025/table_5_6.csv",
                "Responses from nuggets": "results/released/lajewska2025/table_C_7.csv",
            }
        ),
        groups={
            "lajewska2025/ch3": "RQ1: chapter 3",
            "lajewska2025/ch5": "RQ2: chapter 5",
            "lajewska2025/ch6": "RQ3: chapter 6",
        },
    message:
        "The pipelines with the research questions (Figure 1.4)"
