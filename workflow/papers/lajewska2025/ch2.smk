# lajewska2025, chapter 2: the pipeline that section 2.2.1 describes, as the rules of chapter 3.


# Figure 2.3: rewriting, retrieval, re-ranking.
use rule figure as lajewska2025_ch2_pipeline with:
    pathvars:
        result="embedded/lajewska2025/figure_2_3",
    params:
        **runs("shared/pipelines:pipeline"),
        rules=rules_before({"": "results/released/lajewska2025/text_3_4_1.csv"}),
    message:
        "Rewriting, retrieval and re-ranking (Figure 2.3)"
