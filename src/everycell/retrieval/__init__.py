"""Retrieval: runs, measures of rankings, interpolation of systems, significance."""

from everycell.retrieval.comparison import ComparisonReport, comparison_report
from everycell.retrieval.evaluation import JudgedLists, evaluate, judge, ranking_measures
from everycell.retrieval.fusion import fuse
from everycell.retrieval.interpolation import (
    ALPHAS,
    Sweep,
    interpolate,
    noise_oracle,
    oracle,
    oracle_summary,
    sweep,
    z_scores,
)
from everycell.retrieval.runs import (
    check_candidates,
    check_qrels,
    check_run,
    id_order,
    read_candidates,
    read_qrels,
    read_run,
    restrict_run,
    trec_order,
    write_candidates,
    write_qrels,
    write_run,
)
from everycell.retrieval.significance import beaten_letters, paired_tests, system_letters
from everycell.retrieval.term_scores import likelihood_scores, term_weight_scores, vector_scores

__all__ = [
    "ALPHAS",
    "ComparisonReport",
    "JudgedLists",
    "Sweep",
    "beaten_letters",
    "check_candidates",
    "check_qrels",
    "check_run",
    "comparison_report",
    "evaluate",
    "fuse",
    "id_order",
    "interpolate",
    "judge",
    "likelihood_scores",
    "noise_oracle",
    "oracle",
    "oracle_summary",
    "paired_tests",
    "ranking_measures",
    "read_candidates",
    "read_qrels",
    "read_run",
    "restrict_run",
    "sweep",
    "system_letters",
    "term_weight_scores",
    "trec_order",
    "vector_scores",
    "write_candidates",
    "write_qrels",
    "write_run",
    "z_scores",
]
