# lajewska2025, appendix A: participants in the studies of chapter 4, and expert scores.


# Table A.1: demographics of the participants.
use rule table as lajewska2025_chA_demographics with:
    input:
        **LIMITATIONS_RATINGS,
    pathvars:
        result="released/lajewska2025/table_A_1",
    params:
        **runs("lajewska2025/chA:demographics"),
        pairs_per_hit=10,
    message:
        "Demographics (Table A.1)"


# Figure A.1: expert scores of the variants of the responses.
use rule figure as lajewska2025_chA_expert_scores with:
    input:
        experts=LIMITATIONS_EXPERTS,
    pathvars:
        result="released/lajewska2025/figure_A_1",
    params:
        **runs("lajewska2025/chA:expert_scores"),
        # Length of the whiskers in interquartile ranges, as in the authors' code.
        whiskers={"Diversity": 0.5, "Balance": 1.5},
    message:
        "Expert scores (Figure A.1)"
