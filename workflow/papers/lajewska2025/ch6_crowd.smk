# lajewska2025, chapter 6: planted responses, and crowd studies that compare two responses to a query.
# Answers of workers (planted, or a file of the user) -> accepted votes -> shares, chi-square tests and
# correlations with automatic scores.


include: "ch6_crowd_inputs.smk"


# Embedded tier: answers of simulated workers, in the format of a user's file.
use rule step as lajewska2025_ch6_plant_votes with:
    output:
        votes="work/ginger/planted/votes.csv",
        scores="work/ginger/planted/scores.parquet",
    pathvars:
        job="ginger/planted/votes",
    params:
        **runs("lajewska2025/ch6_votes:plant"),
        study=PLANTED_STUDY,
        seed=SETTINGS.seed,
    message:
        "Planting votes of crowd workers"


# Tables 6.2, 6.3, 6.5 and C.8 from planted votes; supplements compare them with the truth.
use rule table as lajewska2025_ch6_planted_votes with:
    input:
        votes="work/ginger/planted/votes.csv",
        scores="work/ginger/planted/scores.parquet",
    output:
        **table_files(tables=["majorities", "truth", "control"]),
        **table_files("embedded/lajewska2025/table_6_3"),
        **table_files("embedded/lajewska2025/table_6_5", tables=["majorities"]),
        **table_files("embedded/lajewska2025/table_C_8"),
    pathvars:
        result="embedded/lajewska2025/table_6_2",
    params:
        **runs("lajewska2025/ch6_crowd:planted"),
        study=PLANTED_STUDY,
        studies=GINGER.crowd.studies,
        seed=SETTINGS.seed,
    message:
        "Planted votes (Tables 6.2, 6.3, 6.5 and C.8)"


# Embedded tier: scores of simulated responses, by the functions of the full tier.
use rule torch_step as lajewska2025_ch6_plant_responses with:
    output:
        scores="work/ginger/planted/inferred.parquet",
    pathvars:
        job="ginger/planted/responses",
    params:
        **runs("lajewska2025/ch6_planted:plant"),
        study=PLANTED_RESPONSES,
        seed=SETTINGS.seed,
    message:
        "Planting responses with a known share of nuggets"


# Table 6.1 from planted responses; supplements compare them with the truth.
use rule table as lajewska2025_ch6_planted_responses with:
    input:
        scores="work/ginger/planted/inferred.parquet",
    output:
        **table_files(tables=["truth", "control"]),
    pathvars:
        result="embedded/lajewska2025/table_6_1",
    params:
        **runs("lajewska2025/ch6_planted:planted"),
        study=PLANTED_RESPONSES,
        studies=GINGER.planted.studies,
        seed=SETTINGS.seed,
    message:
        "Entailment of planted nuggets (Table 6.1)"


# Full tier: follow-up questions of the baseline, from facets of the question.
use rule asking_step as lajewska2025_ch6_follow_ups with:
    input:
        passages="work/ginger/full/{model}/passages.parquet",
        encoder=registered_encoder("minilm"),
        model=lambda wildcards: language_model_files(wildcards.model),
        prompts=list(GINGER.prompts.values()),
    output:
        follow_ups="work/ginger/full/{model}/follow_ups.parquet",
        provenance="work/ginger/full/{model}/follow_ups.provenance.json",
    pathvars:
        job="ginger/full/{model}/follow_ups",
    params:
        **runs("lajewska2025/ch6_follow_ups:follow_ups"),
        prompts=GINGER.prompts,
        max_tokens=GINGER.max_tokens,
        length=GINGER.length,
        record="lajewska2025-ch6-follow-ups-{model}",
    message:
        "Follow-up questions of the baseline by {wildcards.model}"


# Tasks of a crowd study on the responses, with attention checks: what its workers see.
use rule asking_step as lajewska2025_ch6_tasks with:
    input:
        passages="work/ginger/full/{model}/passages.parquet",
        responses="work/ginger/full/{model}/responses.parquet",
        follow_ups="work/ginger/full/{model}/follow_ups.parquet",
        model=lambda wildcards: language_model_files(wildcards.model),
        prompts=list(GINGER.prompts.values()),
    output:
        tasks="work/ginger/full/{model}/tasks.csv",
        provenance="work/ginger/full/{model}/tasks.provenance.json",
    pathvars:
        job="ginger/full/{model}/tasks",
    params:
        **runs("lajewska2025/ch6_tasks:tasks"),
        prompts=GINGER.prompts,
        max_tokens=GINGER.max_tokens,
        seed=SETTINGS.seed,
        record="lajewska2025-ch6-tasks-{model}",
    message:
        "Tasks of a crowd study on responses of {wildcards.model}"


# Tables 6.2 and 6.5: shares of votes in a crowd study of the user.
use rule table as lajewska2025_ch6_voted with:
    input:
        votes=votes_of_the_user,
    output:
        **table_files(tables=["majorities"]),
    pathvars:
        result="full/lajewska2025/table_6_{number}",
    wildcard_constraints:
        number="2|5",
    params:
        **runs("lajewska2025/ch6_crowd:voted"),
        rejected_from=GINGER.crowd.rejected_from,
    message:
        "Votes of a crowd study (Table 6.{wildcards.number})"


# Tables 6.3 and C.8: votes in a crowd study of the user, and scores of the same responses.
use rule table as lajewska2025_ch6_compared with:
    input:
        votes=votes_of_the_user,
        scores=full_ginger_files("inferred.parquet", "ragas.parquet"),
    output:
        **table_files(),
        **table_files("full/lajewska2025/table_C_8"),
    pathvars:
        result="full/lajewska2025/table_6_3",
    params:
        **runs("lajewska2025/ch6_crowd:compared"),
        rejected_from=GINGER.crowd.rejected_from,
    message:
        "Votes and scores of responses (Tables 6.3 and C.8)"
