"""What `import everycell` offers by name; the modules behind a name load when it is first used.

==================================  ==========================================================
name                                what it does
==================================  ==========================================================
`evaluate`, `fairness`, `compare`   measure runs of any common kind (`everycell.public.runs`)
`as_run`, `as_qrels`                take runs and judgements of other libraries as frames
`texfair`, `nfairr`, `awrf`, ...    measures that the works introduce or use, on arrays
==================================  ==========================================================
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

#: Module -> what it offers, by the name that it has here; without a name, by its own.
_OFFERS: dict[str, tuple[str, ...]] = {
    "public.runs": ("compare", "evaluate", "fairness"),
    "trec.conversion": ("as_qrels", "as_run"),
    "metrics.term_counts": ("count_terms", "read_counts"),
    "metrics.ranked_counts": ("ranked_counts",),
    # abolghasemi2026, chapters 3 to 5
    "dialogue.satisfaction": ("jaccard",),
    "metrics.texfair": ("ted", "term_exposure", "texfair"),
    "metrics.nfairr": ("neutrality", "nfairr"),
    "metrics.exposure": ("awrf", "group_exposure"),
    "metrics.rank_overlap": ("crbo", "rbo"),
    "rag.citations": ("find_citations",),
    "metrics.attribution": (
        "attribution_bias=cab",
        "attribution_confidence",
        "attribution_sensitivity=cas",
        "citation_quality",
    ),
    "metrics.ir_measures_provider": ("AWRF", "GFR", "NFaiRR", "RBO", "TExFAIR"),
    # sakai2023
    "metrics.group_fairness": ("AttributeSet", "gfrc"),
    "metrics.ranked_group_fairness": ("gfr",),
    # heuss2025, chapters 2 to 4
    "fair_ranking.decomposition": ("decompose",),
    "fair_ranking.felix": ("felix",),
    "fair_ranking.uncertainty": ("pufr",),
    "fair_ranking.fa_ir": ("fa_ir", "minimum_protected"),
    "explain.explainers": ("ExplainedList", "ranking_shap"),
    "explain.forests": ("read_forest",),
}
#: Name -> module that has it, and its name there.
NAMES: dict[str, tuple[str, str]] = {
    offered.partition("=")[0]: (f"everycell.{module}", offered.rpartition("=")[2])
    for module, names in _OFFERS.items()
    for offered in names
}
#: Packages whose public functions belong to the public library as a whole.
PACKAGES = ("explain", "fair_ranking", "metrics", "statistics")
#: Modules of these packages that serve studies and commands.
INTERNAL = {
    "everycell.explain.compiled",
    "everycell.explain.feature_numbers",
    "everycell.explain.forest_texts",
    "everycell.fair_ranking.matchings",
    "everycell.fair_ranking.reranked_runs",
    "everycell.metrics.fairness_comparison",
    "everycell.metrics.fairness_inputs",
    "everycell.metrics.ranked_lists",
    "everycell.metrics.ranked_runs",
    "everycell.statistics.anova_frames",
    "everycell.statistics.cluster_relations",
    "everycell.statistics.designs",
    "everycell.statistics.discrimination",
    "everycell.statistics.fast_anova",
    "everycell.statistics.paired_summaries",
    "everycell.statistics.repeated_ratings",
    "everycell.statistics.simulation",
}

#: Public modules that need a library which everycell does not install; no name loads them.
OPTIONAL = {"everycell.public.pyterrier"}


def public_modules() -> list[str]:
    """Names of the modules of the public library, sorted: these have full docstrings.

    Examples
    --------
    >>> "everycell.metrics.exposure" in public_modules(), "everycell.cli" in public_modules()
    (True, False)
    """
    source = Path(__file__).parents[1]
    files = (path for package in PACKAGES for path in (source / package).glob("[!_]*.py"))
    of_packages = {f"everycell.{path.parent.name}.{path.stem}" for path in files}
    return sorted((of_packages - INTERNAL) | OPTIONAL | {module for module, _ in NAMES.values()})


def resolve(name: str) -> Any:
    """Object of a public name.

    Examples
    --------
    >>> resolve("attribution_bias").__module__
    'everycell.metrics.attribution'
    >>> resolve("texfare")
    Traceback (most recent call last):
    AttributeError: everycell has no 'texfare'; it has texfair, and dir(everycell) names all.
    """
    if name not in NAMES:
        # Python asks for names of its own, such as __path__, and for each submodule before it
        # loads it: these get no suggestions.
        like = [] if name.startswith("_") else get_close_matches(name, NAMES)
        advice = f"; it has {', '.join(like)}, and dir(everycell) names all." if like else "."
        raise AttributeError(f"everycell has no {name!r}{advice}")
    module, own = NAMES[name]
    return getattr(import_module(module), own)
