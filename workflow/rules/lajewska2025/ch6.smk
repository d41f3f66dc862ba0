# lajewska2025, chapter 6: responses generated from nuggets (GINGER).
# Labels of nuggets by three judge models -> V_strict of each response -> means by judge.


include: "ch6_inputs.smk"


# Table 6.7: systems by judge; supplements describe the nuggets and the agreement of the judges.
use rule table as lajewska2025_ch6_judges with:
    input:
        labels=nugget_labels(),
    output:
        **table_files(
            tables=["agreement", "nuggets", "readings", "rewriting"], figures=["responses"]
        ),
    pathvars:
        result="released/lajewska2025/table_6_7",
    resources:
        **needs(1000),
    params:
        **runs("lajewska2025/ch6/judges"),
    message:
        "Scores of three judges (Table 6.7)"


# Table 6.8: scores by methods of clustering and ranking.
use rule table as lajewska2025_ch6_parts with:
    input:
        labels=nugget_labels(),
    output:
        **table_files(tables=["tests", "changes"]),
    pathvars:
        result="released/lajewska2025/table_6_8",
    resources:
        **needs(1000),
    params:
        **runs("lajewska2025/ch6/parts"),
    message:
        "Scores by clustering and ranking (Table 6.8)"
