# sakai2023: group fairness and relevance of two annotated conversations (GFRC).
from papers.sakai2023.data import MEMBERSHIPS
from papers.sakai2023.data import QRELS as PILOT_QRELS
from papers.sakai2023.data import RUNS as PILOT_RUNS
from papers.sakai2023.data import TARGETS as PILOT_TARGETS

#: Divergence of each attribute set from its target: that of RATINGS in Table 2 for ordered groups,
#: that of ORIGIN for unordered groups.
PILOT_DIVERGENCES = {
    name: "JSD" if name in ("R-GENDER", "M-ORIGIN") else "RNOD" for name in MEMBERSHIPS
}
FETCHED_TOGETHER["ntcir-fairweb1-pilot"] = [
    resource(key)
    for key in (
        PILOT_QRELS,
        *PILOT_RUNS.values(),
        *MEMBERSHIPS.values(),
        *PILOT_TARGETS.values(),
    )
]


#: Settings of section 6, for all rules on the two conversations.
PILOT_CONVERSATIONS = dict(
    # 5 minutes of reading at 250 words per minute.
    budget=1250,
    gains={"L0": 0.0, "L1": 0.5, "L2": 1.0},
    # Groups by number of ratings are ordered; regions are not.
    divergences={"RATINGS": "RNOD", "ORIGIN": "JSD"},
    method="independent",
)


# Tables 1 (relevance) and 2 (group fairness): from the annotations of Figure 5 and the targets.
use rule table as sakai2023_gfrc with:
    input:
        annotations="published/sakai2023/figure_5.csv",
        targets="published/sakai2023/targets.csv",
    pathvars:
        result="embedded/sakai2023/table_{number}",
    wildcard_constraints:
        number="1|2",
    params:
        **runs("sakai2023/ch1:gfrc"),
        **PILOT_CONVERSATIONS,
        declared=declared_inputs("embedded", "sakai2023", "figure_5"),
    message:
        "Scores of two conversations, Table {wildcards.number}"


# Numbers in the text: gains of one film, and shares of the two conversations.
use rule table as sakai2023_text with:
    input:
        annotations="published/sakai2023/figure_5.csv",
        targets="published/sakai2023/targets.csv",
    output:
        **table_files(tables=["readings", "alternatives"]),
    pathvars:
        result="embedded/sakai2023/text_3",
    params:
        **runs("sakai2023/ch1:text"),
        **PILOT_CONVERSATIONS,
        declared=declared_inputs("embedded", "sakai2023", "figure_5"),
        film="Back to the Future",
        # Both turns of the protocol; the annotations omit a turn without relevant entities.
        turns=["S1", "S2"],
    message:
        "Numbers in the text of section 6"


# Figure 1, lower part: the weight of a nugget by its position, and where the films stand on it.
use rule figure as sakai2023_weights with:
    input:
        annotations="published/sakai2023/figure_5.csv",
        targets="published/sakai2023/targets.csv",
    pathvars:
        result="embedded/sakai2023/figure_1",
    params:
        **runs("sakai2023/ch1:weights"),
        **PILOT_CONVERSATIONS,
        declared=declared_inputs("embedded", "sakai2023", "figure_5"),
    message:
        "Weights of nuggets by position (Figure 1)"


# Figure 5: the annotations themselves, without the text of the conversations.
use rule figure as sakai2023_annotations with:
    input:
        annotations="published/sakai2023/figure_5.csv",
        targets="published/sakai2023/targets.csv",
    pathvars:
        result="embedded/sakai2023/figure_5",
    params:
        **runs("sakai2023/ch1:annotations"),
        **PILOT_CONVERSATIONS,
        declared=declared_inputs("embedded", "sakai2023", "figure_5"),
    message:
        "Annotated conversations (Figure 5)"


# Section 2.1: GFR, the measure of ranked lists that GFRC extends, on the pilot runs of FairWeb-1.
use rule table as sakai2023_gfr with:
    input:
        qrels=resource(PILOT_QRELS),
        runs=[resource(key) for key in PILOT_RUNS.values()],
        memberships=[resource(key) for key in MEMBERSHIPS.values()],
        targets=[resource(key) for key in PILOT_TARGETS.values()],
    pathvars:
        result="released/sakai2023/text_2_1",
    params:
        **runs("sakai2023/ch1:gfr"),
        runs=list(PILOT_RUNS),
        divergences=PILOT_DIVERGENCES,
        # As in the evaluation program of the task.
        gains={"L0": 0, "L1": 1, "L2": 3},
    message:
        "Group fairness and relevance of ranked lists (section 2.1)"
