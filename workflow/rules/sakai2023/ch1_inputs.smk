# Names of the rules of sakai2023.
from everycell.collections.fairweb import (
    MEMBERSHIPS,
    QRELS as PILOT_QRELS,
    RUNS as PILOT_RUNS,
    TARGETS as PILOT_TARGETS,
)

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
