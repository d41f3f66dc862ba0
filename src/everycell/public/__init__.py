"""Public names of `import everycell`; their modules are imported on first use.

==================================  ==========================================================
name                                what it does
==================================  ==========================================================
`evaluate`, `fairness`, `compare`   evaluate runs in any common format (`everycell.public.runs`)
`as_run`, `as_qrels`                convert runs and judgements of other libraries to frames
`texfair`, `nfairr`, `awrf`, ...    measures that the papers introduce or use, on arrays
==================================  ==========================================================
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

#: Module -> its public names; PUBLIC=OWN if a function has another name in its module.
_NAMES_BY_MODULE: dict[str, tuple[str, ...]] = {
    "public.runs": ("compare", "evaluate", "fairness"),
    "trec.conversion": ("as_qrels", "as_run"),
    "metrics.term_counts": ("count_terms", "read_counts"),
    "metrics.ranked_groups": ("ranked_counts",),
    # abolghasemi2026, chapters 3 to 5
    "metrics.satisfaction": ("jaccard",),
    "metrics.texfair": ("ted", "term_exposure", "texfair"),
    "metrics.nfairr": ("neutrality", "nfairr"),
    "metrics.awrf": ("awrf", "group_exposure"),
    "metrics.rbo": ("rbo",),
    "metrics.crbo": ("crbo",),
    "rag.citations": ("find_citations",),
    "metrics.attribution": (
        "attribution_bias=cab",
        "attribution_confidence",
        "attribution_sensitivity=cas",
        "citation_quality",
    ),
    "metrics.ir_measures_provider": ("AWRF", "GFR", "NFaiRR", "RBO", "TExFAIR"),
    "statistics.preferences": ("preference_test",),
    # sakai2023
    "metrics.divergences": ("AttributeSet",),
    "metrics.gfrc": ("gfrc",),
    "metrics.gfr": ("gfr",),
    # heuss2025, chapters 2 to 4
    "fair_ranking.felix": ("decompose", "felix"),
    "fair_ranking.pufr": ("pufr",),
    "fair_ranking.fa_ir": ("fa_ir", "minimum_protected"),
    "explain.explainers": ("ExplainedList", "ranking_shap"),
    "explain.forests": ("read_forest",),
}
#: Public name -> its module, and its name in that module.
NAMES: dict[str, tuple[str, str]] = {
    name.partition("=")[0]: (f"everycell.{module}", name.rpartition("=")[2])
    for module, names in _NAMES_BY_MODULE.items()
    for name in names
}
#: Packages whose modules belong to the public library, except for those in `INTERNAL`.
PACKAGES = ("explain", "fair_ranking", "metrics", "statistics")
#: Modules of these packages that only studies and commands use.
INTERNAL = {
    "everycell.explain.compiled",
    "everycell.fair_ranking.matchings",
    "everycell.fair_ranking.reranked_runs",
    "everycell.metrics.fairness_differences",
    "everycell.statistics.fast_anova",
    "everycell.statistics.simulation",
}

#: Public modules that need a library outside the dependencies; import them explicitly.
OPTIONAL = {"everycell.public.pyterrier"}


def public_modules() -> list[str]:
    """Sorted names of the modules of the public library, each a page of the site."""
    source = Path(__file__).parents[1]
    files = (path for package in PACKAGES for path in (source / package).glob("[!_]*.py"))
    modules = {f"everycell.{path.parent.name}.{path.stem}" for path in files}
    return sorted((modules - INTERNAL) | OPTIONAL | {module for module, _ in NAMES.values()})


def resolve(name: str) -> Any:
    """Import the object that has a public name."""
    if name not in NAMES:
        # Python itself looks up names such as __path__, which need no suggestions.
        similar = [] if name.startswith("_") else get_close_matches(name, NAMES)
        advice = f" Did you mean {', '.join(similar)}? dir(everycell) lists all names."
        raise AttributeError(f"everycell has no attribute {name!r}." + advice * bool(similar))
    module, name_in_module = NAMES[name]
    return getattr(import_module(module), name_in_module)
