# lajewska2025, chapter 7: usefulness of explanations. One crowd study of ten conditions:
# ratings -> ANOVA tables, a figure of means, numbers in the text.

#: Data set in the registry, ratings of the pilot and of the study, and coded comments.
CH7 = "transparent-cis"
CH7_PILOT = [resource(f"{CH7}/pilot/qs{number}.csv") for number in (3, 4, 7)]
CH7_RATINGS = resource(f"{CH7}/user_study.csv")
CH7_COMMENTS = resource(f"{CH7}/comments_annotations.csv")
CH7_STIMULI = resource(f"{CH7}/input_data.csv")
FETCHED_TOGETHER[f"{CH7}-pilot"] = CH7_PILOT
FETCHED_TOGETHER[CH7] = [CH7_RATINGS, CH7_COMMENTS, CH7_STIMULI]


# Tables 7.4 and 7.5: one-way ANOVA of the ratings as published; a supplement has tests by worker.
use rule table as lajewska2025_ch7_anova with:
    input:
        ratings=CH7_RATINGS,
    output:
        **table_files(tables=["by_worker"]),
    pathvars:
        result="released/lajewska2025/table_7_{number}",
    wildcard_constraints:
        number="4|5",
    params:
        **runs("lajewska2025/ch7:anova"),
        scale="culpepper_zero",
    message:
        "ANOVA of Table 7.{wildcards.number}"


# Table 7.6: interactions of two factors.
use rule table as lajewska2025_ch7_interactions with:
    input:
        ratings=CH7_RATINGS,
    pathvars:
        result="released/lajewska2025/table_7_6",
    params:
        **runs("lajewska2025/ch7:interactions"),
        scale="culpepper_zero",
    message:
        "ANOVA of Table 7.6"


# Tables 7.1 (questions) and 7.2 (dimensions): what the ratings say about them.
use rule table as lajewska2025_ch7_questions with:
    input:
        ratings=CH7_RATINGS,
    pathvars:
        result="released/lajewska2025/table_7_{number}",
    wildcard_constraints:
        number="1|2",
    params:
        **runs("lajewska2025/ch7_design:questions"),
    message:
        "Questions of the study (Table 7.{wildcards.number})"


# Table 7.3: the conditions, from the texts that workers saw and from the labels of the conditions.
use rule table as lajewska2025_ch7_conditions with:
    input:
        ratings=CH7_RATINGS,
        stimuli=CH7_STIMULI,
    output:
        **table_files(tables=["labels", "texts"]),
    pathvars:
        result="released/lajewska2025/table_7_3",
    params:
        **runs("lajewska2025/ch7_design:conditions"),
    message:
        "Conditions of the study (Table 7.3)"


# Table 7.7: quoted comments, compared by hashes of the quoted words; a supplement has their wording.
use rule table as lajewska2025_ch7_comments with:
    input:
        comments=CH7_COMMENTS,
    output:
        **table_files(tables=["comments"]),
    pathvars:
        result="released/lajewska2025/table_7_7",
    params:
        **runs("lajewska2025/ch7_design:comments"),
        # Condition, number in the table, row of the condition in the file, explained aspect, and
        # number of words before the quotation, which goes to the end.
        quoted=[
            ("EC1", "1", 13, "source", 0),
            ("EC1", "2", 13, "confidence", 0),
            ("EC2", "1", 14, "source", 0),
            ("EC2", "2", 16, "confidence", 0),
            ("EC3", "1", 7, "limitations", 49),
            ("EC3", "2", 2, "confidence", 0),
            ("EC4", "1", 8, "confidence", 0),
            ("EC5", "1", 6, "limitations", 27),
            ("EC5", "2", 6, "confidence", 0),
            ("EC6", "1", 2, "limitations", 0),
            ("EC7", "1", 7, "confidence", 0),
            ("EC7", "2", 14, "confidence", 0),
            ("EC8", "1", 13, "limitations", 26),
            ("EC8", "2", 12, "confidence", 21),
            ("EC9", "1", 10, "limitations", 0),
            ("EC10", "1", 12, "confidence", 0),
        ],
    message:
        "Quoted comments (Table 7.7)"


# Figure 7.4: mean ratings by quality and form of the explanations, and tests of the differences.
use rule figure as lajewska2025_ch7_means with:
    input:
        ratings=CH7_RATINGS,
    output:
        **figure_files(tables=["tests"]),
    pathvars:
        result="released/lajewska2025/figure_7_4",
    params:
        **runs("lajewska2025/ch7_usefulness:means"),
    message:
        "Mean ratings (Figure 7.4)"


# Numbers of section 7.3: workers, power analysis of the pilot, comments.
use rule table as lajewska2025_ch7_text with:
    input:
        ratings=CH7_RATINGS,
        comments=CH7_COMMENTS,
        pilot=CH7_PILOT,
    output:
        **table_files(tables=["power", "themes", "familiarity", "attention"]),
    pathvars:
        result="released/lajewska2025/text_7_3",
    params:
        **runs("lajewska2025/ch7:text"),
        pairs_per_hit=10,
        alpha=SETTINGS.user_studies.alpha,
        power=SETTINGS.user_studies.power,
    message:
        "Numbers in the text of section 7.3"


# Surrogate data: the ANOVA of Table 7.4 on simulated studies with a planted effect.
use rule table as lajewska2025_ch7_simulation with:
    output:
        **table_files(figures=["power"]),
    pathvars:
        result="embedded/lajewska2025/table_7_4",
    resources:
        **needs(1500),
    params:
        **runs("lajewska2025/ch7:simulation"),
        **SETTINGS.user_studies.simulation.model_dump(),
        seed=SETTINGS.seed,
        alpha=SETTINGS.user_studies.alpha,
        scale="culpepper_zero",
    message:
        "Simulating {params.studies} studies per effect (Table 7.4)"
