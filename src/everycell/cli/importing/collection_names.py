"""Names of well-known test collections and tasks, which head rows or columns of tables."""

from __future__ import annotations

import re

from everycell.trec.runs import normalise_name

#: Names in lower-case letters and digits; those of tasks may end with shots.
_COLLECTIONS = re.compile(
    r"(trec)?(dl|cast|deep|robust|core|covid|news|web)(20)?\d*|nfcorpus|fiqa(2018)?|scifact|scidocs|"
    r"(climate)?fever|arguana|hotpotqa|touche(2020)?|quora|nq|naturalquestions|msmarco(dev)?|"
    r"dbpedia(entity)?|cqadupstack|bioasq|signal1m(rt)?|triviaqa|squad(v?[12][01]?)?|"
    r"clueweb(09|12)(b(13)?)?|gov2|wt(2|10)g|mrtydi|miracl|"
    r"(disks?\d+)?trec\d.*(track|task).*|topics.+"
)
_TASKS = re.compile(
    r"(arc([ec]|easy|challenge)?|hellaswag|mmlu|winogrande|piqa|boolq|openbookqa|obqa|gsm8k|bbh|"
    r"truthfulqa(mc[12]?)?|s(ocial)?iqa|copa|rte|cb|ws[ci]|wic|wnli|lambada(openai|standard)?|race|"
    r"sciq|drop|humaneval|mbpp|c(ommonsense|s)qa|mlqa|mnli(mm?|mismatched)?|qnli|sst2|cola|mrpc|stsb|qqp|anlir[123]|xnli|"
    r"agieval|ceval|cmmlu|gpqa|ifeval|musr|webqs|logiqa|medqa|medmcqa|pubmedqa|sts1[2-6]|sickr)"
    r"(\d+shot)?"
)


def is_collection(name: str) -> bool:
    """Whether a name is that of a well-known collection or task."""
    name = normalise_name(name)
    return bool(_COLLECTIONS.fullmatch(name) or _TASKS.fullmatch(name))
