"""Time of fair policies (FELIX), against general solvers and the published way.

Run: ``python bench/fair_ranking.py``. One thread. Both sides of a comparison solve the same problem
in the same process, and the script checks that they agree before it prints the times:

- *exposure and matrix*: pooling and Newton steps, against the linear program over n x k
  probabilities with a row for each pair of items (HiGHS; the thesis used cvxopt, which is slower);
- *decomposition*: a compiled loop, against maximum matchings of networkx (Hopcroft-Karp, as
  published) on the same matrices;
- *n x k against n x n*: the decomposition of a cut matrix, and of its extension to a square one by
  Lemma 2.4.2 of heuss2025: the claim that O(k^3 n^2) steps take the place of O(n^4 sqrt(n));
- *FELIX*: 20 iterations on 112 lists of 20 to 60 items, from merits to policies, and the policies
  of the same exposures that column generation finds from there.

numba's first call is not in the times (printed apart).
"""

import time

import networkx as nx
import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from everycell.fair_ranking.decomposition import decompose, resample
from everycell.fair_ranking.exposure import fair_exposure, logarithmic_rank_weights
from everycell.fair_ranking.exposure_measures import holds_outlier
from everycell.fair_ranking.marginals import centre_marginals, entropy_marginals
from everycell.fair_ranking.optimum import generate_rankings

RANKS = 10


