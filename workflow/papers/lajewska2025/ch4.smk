# lajewska2025, chapter 4: whether users notice the limitations of a response.
# Two crowd studies (answerability, viewpoints): ratings -> ANOVA tables, correlations, figures.

#: Released responses of the study whose queries Table 4.3 or 4.4 lists.
CH4_RESPONSES = {"3": "answerability_data", "4": "viewpoints_data"}

#: Table of conditions -> table of its queries, query of its examples, and number of quoted words of
#: each answer (before an ellipsis; null: all).
CH4_EXAMPLES = {
    "5": {"queries": "3", "query": 4, "quoted_words": {"A1": 28, "A2": 28, "A3": 42, "A4": 42}},
    "6": {"queries": "4", "query": 5, "quoted_words": {"A1": None, "A2": None, "A3": None}},
}

#: Comments of participants. The first file has both runs, despite its name.
CH4_COMMENTS = {
    "answerability": resource(f"{LIMITATIONS}/qualitative/answerability_second_run_stats.csv"),
    "viewpoints": resource(f"{LIMITATIONS}/qualitative/viewpoints_stats.csv"),
}
FETCHED_TOGETHER[f"{LIMITATIONS}-comments"] = list(CH4_COMMENTS.values())
FETCHED_TOGETHER[f"{LIMITATIONS}-responses"] = [
    resource(f"{LIMITATIONS}/responses/{name}.csv")
    for name in (*CH4_RESPONSES.values(), "viewpoints_answer_validation")
]


# Tables 4.8 (two-way), 4.9 (with query) and 4.10 (with familiarity); supplements have only the
# terms that can be tested.
use rule table as lajewska2025_ch4_anova with:
    input:
        **LIMITATIONS_RATINGS,
    output:
        **table_files(tables=["supported"]),
    pathvars:
        result="released/lajewska2025/table_4_{number}",
    wildcard_constraints:
        number="8|9|10",
    params:
        **runs("lajewska2025/ch4:anova"),
        scale="culpepper",
    message:
        "ANOVA of Table 4.{wildcards.number}"


# Table 4.12: one-way, by query and by familiarity.
use rule table as lajewska2025_ch4_oneway with:
    input:
        **LIMITATIONS_RATINGS,
    pathvars:
        result="released/lajewska2025/table_4_{number}",
    wildcard_constraints:
        number="12",
    params:
        **runs("lajewska2025/ch4:anova"),
        scale="culpepper",
    message:
        "ANOVA of Table 4.{wildcards.number}"


# Table 4.7: sizes of the runs.
use rule table as lajewska2025_ch4_sizes with:
    input:
        first_run=LIMITATIONS_FIRST_RUN,
        both_runs=LIMITATIONS_RATINGS["answerability"],
        viewpoints=LIMITATIONS_RATINGS["viewpoints"],
    pathvars:
        result="released/lajewska2025/table_4_7",
    params:
        **runs("lajewska2025/ch4:sizes"),
        pairs_per_hit=10,  # section 4.2
        hits_per_pair=3,  # section 4.2
    message:
        "Sizes of the studies (Table 4.7)"


# Table 4.3: the queries of the answerability study, as hashes, and their candidates, which are from
# the annotations of chapter 5.
use rule table as lajewska2025_ch4_answerability_queries with:
    input:
        **annotations("dataset"),
        responses=resource(f"{LIMITATIONS}/responses/{CH4_RESPONSES['3']}.csv"),
    output:
        **table_files(tables=["choice"]),
    pathvars:
        result="released/lajewska2025/table_4_3",
    params:
        **runs("lajewska2025/ch4_queries:answerability"),
    message:
        "Queries of the answerability study (Table 4.3)"


# Table 4.4: the queries of the viewpoints study, as hashes, and the scores by which they were chosen.
use rule table as lajewska2025_ch4_viewpoints_queries with:
    input:
        responses=resource(f"{LIMITATIONS}/responses/{CH4_RESPONSES['4']}.csv"),
        crowd=resource(f"{LIMITATIONS}/queries/viewpoints_crowdsourcing_results.csv"),
        experts=LIMITATIONS_EXPERTS,
    output:
        **table_files(tables=["choice"]),
    pathvars:
        result="released/lajewska2025/table_4_4",
    params:
        **runs("lajewska2025/ch4_queries:viewpoints"),
        number=12,  # section 4.3.1
        # The middle of the scale; the thesis does not state how the two scores are combined.
        least_broadness=3,
    message:
        "Queries of the viewpoints study (Table 4.4)"


