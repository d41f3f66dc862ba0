"""Chapter 1 of sakai2023: group fairness and relevance of two annotated conversations (GFRC).

One function per rule of ``ch1.smk``, and scores with one row per published value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd

from everycell.base.errors import DataError
from everycell.jobs.result_job import ResultJob
from everycell.metrics.divergences import AttributeSet, Divergence, distribution_similarity
from everycell.metrics.gfr import gfr as ranked_gfr
from everycell.metrics.gfrc import (
    READING_BUDGET,
    Method,
    achieved_distributions,
    combine,
    group_fairness,
    position_weight,
    relevance,
    turn_similarities,
    turn_weights,
    without_duplicates,
)
from everycell.trec.runs import read_run, trec_order
from papers.sakai2023.ch1_figures import memberships, slope
from papers.sakai2023.data import (
    ATTRIBUTE_SETS,
    ranked_pages,
    read_gains,
    read_memberships,
    read_target,
)

#: Placeholder for the entity in the row with the score of the conversation.
CONVERSATION = "(conversation)"


def gfrc(job: ResultJob) -> None:
    """Tables 1 and 2: relevance and group fairness of the two annotated conversations."""
    params = job.params
    entities, sets = _read_conversations(job)
    if job.wildcards.number == "1":
        job.write_table(relevance_cells(entities, params.budget))
    else:
        job.write_table(fairness_cells(entities, sets, params.method))


def text(job: ResultJob) -> None:
    """Numbers in the text: gains of one film, and the scores of Google relative to those of Bing.

    One supplement has what two other computations give: gains of 2 instead of 1, and shares of the
    scores as the tables print them, with four decimals. Another has the scores by the alternatives
    that section 3 names.
    """
    params = job.params
    entities, sets = _read_conversations(job)
    gains = relevance_cells(entities, params.budget)
    scores = pd.concat([gains, fairness_cells(entities, sets, params.method)])
    shares = {
        "relevance": scores["metric"] == "R",
        "group fairness by ratings": scores["metric"].str.startswith("RATINGS (")
        & (scores["turn"] == "GF"),
        "group fairness by origin": scores["metric"].str.startswith("ORIGIN (")
        & (scores["turn"] == "GF"),
    }
    rows, readings = [], []
    film = gains[(gains["entity"] == params.film) & (gains["metric"] == "pw_g")]
    for system, gain in zip(film["system"], film["value"], strict=True):
        name = f"discounted gain of {params.film}: {system}"
        rows.append((name, "gain", gain))
        readings.append((name, "gain, doubled", 2 * gain))
    for measure, selected in shares.items():
        values = scores[selected].set_index("system")["value"].astype(float)
        name = f"{measure}: Google over Bing"
        rows.append((name, "percent", 100 * values["Google"] / values["Bing"]))
        rounded = values.round(4)
        readings.append(
            (name, "percent of rounded scores", 100 * rounded["Google"] / rounded["Bing"])
        )
    columns = ["claim", "metric", "value"]
    job.write_table(pd.DataFrame(rows, columns=columns))
    decimals = {"gain, doubled": 4, "percent of rounded scores": 1}
    job.write_supplement(pd.DataFrame(readings, columns=columns), "readings", decimals)
    alternatives = alternative_cells(entities, sets, params.turns, params.budget)
    job.write_supplement(alternatives, "alternatives", {"all": 4})


def weights(job: ResultJob) -> None:
    """Figure 1, lower part: weights of the relevant films of both conversations."""
    entities, _ = _read_conversations(job)
    films = entities[entities["gain"] > 0].rename(columns={"word_count": "words"})
    points = films[["system", "entity", "words"]].assign(
        value=position_weight(films["words"], job.params.budget)
    )
    job.write_figure(points, slope(points, job.params.budget))


def annotations(job: ResultJob) -> None:
    """Figure 5: films of both conversations, with their levels, positions and groups."""
    entities, sets = _read_conversations(job)
    cells = job.input_cells("sakai2023/figure_5")
    levels = cells[cells["metric"] == "level"].set_index(["system", "entity"])["value"]
    films = entities.assign(
        level=[levels[key] for key in zip(entities["system"], entities["entity"], strict=True)],
        words=["" if np.isnan(words) else f"{words:g}" for words in entities["word_count"]],
    )
    job.write_figure(cells, memberships(films, {name: f"{name} group" for name in sets}))


def gfr(job: ResultJob) -> None:
    """Section 2.1: GFR, the measure of ranked lists that GFRC extends, of runs of FairWeb-1.

    Pages without memberships belong to all groups equally.
    """
    params, files = job.params, job.input
    divergences = params.divergences
    targets = dict(zip(divergences, map(read_target, files.targets), strict=True))
    groups = dict(zip(divergences, map(read_memberships, files.memberships), strict=True))
    gains = read_gains(files.qrels, params.gains)
    runs = [trec_order(read_run(path, ranks="error")) for path in files.runs]
    rows = []
    for topic, names in ATTRIBUTE_SETS.items():
        sets = {name: AttributeSet(targets[name], divergences[name]) for name in names}
        uniform = {name: [1 / len(targets[name])] * len(targets[name]) for name in names}
        for run_name, run in zip(params.runs, runs, strict=True):
            pages = ranked_pages(run, topic)
            scores = ranked_gfr(
                [[gains.get((topic, page), 0.0) for page in pages]],
                {
                    name: [[groups[name].get((topic, page), uniform[name]) for page in pages]]
                    for name in names
                },
                sets,
                max_gain=max(params.gains.values()),
            )
            values = {"GFR": scores.combined, "ERR": scores.utility}
            for name in names:
                values[f"{name} ({divergences[name]})"] = scores.by_attribute_set[name]
            rows += [(topic, run_name, metric, value[0, -1]) for metric, value in values.items()]
    job.write_table(pd.DataFrame(rows, columns=["topic", "run", "metric", "value"]))


#: Weight of relevance in the combined score (Eq. 5). The paper does not state one.
ALPHA = 0.5


def alternative_cells(
    entities: pd.DataFrame,
    attribute_sets: Mapping[str, AttributeSet],
    turns: Sequence[str],
    budget: int = READING_BUDGET,
) -> pd.DataFrame:
    """Scores of each conversation by the alternatives of section 3: `system`, `score`, `metric`."""
    ordinal = {
        name: replace(groups, divergence="NMD") if groups.divergence == "RNOD" else groups
        for name, groups in attribute_sets.items()
    }
    rows = []
    for system, part in entities.groupby("system", sort=False):
        inputs = {
            name: (part["turn"], part["gain"], np.array(part[name].tolist()))
            for name in attribute_sets
        }
        similarities = {
            name: turn_similarities(*inputs[name], groups)
            for name, groups in attribute_sets.items()
        }
        weights = turn_weights(part["turn"], part["word_count"], part["gain"], budget)
        fairness = {
            "as in Table 2": {name: group_fairness(similarities[name]) for name in inputs},
            "cumulative distributions": {
                name: group_fairness(turn_similarities(*inputs[name], groups, "cumulative"))
                for name, groups in attribute_sets.items()
            },
            "uniform turns": {
                name: group_fairness(
                    similarities[name].reindex(turns, fill_value=_uniform_similarity(groups))
                )
                for name, groups in attribute_sets.items()
            },
            "NMD instead of RNOD": {
                name: group_fairness(turn_similarities(*inputs[name], groups))
                for name, groups in ordinal.items()
            },
            "turns weighted by position": {
                name: group_fairness(similarities[name], weights) for name in inputs
            },
        }
        score = relevance(part["word_count"], part["gain"], budget)
        for alternative, by_set in fairness.items():
            mean = float(np.mean(list(by_set.values())))
            values = {f"GF, {name}": value for name, value in by_set.items()}
            values |= {"GF": mean, "GFR": combine(score, mean, ALPHA)}
            rows += [(system, name, alternative, value) for name, value in values.items()]
    return pd.DataFrame(rows, columns=["system", "score", "metric", "value"])


def _uniform_similarity(groups: AttributeSet) -> float:
    """Similarity of the uniform distribution to a target."""
    uniform = np.full(len(groups.target), 1 / len(groups.target))
    return float(distribution_similarity(uniform, groups.target, groups.divergence))


def _read_conversations(job: ResultJob) -> tuple[pd.DataFrame, dict[str, AttributeSet]]:
    """Entities of the annotated conversations, and the attribute sets with their targets."""
    sets = read_targets(pd.read_csv(job.input.targets), job.params.divergences)
    cells = job.input_cells("sakai2023/figure_5")
    return annotated_entities(cells, job.params.gains, sets), sets


def _parse_memberships(text: str, width: int, where: str) -> list[float]:
    """Parse the shares of an entity in the groups of an attribute set."""
    try:
        shares = [float(Fraction(part)) for part in text.split(";")]
    except (ValueError, ZeroDivisionError):
        raise DataError(
            fault=f"{where}: the membership {text!r} cannot be read",
            expected="numbers or fractions separated by semicolons, such as 0;1/2;1/2",
        ) from None
    if len(shares) != width:
        fault = f"{where}: the membership {text!r} has {len(shares)} groups and the target {width}"
        raise DataError(fault=fault, fix="give one share per group")
    return shares


def read_targets(
    targets: pd.DataFrame, divergences: Mapping[str, Divergence]
) -> dict[str, AttributeSet]:
    """Attribute sets from a table of targets, one row per group."""
    sets = {}
    for name, divergence in divergences.items():
        shares = targets.loc[targets["attribute_set"] == name].sort_values("group")["value"]
        if shares.empty:
            available = sorted(set(targets["attribute_set"]))
            raise DataError(
                fault=f"the targets have no attribute set {name!r}", expected=f"one of {available}"
            )
        sets[name] = AttributeSet(tuple(shares.astype(float).tolist()), divergence)
    return sets


def annotated_entities(
    annotations: pd.DataFrame,
    gains: Mapping[str, float],
    attribute_sets: Mapping[str, AttributeSet],
) -> pd.DataFrame:
    """Entities of annotated conversations, one row per entity."""
    keys = ["system", "turn", "order", "entity"]
    metrics = ["level", "wc", *(name.lower() for name in attribute_sets)]
    rows = (
        annotations.pivot(index=keys, columns="metric", values="value")
        .reindex(columns=metrics)
        .reset_index()
    )
    conversations = []
    for system in annotations["system"].unique():
        part = rows[rows["system"] == system]
        part = part.iloc[part["order"].astype(int).argsort()]
        unknown = sorted(set(part["level"].fillna("")) - set(gains))
        if unknown:
            raise DataError(
                fault=f"{system}: the relevance level {unknown[0]!r} is unknown",
                expected=str(sorted(gains)),
            )
        entities = pd.DataFrame(
            {
                "system": system,
                "turn": part["turn"],
                "entity": part["entity"],
                "word_count": part["wc"].astype(float),
                "gain": without_duplicates(part["entity"], part["level"].map(gains)),
            }
        )
        for name, groups in attribute_sets.items():
            width = len(groups.target)
            entities[name] = [
                _parse_memberships(text, width, f"{system}, {entity}, {name}")
                if isinstance(text, str)
                else [np.nan] * width
                for entity, text in zip(part["entity"], part[name.lower()], strict=True)
            ]
        conversations.append(entities)
    return pd.concat(conversations, ignore_index=True)


def relevance_cells(entities: pd.DataFrame, budget: int = READING_BUDGET) -> pd.DataFrame:
    """Discounted gain of each relevant entity, and relevance R of each conversation."""
    cells: list[tuple[str, str, str, float]] = []
    for system, part in entities.groupby("system", sort=False):
        relevant = part[part["gain"] > 0]
        weights = position_weight(relevant["word_count"], budget)
        for entity, weight, gain in zip(relevant["entity"], weights, relevant["gain"], strict=True):
            cells += [
                (system, entity, "pw", weight),
                (system, entity, "g", gain),
                (system, entity, "pw_g", weight * gain),
            ]
        cells.append(
            (system, CONVERSATION, "R", relevance(part["word_count"], part["gain"], budget))
        )
    return pd.DataFrame(cells, columns=["system", "entity", "metric", "value"])


def fairness_cells(
    entities: pd.DataFrame,
    attribute_sets: Mapping[str, AttributeSet],
    method: Method = "independent",
) -> pd.DataFrame:
    """Similarity of each turn to the targets, and group fairness GF of each conversation."""
    cells: list[tuple[str, str, str, float]] = []
    for system, part in entities.groupby("system", sort=False):
        for name, groups in attribute_sets.items():
            memberships = np.array(part[name].tolist())
            inputs = (part["turn"], part["gain"], memberships)
            turns = turn_similarities(*inputs, groups, method)
            metric = f"{name} ({groups.divergence})"
            for turn, shares in achieved_distributions(*inputs, method).iterrows():
                cells += [
                    (system, str(turn), f"{name} group {number}", share)
                    for number, share in enumerate(shares, start=1)
                ]
                cells.append((system, str(turn), metric, turns[turn]))
            cells.append((system, "GF", metric, group_fairness(turns)))
    return pd.DataFrame(cells, columns=["system", "turn", "metric", "value"])
