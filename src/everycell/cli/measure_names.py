"""Names of measures as papers and trec_eval write them, in the notation of ir_measures."""

from __future__ import annotations

import re

#: Spellings in papers -> name in ir_measures.
_SPELLINGS = {
    "map": "AP", "ap": "AP", "mean ap": "AP", "mrr": "RR", "rr": "RR", "ndcg": "nDCG",
    "recall": "R", "r": "R", "precision": "P", "prec": "P", "prec.": "P", "p": "P",
    "hit": "Success", "hits": "Success", "success": "Success", "s": "Success", "r-prec": "Rprec",
    "rprec": "Rprec", "recip_rank": "RR", "bpref": "Bpref", "err": "ERR",
}  # fmt: skip

#: Longest name of a measure; the parser of ir_measures runs out of memory on long expressions.
LONGEST_NAME = 200
#: A name with a cut-off. A hyphen is no sign before it: R-1 is ROUGE-1.
_WITH_CUTOFF = re.compile(
    r"(.+?)(?:(?:\s?@\s?|[\s_-]at[\s_-]|_)(\d{1,9})(k?))?", re.ASCII | re.IGNORECASE
)


def measure_of(name: str) -> str | None:
    """Measure in ir_measures' notation that a published name means; None if it means none.

    Names of ir_measures come first, then those of trec_eval (`ndcg_cut_10`), then spellings that
    differ in case or in the sign before the cut-off (`ndcg@10`, `Recall@1k`, `mrr_at_10`).
    """
    if len(name) > LONGEST_NAME:
        return None
    import ir_measures

    from everycell.retrieval.any_measure import parse_measure

    def is_known(candidate: str) -> bool:
        try:
            parse_measure(candidate)
        except ValueError:
            return False
        return True

    if is_known(name):
        return name
    try:
        # A family such as `ndcg_cut` is not one measure.
        (measure,) = ir_measures.parse_trec_measure(name)
    except ValueError:
        pass
    else:
        return str(measure)
    match = _WITH_CUTOFF.fullmatch(name.strip())
    base = _SPELLINGS.get(match[1].lower()) if match else None
    if match is None or base is None:
        return None
    depth = f"@{int(match[2]) * (1000 if match[3] else 1)}" if match[2] else ""
    return base + depth if is_known(base + depth) else None
