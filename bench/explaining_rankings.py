"""Time of explanations of ranked lists by a LightGBM model, against three ways without ours.

Run: ``python bench/explaining_rankings.py``. One thread. All ways value the same coalitions of the
same list, drawn as KernelSHAP draws them, and the script checks that the values agree:

- *published*: a call of the model for each coalition and each background sample, as the released
  explainer makes them, and scipy's Kendall's tau of each ranking;
- *coalition*: a call for each coalition, with all background samples;
- *batch*: one call for all, in parts that fit into memory;
- *ours*: a walk of each tree for each document and sample, in which coalitions part only where the
  two differ, then ranks by counting, and Kendall's tau as for the others.

The slow ways value the first coalitions only, and their time is scaled to all (*coalitions* says
how many). Then the talent search of heuss2025: all coalitions of five queries, 3,000 samples.
numba's first call is not in the times.
"""

import tempfile
import time
from pathlib import Path

import lightgbm
import numpy as np
from scipy.stats import kendalltau

from everycell.engine.artefacts import find_artefact, load_papers
from everycell.explain.explainers import ExplainedList
from everycell.explain.forests import read_forest
from everycell.explain.value_functions import kendall, ranks_of
from everycell.studies.heuss2025.ch4.attributions import list_attributions
from everycell.studies.heuss2025.ch4.talent_search import (
    TalentModel,
    background,
    candidates,
    universities,
)

#: Documents, features and background samples of the lists.
SIZES = [(12, 300, 100), (20, 46, 100), (100, 46, 100), (100, 136, 20)]
#: Coalitions that the slow ways value.
FEW = {"published": 3, "coalition": 20, "batch": 60}


def trained(features, rng, folder):
    """A model of 100 trees, and vectors that it ranks."""
    vectors = rng.random((2400, features))
    gains = vectors @ rng.random(features) ** 4
    labels = np.digitize(gains, np.quantile(gains, [0.5, 0.75, 0.9, 0.97]))
    model = lightgbm.LGBMRanker(objective="lambdarank", n_jobs=1, verbose=-1)
    model.fit(vectors, labels, group=[40] * 60)
    path = folder / f"{features}.txt"
    model.booster_.save_model(path)
    return model.booster_, read_forest(path), vectors


def drawn(features, rng):
    """As many coalitions as KernelSHAP takes, mostly very small and very large ones."""
    sizes = np.arange(1, features)
    weights = (features - 1) / (sizes * (features - sizes))
    half = (2048 + 2 * features) // 2
    taken = rng.choice(sizes, half, p=weights / weights.sum())
    order = np.argsort(rng.random((half, features)), axis=1)
    some = order < taken[:, None]
    return np.concatenate([some, ~some])


def worth(model, documents, background, coalitions, value, at_once):
    """Mean value of each coalition, by calls of the model for so many coalitions at once."""
    found = []
    for start in range(0, len(coalitions), at_once):
        kept = coalitions[start : start + at_once, None, None]
        masked = np.where(kept, documents[None, None], background[None, :, None])
        scores = model.predict(masked.reshape(-1, documents.shape[1]), num_threads=1)
        ranks = ranks_of(scores.reshape(-1, len(documents)))
        found.append(value(ranks).reshape(-1, len(background)).mean(axis=1))
    return np.concatenate(found)


def published_worth(model, documents, background, coalitions, reference):
    """Mean Kendall's tau of each coalition, by a call of the model and of scipy for each sample."""
    found = []
    for kept in coalitions:
        taus = []
        for sample in background:
            masked = np.where(kept, documents, sample)
            ranks = ranks_of(model.predict(masked, num_threads=1)[None])[0]
            taus.append(kendalltau(reference, ranks).statistic)
        found.append(np.mean(taus))
    return np.array(found)


def measure(call):
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def compare(documents, features, samples, rng, folder):
    model, forest, vectors = trained(features, rng, folder)
    given = ExplainedList(forest, vectors[:documents], vectors[-samples:])
    value = kendall(given.ranks)
    coalitions = drawn(features, rng)
    game = given.game(value)
    game(coalitions[:2, given.used_columns])
    fast, wanted = measure(lambda: game(coalitions[:, given.used_columns]))
    line = f"  {documents:3} x {features:3}, {samples:3} samples: ours {fast:6.2f} s"
    for name, few in FEW.items():
        lists = (model, given.documents, given.background, coalitions[:few])
        ways = {
            "published": lambda lists=lists: published_worth(*lists, given.ranks),
            "coalition": lambda lists=lists: worth(*lists, value, 1),
            "batch": lambda lists=lists, few=few: worth(*lists, value, few),
        }
        seconds, found = measure(ways[name])
        np.testing.assert_allclose(found, wanted[:few], atol=1e-9)
        seconds *= len(coalitions) / few
        line += f"; {name} {seconds:7.1f} s, {seconds / fast:5.0f} times"
    print(line)


def talent_search():
    """Exact values of five queries, from the printed inputs."""
    papers = load_papers(Path("published"))
    tables = [
        find_artefact(papers, f"heuss2025/table_4_A_{n}").input_cells("embedded") for n in (1, 2)
    ]
    schools = universities(tables[1])
    people = candidates(tables[0], schools)
    samples = background(schools, 3000, np.random.default_rng(0))
    seconds, _ = measure(
        lambda: list_attributions(TalentModel(schools, biased=True), people, samples)
    )
    print(f"  five queries, 32 coalitions, 3,000 samples, three explainers: {seconds:.2f} s")


def main():
    rng = np.random.default_rng(0)
    print("lists (documents x features)")
    with tempfile.TemporaryDirectory() as folder:
        for sizes in SIZES:
            compare(*sizes, rng, Path(folder))
    print("talent search")
    talent_search()


if __name__ == "__main__":
    main()
