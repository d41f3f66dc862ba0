# lajewska2025, appendix B: the data sets of chapter 5.


# Table B.1: sizes of the data sets; in the full tier with SQuAD 2.0.
use rule table as lajewska2025_chB_data_sets with:
    input:
        unpack(squad_files),
        **answerability_labels(),
    output:
        **table_files(tables=["questions", "sentences"]),
    pathvars:
        result="{tier}/lajewska2025/table_B_1",
    wildcard_constraints:
        tier="released|full",
    params:
        **runs("lajewska2025/chB:data_sets"),
    message:
        "Sizes of the data sets (Table B.1, {wildcards.tier})"


# Table B.2: labels of one question.
use rule table as lajewska2025_chB_sample with:
    input:
        snippets=resource(ANSWERABILITY_FILES["snippets"]),
        unanswerable=resource(ANSWERABILITY_FILES["unanswerable"]),
    output:
        **table_files(tables=["passages"]),
    pathvars:
        result="released/lajewska2025/table_B_2",
    params:
        **runs("lajewska2025/chB:sample"),
        # The thesis lists the second id twice; the third id was identified by the text of its passage.
        turn="81_7",
        passages=["MARCO_7107975", "MARCO_8270733", "MARCO_8270735"],
    message:
        "Labels of a sample (Table B.2)"