# Table 4.1: two of the released responses. They are compared by hashes of the words that the thesis
# quotes; a supplement has their wording.
use rule table as lajewska2025_ch4_examples with:
    input:
        **{
            study: resource(f"{LIMITATIONS}/responses/{study}_data.csv")
            for study in LIMITATIONS_RATINGS
        },
    output:
        **table_files(tables=["examples"]),
    pathvars:
        result="released/lajewska2025/table_4_1",
    params:
        **runs("lajewska2025/ch4_design:examples"),
        # Study, query, answer, and number of words before an ellipsis.
        examples={
            "Query Answerability": ("answerability", 4, "A3", 42),
            "Response Incompleteness": ("viewpoints", 5, "A2", None),
        },
    message:
        "Example responses (Table 4.1)"


# Table 4.2: what the conditions control, and what the workers judge.
use rule table as lajewska2025_ch4_dimensions with:
    input:
        **LIMITATIONS_RATINGS,
    output:
        **table_files(tables=["columns"]),
    pathvars:
        result="released/lajewska2025/table_4_2",
    params:
        **runs("lajewska2025/ch4_design:dimensions"),
    message:
        "Controlled and judged dimensions (Table 4.2)"


# Tables 4.5 and 4.6: the conditions, with the responses to one query.
use rule table as lajewska2025_ch4_conditions with:
    input:
        responses=lambda wildcards: resource(
            f"{LIMITATIONS}/responses/{CH4_RESPONSES[CH4_EXAMPLES[wildcards.number]['queries']]}.csv"
        ),
    output:
        **table_files(tables=["examples"]),
    pathvars:
        result="released/lajewska2025/table_4_{number}",
    wildcard_constraints:
        number="|".join(CH4_EXAMPLES),
    params:
        **runs("lajewska2025/ch4_design:conditions"),
        query=lambda wildcards: CH4_EXAMPLES[wildcards.number]["query"],
        quoted_words=lambda wildcards: CH4_EXAMPLES[wildcards.number]["quoted_words"],
    message:
        "Conditions and example responses (Table 4.{wildcards.number})"


# Table 4.11: each rating against overall satisfaction.
use rule table as lajewska2025_ch4_correlations with:
    input:
        **LIMITATIONS_RATINGS,
    pathvars:
        result="released/lajewska2025/table_4_11",
    params:
        **runs("lajewska2025/ch4:correlations"),
    message:
        "Correlations with satisfaction (Table 4.11)"


# Section 4.4.2: the range of these correlations.
use rule table as lajewska2025_ch4_correlation_bounds with:
    input:
        **LIMITATIONS_RATINGS,
    pathvars:
        result="released/lajewska2025/text_4_4_2",
    params:
        **runs("lajewska2025/ch4:correlation_bounds"),
    message:
        "Range of the correlations with satisfaction (section 4.4.2)"


# Numbers in the text: sizes, comments, power of the first run.
use rule table as lajewska2025_ch4_text with:
    input:
        first_run=LIMITATIONS_FIRST_RUN,
        both_runs=LIMITATIONS_RATINGS["answerability"],
        viewpoints=LIMITATIONS_RATINGS["viewpoints"],
        experts=LIMITATIONS_EXPERTS,
        answerability_comments=CH4_COMMENTS["answerability"],
        viewpoints_comments=CH4_COMMENTS["viewpoints"],
    output:
        **table_files(tables=["power", "attention"]),
    pathvars:
        result="released/lajewska2025/text_4_3",
    params:
        **runs("lajewska2025/ch4:text"),
        pairs_per_hit=10,
        alpha=SETTINGS.user_studies.alpha,
        power=SETTINGS.user_studies.power,
    message:
        "Numbers in the text of chapter 4"


# Section 4.4.4: themes of the comments.
use rule table as lajewska2025_ch4_comments with:
    input:
        **CH4_COMMENTS,
    pathvars:
        result="released/lajewska2025/text_4_4_4",
    params:
        **runs("lajewska2025/ch4:comments"),
    message:
        "Themes of the comments (section 4.4.4)"


# Figure 4.3: ratings by query.
use rule figure as lajewska2025_ch4_ratings_by_query with:
    input:
        **LIMITATIONS_RATINGS,
    output:
        **figure_files(tables=["summary"]),
    pathvars:
        result="released/lajewska2025/figure_4_3",
    params:
        **runs("lajewska2025/ch4:ratings_by_query"),
    message:
        "Ratings by query (Figure 4.3)"


# Surrogate data: the ANOVA of Table 4.8 on simulated studies with a planted effect.
use rule table as lajewska2025_ch4_simulation with:
    output:
        **table_files(figures=["power"]),
    pathvars:
        result="embedded/lajewska2025/table_4_8",
    resources:
        **needs(1000),
    params:
        **runs("lajewska2025/ch4:simulation"),
        **SETTINGS.user_studies.simulation.model_dump(),
        seed=SETTINGS.seed,
        alpha=SETTINGS.user_studies.alpha,
        scale="culpepper",
    message:
        "Simulating {params.studies} studies per effect (Table 4.8)"
