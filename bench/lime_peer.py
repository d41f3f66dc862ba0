"""Attributions of our LIME, compared with the package lime.

The package needs scikit-image and is not among the project's dependencies. Install it outside the
environment and run the script with it; the versions are those of the documented figures::

    .venv/bin/python -m pip install --target /tmp/lime --no-deps \
        lime==0.2.0.1 scikit-image==0.26.0 imageio==2.38.1 lazy-loader==0.6 tifffile==2026.3.3
    PYTHONPATH=/tmp/lime .venv/bin/python bench/lime_peer.py

`LimeTabularExplainer` explains the scores of the top five documents (PWLime) or Kendall's tau of
the list, whose documents are joined into one vector (RLime). Its settings approach its defaults
step by step; ours with another seed shows how much is due to sampling. Each line has the largest
difference of an attribution to ours, the largest share of a list's largest attribution, and the
mean of the lists' rank correlations over the features (Spearman).
"""

import tempfile
from pathlib import Path

import numpy as np
from explaining_rankings import train_model
from lime.discretize import BaseDiscretizer
from lime.lime_tabular import LimeTabularExplainer
from scipy.stats import spearmanr

from everycell.explain.explainers import TOP, listwise_lime, pointwise_lime
from everycell.explain.value_functions import kendall, ranks_of

LISTS, DOCUMENTS, FEATURES, BACKGROUND = 5, 12, 10, 100
SAMPLES = (1_000, 20_000)
#: Masks that keep a feature with the probability of its quartile.
QUARTER = (0, 0, 0, 1)


class Masks(BaseDiscretizer):
    """Two "bins" per feature: 1 keeps a document's value, 0 takes that of a background sample.

    The package draws the bins with their frequencies in its training data, so the training data are
    masks as well. A sample replaces all masked features of a document, or with `independent` each
    feature has its own sample.
    """

    def __init__(self, documents, background, rng, *, independent=False):
        self.documents, self.background, self.rng = documents, background, rng
        self.independent, self.names, self.lambdas = independent, {}, {}

    def discretize(self, data):
        return np.ones(len(data)) if data.ndim == 1 else data

    def undiscretize(self, data):
        count, features = self.documents.shape
        self.masks = data.reshape(-1, count, features) == 1
        shape = self.masks.shape if self.independent else self.masks.shape[:2]
        self.samples = self.rng.integers(len(self.background), size=shape)
        columns = np.arange(features)
        replacements = self.background[
            self.samples if self.independent else self.samples[..., None], columns
        ]
        return np.where(self.masks, self.documents, replacements).reshape(len(data), -1)


class Replay:
    """Generator that repeats the draws of `Masks`; the package's first sample is the original."""

    def __init__(self, masks):
        self.masks = masks

    def random(self, shape):
        kept = np.concatenate([np.ones((1, shape[1])), self.masks.masks.reshape(-1, shape[1])])
        return np.where(kept == 1, 0.0, 1.0)

    def integers(self, high, size):
        first = np.zeros((1, self.masks.samples.shape[1]), dtype=int)
        return np.concatenate([first, self.masks.samples]).reshape(size)


def package_weights(predict, documents, training, samples, **settings):
    """Weights by the package, shape of the documents, without a selection of features."""
    explainer = LimeTabularExplainer(
        training, mode="regression", feature_selection="none", **settings
    )
    size = documents.size
    explanation = explainer.explain_instance(
        documents.reshape(-1), predict, num_features=size, num_samples=samples
    )
    weights = dict(explanation.local_exp[1])
    return np.array([weights[column] for column in range(size)]).reshape(documents.shape)


def masked_weights(predict, documents, background, samples, seed, keep=(0, 1), independent=False):
    """Weights by the package with our masks, and the draws; `keep` has the bins' frequencies."""
    masks = Masks(documents, background, np.random.default_rng(seed), independent=independent)
    training = np.repeat(np.array(keep, dtype=float)[:, None], documents.size, axis=1)
    weights = package_weights(
        predict, documents, training, samples, discretizer=masks, random_state=seed
    )
    return weights, masks


def variants(predict, ours, documents, background, samples, seeds):
    """Weights of one vector by name of the setting; `ours` is a function of a generator."""
    shared = (predict, documents, background, samples)
    first, second, other = seeds.integers(2**31, size=3).tolist()
    same, masks = masked_weights(*shared, other)
    replicated = np.tile(background, (1, len(documents)))
    return {
        "ours": ours(np.random.default_rng(first)),
        "ours, another seed": ours(np.random.default_rng(second)),
        "ours, draws of the package": ours(Replay(masks)),
        "package, our masks": same,
        "package, features kept with probability 1/4": masked_weights(*shared, other, QUARTER)[0],
        "package, and a sample per feature": masked_weights(*shared, other, QUARTER, True)[0],
        "package, quartiles (default)": package_weights(
            predict, documents, replicated, samples, random_state=other
        ),
        "package, without discretisation": package_weights(
            predict, documents, replicated, samples, discretize_continuous=False, random_state=other
        ),
    }


def pointwise(forest, documents, background, samples, seeds):
    """Mean absolute weights of the top documents, by setting."""
    top = documents[ranks_of(forest(documents)) <= TOP]
    results = [
        variants(
            forest,
            lambda rng, one=one: pointwise_lime(forest, one, background, samples=samples, rng=rng),
            one,
            background,
            samples,
            seeds,
        )
        for one in top[:, None]
    ]
    return {name: np.abs([each[name] for each in results]).mean(axis=(0, 1)) for name in results[0]}


def listwise(forest, documents, background, samples, seeds):
    """Mean weights of the documents for Kendall's tau, by setting."""
    value = kendall(ranks_of(forest(documents)))

    def predict(vectors):
        scores = forest(vectors.reshape(-1, documents.shape[1]))
        return value(ranks_of(scores.reshape(len(vectors), -1)))

    def ours(rng):
        return listwise_lime(forest, documents, background, value, samples=samples, rng=rng)

    results = variants(predict, ours, documents, background, samples, seeds)
    return {name: weights.mean(axis=0) for name, weights in results.items()}


#: Setting -> setting to which it is compared.
COMPARED = {
    "package, our masks": "ours, draws of the package",
    "ours, another seed": "ours",
    "ours, draws of the package": "ours",
    "package, features kept with probability 1/4": "ours",
    "package, and a sample per feature": "ours",
    "package, quartiles (default)": "ours",
    "package, without discretisation": "ours",
}


def main():
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        _, forest, vectors = train_model(FEATURES, rng, Path(folder))
    background, lists = vectors[-BACKGROUND:], vectors[: LISTS * DOCUMENTS]
    for name, explain in (("PWLime", pointwise), ("RLime", listwise)):
        for samples in SAMPLES:
            seeds = np.random.default_rng(samples)
            results = [
                explain(forest, documents, background, samples, seeds)
                for documents in lists.reshape(LISTS, DOCUMENTS, FEATURES)
            ]
            print(f"{name}, {LISTS} lists of {DOCUMENTS} x {FEATURES}, {samples:,} samples")
            for setting, other in COMPARED.items():
                pairs = [(each[setting], each[other]) for each in results]
                difference = max(np.abs(one - two).max() for one, two in pairs)
                share = max(np.abs(one - two).max() / np.abs(two).max() for one, two in pairs)
                correlation = np.mean([spearmanr(one, two).statistic for one, two in pairs])
                numbers = f"{difference:8.2g} {share:7.1%} {correlation:6.3f}"
                print(f"  {setting:44} to {other:26} {numbers}")


if __name__ == "__main__":
    main()
