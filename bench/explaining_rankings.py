"""Speed of explaining ranked lists, compared with three simpler methods.

Run ``python bench/explaining_rankings.py``; it uses one thread. All methods evaluate the same
coalitions of the same list, drawn as in KernelSHAP, and the script checks that the values agree:

- *published*: a model call per coalition and background sample, as in the released explainer, and
  scipy's Kendall's tau of each ranking;
- *coalition*: a model call per coalition, with all background samples;
- *batch*: model calls for as many coalitions as fit into memory;
- *ours*: one walk of each tree per document and sample, which separates coalitions only where the
  two differ, then ranks by counting, and the same Kendall's tau.

The slow methods evaluate only the first coalitions, and their time is extrapolated to all. The
script also measures the talent search of heuss2025: all coalitions of five queries, 3,000 samples.
The times do not include numba's first call.
"""

import tempfile
import time
from pathlib import Path

import lightgbm
import numpy as np
from scipy.stats import kendalltau

from everycell.explain.explainers import ExplainedList
from everycell.explain.forests import read_forest
from everycell.explain.value_functions import kendall, ranks_of
from everycell.records.folders import import_papers
from everycell.records.papers import find_artefact, load_papers

#: Documents, features and background samples of the lists.
SIZES = [(12, 300, 100), (20, 46, 100), (100, 46, 100), (100, 136, 20)]
#: Number of coalitions that the slow methods evaluate.
FEW = {"published": 3, "coalition": 20, "batch": 60}


def train_model(features, rng, folder):
    """A model of 100 trees, and feature vectors to rank."""
    vectors = rng.random((2400, features))
    gains = vectors @ rng.random(features) ** 4
    labels = np.digitize(gains, np.quantile(gains, [0.5, 0.75, 0.9, 0.97]))
    model = lightgbm.LGBMRanker(objective="lambdarank", n_jobs=1, verbose=-1)
    model.fit(vectors, labels, group=[40] * 60)
    path = folder / f"{features}.txt"
    model.booster_.save_model(path)
    return model.booster_, read_forest(path), vectors


def draw_coalitions(features, rng):
    """As many coalitions as KernelSHAP draws, mostly very small and very large ones."""
    sizes = np.arange(1, features)
    weights = (features - 1) / (sizes * (features - sizes))
    half = (2048 + 2 * features) // 2
    drawn_sizes = rng.choice(sizes, half, p=weights / weights.sum())
    order = np.argsort(rng.random((half, features)), axis=1)
    coalitions = order < drawn_sizes[:, None]
    return np.concatenate([coalitions, ~coalitions])


def coalition_values(model, documents, background, coalitions, value, batch):
    """Mean value of each coalition, with model calls for batches of coalitions."""
    values = []
    for start in range(0, len(coalitions), batch):
        is_member = coalitions[start : start + batch, None, None]
        masked = np.where(is_member, documents[None, None], background[None, :, None])
        scores = model.predict(masked.reshape(-1, documents.shape[1]), num_threads=1)
        ranks = ranks_of(scores.reshape(-1, len(documents)))
        values.append(value(ranks).reshape(-1, len(background)).mean(axis=1))
    return np.concatenate(values)


def published_values(model, documents, background, coalitions, reference):
    """Mean Kendall's tau of each coalition, with a call of model and scipy per sample."""
    values = []
    for is_member in coalitions:
        taus = []
        for sample in background:
            masked = np.where(is_member, documents, sample)
            ranks = ranks_of(model.predict(masked, num_threads=1)[None])[0]
            taus.append(kendalltau(reference, ranks).statistic)
        values.append(np.mean(taus))
    return np.array(values)


def measure(call):
    """CPU seconds and result of a call."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def compare(documents, features, samples, rng, folder):
    """Print the times of all methods on one list."""
    model, forest, vectors = train_model(features, rng, folder)
    explained = ExplainedList(forest, vectors[:documents], vectors[-samples:])
    value = kendall(explained.ranks)
    coalitions = draw_coalitions(features, rng)
    game = explained.game(value)
    game(coalitions[:2, explained.used_columns])
    fast, expected = measure(lambda: game(coalitions[:, explained.used_columns]))
    line = f"  {documents:3} x {features:3}, {samples:3} samples: ours {fast:6.2f} s"
    for name, few in FEW.items():
        inputs = (model, explained.documents, explained.background, coalitions[:few])
        methods = {
            "published": lambda inputs=inputs: published_values(*inputs, explained.ranks),
            "coalition": lambda inputs=inputs: coalition_values(*inputs, value, 1),
            "batch": lambda inputs=inputs, few=few: coalition_values(*inputs, value, few),
        }
        seconds, values = measure(methods[name])
        np.testing.assert_allclose(values, expected[:few], atol=1e-9)
        seconds *= len(coalitions) / few
        line += f"; {name} {seconds:7.1f} s, {seconds / fast:5.0f} times"
    print(line)


def measure_talent_search():
    """Print the time of exact attributions for five queries of the talent search."""
    papers = load_papers(Path("published"))
    tables = [
        find_artefact(papers, f"heuss2025/table_4_A_{n}").input_cells("embedded") for n in (1, 2)
    ]
    import_papers()
    from papers.heuss2025.ch4_attributions import list_attributions
    from papers.heuss2025.ch4_talent_search import (
        TalentModel,
        background,
        candidates,
        universities,
    )

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
    measure_talent_search()


if __name__ == "__main__":
    main()