def measure(call, rounds):
    """Median seconds of a call, and what it returns."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        found = call()
        times.append(time.perf_counter() - start)
    return float(np.median(times)), found


def by_all_pairs(merits, weights):
    """Exposures by the linear program with a row for each pair of items."""
    n, k = len(merits), len(weights)
    exposure = sparse.kron(sparse.identity(n), weights[None], format="csr")
    better, worse = np.triu_indices(n, 1)
    order = np.argsort(-merits)
    better, worse = order[better], order[worse]
    fair = sparse.diags(merits[worse]) @ exposure[better]
    fair = fair - sparse.diags(merits[better]) @ exposure[worse]
    found = linprog(
        -np.outer(merits, weights).ravel(),
        A_ub=sparse.vstack([fair, sparse.kron(sparse.identity(n), np.ones((1, k)))]),
        b_ub=np.concatenate([np.zeros(len(better)), np.ones(n)]),
        A_eq=sparse.kron(np.ones((1, n)), sparse.identity(k)),
        b_eq=np.ones(k),
        method="highs",
    )
    return exposure @ found.x


def by_networkx(matrix):
    """Decomposition by matchings of networkx on a graph in which each hidden place is a vertex."""
    n, k = matrix.shape
    left = np.column_stack([matrix, 1 - matrix.sum(axis=1)])
    total, terms = np.zeros_like(matrix), 0
    weight = 1.0
    while weight > 1e-9:
        graph = nx.Graph()
        graph.add_nodes_from(range(n))
        for item, rank in zip(*np.nonzero(left > 1e-12), strict=True):
            places = [int(rank)] if rank < k else range(k, n)
            graph.add_edges_from((int(item), f"place {place}") for place in places)
        matching = nx.bipartite.hopcroft_karp_matching(graph, range(n))
        if len(matching) < 2 * n:
            break
        ranks = np.array([min(int(matching[item].split()[1]), k) for item in range(n)])
        size = left[np.arange(n), ranks].min()
        left[np.arange(n), ranks] -= size
        shown = np.flatnonzero(ranks < k)
        total[shown, ranks[shown]] += size
        weight -= size
        terms += 1
    return total, terms


def problem(n, rng):
    """Merits, scores and rank weights of a list."""
    return 1 - rng.random(n), np.exp(rng.normal(size=n)), logarithmic_rank_weights(RANKS)


def compare_exposure(rng):
    for n in (40, 100):
        merits, _, weights = problem(n, rng)
        slow, expected = measure(lambda m=merits, v=weights: by_all_pairs(m, v), 3)
        fast, exposures = measure(lambda m=merits, v=weights: fair_exposure(m, v), 20)
        np.testing.assert_allclose(exposures, expected, atol=1e-5)
        for name, marginals in (("entropy", entropy_marginals), ("centre", centre_marginals)):
            both, matrix = measure(
                lambda m=merits, v=weights, f=marginals: f(fair_exposure(m, v), v), 20
            )
            np.testing.assert_allclose(matrix @ weights, exposures, atol=1e-8)
            print(
                f"  {n:3} x {RANKS} all pairs {1e3 * slow:8.1f} ms  exposure {1e3 * fast:6.3f} ms"
                f"  and matrix ({name}) {1e3 * both:6.2f} ms  {slow / both:8.0f} times faster"
            )


def compare_matchings(rng):
    for n in (20, 40):
        merits, _, weights = problem(n, rng)
        matrix = entropy_marginals(fair_exposure(merits, weights), weights)
        slow, (expected, terms) = measure(lambda m=matrix: by_networkx(m), 1)
        fast, policy = measure(lambda m=matrix: decompose(m), 20)
        np.testing.assert_allclose(expected, matrix, atol=1e-6)
        np.testing.assert_allclose(policy.marginals(n), matrix, atol=1e-8)
        print(
            f"  {n:3} x {RANKS} networkx {1e3 * slow:8.0f} ms ({terms} rankings)"
            f"  compiled {1e3 * fast:6.2f} ms ({len(policy.weights)})"
            f"  {slow / fast:8.0f} times faster"
        )


def compare_square(rng):
    for n in (20, 40, 80, 160):
        merits, _, weights = problem(n, rng)
        matrix = entropy_marginals(fair_exposure(merits, weights), weights)
        rest = (1 - matrix.sum(axis=1)) / (n - RANKS)
        square = np.column_stack([matrix, np.repeat(rest[:, None], n - RANKS, axis=1)])
        cut, few = measure(lambda m=matrix: decompose(m), 5)
        whole, many = measure(lambda m=square: decompose(m), 1)
        np.testing.assert_allclose(many.marginals(n), square, atol=1e-7)
        print(
            f"  {n:3} items: {n} x {n} {1e3 * whole:8.1f} ms ({len(many.weights)} rankings)"
            f"  {n} x {RANKS} {1e3 * cut:6.2f} ms ({len(few.weights)})"
            f"  {whole / cut:8.0f} times faster"
        )


def time_felix(rng):
    lists = [problem(int(n), rng) for n in rng.integers(20, 61, 112)]

    def policies():
        found = []
        for merits, scores, weights in lists:
            exposures = fair_exposure(merits, weights)
            matrix = entropy_marginals(exposures, weights)
            test = holds_outlier(scores)
            found.append((exposures, test, resample(matrix, test, iterations=20, rng=rng)))
        return found

    seconds, found = measure(policies, 3)
    start = time.perf_counter()
    best = [
        generate_rankings(exposures, weights, test, felix.policy)
        for (exposures, test, felix), (_, _, weights) in zip(found, lists, strict=True)
    ]
    generated = time.perf_counter() - start
    once, last = (np.mean([felix.avoided[i] for _, _, felix in found]) for i in (0, -1))
    print(f"  112 lists, 20 iterations {seconds:6.2f} s   P(u) {once:.3f} -> {last:.3f}")
    print(
        f"  column generation after  {generated:6.2f} s   P(u) "
        f"{np.mean([optimum.avoided for optimum in best]):.3f}"
    )


def main():
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    decompose(np.full((3, 2), 1 / 3))
    print(f"First decomposition: {time.perf_counter() - start:.2f} s")
    print("Exposure and matrix, against a linear program with all pairs of items:")
    compare_exposure(rng)
    print("Decomposition, against matchings of networkx:")
    compare_matchings(rng)
    print("Decomposition of a cut matrix, against its extension to a square one:")
    compare_square(rng)
    print("FELIX, from merits to policies:")
    time_felix(rng)


if __name__ == "__main__":
    main()
