# lajewska2025, appendix C: votes of three pilots for two pairs of responses.


# Table C.2: ANOVA of the published votes.
use rule table as lajewska2025_chC_votes with:
    input:
        votes="published/lajewska2025/table_C_2.csv",
    pathvars:
        result="embedded/lajewska2025/table_C_2",
    params:
        **runs("lajewska2025/chC:votes"),
        declared=declared_inputs("embedded", "lajewska2025", "table_C_2"),
        scale="culpepper_zero",
    message:
        "ANOVA of the published votes (Table C.2)"
