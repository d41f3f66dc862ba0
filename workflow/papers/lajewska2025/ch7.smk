# lajewska2025, chapter 7: usefulness of explanations. One crowd study of ten conditions:
# ratings -> ANOVA tables, a figure of means, numbers in the text.

#: Data set in the registry, ratings of the pilot and of the study, and coded comments.
CH7 = "transparent-cis"
CH7_PILOT = [resource(f"{CH7}/pilot/qs{number}.csv") for number in (3, 4, 7)]
CH7_RATINGS = resource(f"{CH7}/user_study.csv")
CH7_COMMENTS = resource(f"{CH7}/comments_annotations.csv")
FETCHED_TOGETHER[f"{CH7}-pilot"] = CH7_PILOT
FETCHED_TOGETHER[CH7] = [CH7_RATINGS, CH7_COMMENTS]


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
        **table_files(tables=["power", "themes", "familiarity"]),
    pathvars:
        result="released/lajewska2025/text_7_3",
    params:
        **runs("lajewska2025/ch7:text"),
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
