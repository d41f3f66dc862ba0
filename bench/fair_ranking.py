"""Speed of fair policies (FELIX), compared with general solvers.

Run ``python bench/fair_ranking.py``; it uses one thread. Both sides of a comparison solve the same
problem in one process, and the script checks that they agree before it prints the times:

- *exposure and matrix*: pooling and Newton steps, compared with the linear program over n x k
  probabilities with a row per pair of items (HiGHS; the thesis used cvxopt, which is slower);
- *decomposition*: a compiled loop, compared with maximum matchings of networkx (Hopcroft-Karp, as
  published) on the same matrices;
- *n x k and n x n*: the decomposition of a matrix with k ranks, and of its extension to a square
  matrix by Lemma 2.4.2 of heuss2025, for the claim that O(k^3 n^2) steps replace O(n^4 sqrt(n));
- *FELIX*: 20 iterations on 112 lists of 20 to 60 items, from merits to policies, and the policies
  that column generation then finds for the same exposures.

The times do not include numba's first call, which is printed separately.
"""

import time

import networkx as nx
import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from everycell.fair_ranking.fair_exposure import fair_exposure, logarithmic_rank_weights
from everycell.fair_ranking.felix import decompose, resample
from everycell.fair_ranking.marginals import centre_marginals, entropy_marginals
from everycell.fair_ranking.policies import holds_outlier
from everycell.records.folders import import_papers

RANKS = 10


def measure(call, rounds):
    """Median seconds and result of a call."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return float(np.median(times)), result


def by_all_pairs(merits, weights):
    """Exposures by the linear program with one row per pair of items."""
    n, k = len(merits), len(weights)
    exposure = sparse.kron(sparse.identity(n), weights[None], format="csr")
    better, worse = np.triu_indices(n, 1)
    order = np.argsort(-merits)
    better, worse = order[better], order[worse]
    fair = sparse.diags(merits[worse]) @ exposure[better]
    fair = fair - sparse.diags(merits[better]) @ exposure[worse]
    solution = linprog(
        -np.outer(merits, weights).ravel(),
        A_ub=sparse.vstack([fair, sparse.kron(sparse.identity(n), np.ones((1, k)))]),
        b_ub=np.concatenate([np.zeros(len(better)), np.ones(n)]),
        A_eq=sparse.kron(np.ones((1, n)), sparse.identity(k)),
        b_eq=np.ones(k),
        method="highs",
    )
    return exposure @ solution.x


def by_networkx(matrix):
    """Decomposition by matchings of networkx, with hidden positions as vertices."""
    n, k = matrix.shape
    remaining = np.column_stack([matrix, 1 - matrix.sum(axis=1)])
    total, terms = np.zeros_like(matrix), 0
    weight = 1.0
    while weight > 1e-9:
        graph = nx.Graph()
        graph.add_nodes_from(range(n))
        for item, rank in zip(*np.nonzero(remaining > 1e-12), strict=True):
            positions = [int(rank)] if rank < k else range(k, n)
            graph.add_edges_from((int(item), f"position {index}") for index in positions)
        matching = nx.bipartite.hopcroft_karp_matching(graph, range(n))
        if len(matching) < 2 * n:
            break
        ranks = np.array([min(int(matching[item].split()[1]), k) for item in range(n)])
        size = remaining[np.arange(n), ranks].min()
        remaining[np.arange(n), ranks] -= size
        visible = np.flatnonzero(ranks < k)
        total[visible, ranks[visible]] += size
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
        hidden = (1 - matrix.sum(axis=1)) / (n - RANKS)
        square = np.column_stack([matrix, np.repeat(hidden[:, None], n - RANKS, axis=1)])
        fast, policy = measure(lambda m=matrix: decompose(m), 5)
        slow, square_policy = measure(lambda m=square: decompose(m), 1)
        np.testing.assert_allclose(square_policy.marginals(n), square, atol=1e-7)
        print(
            f"  {n:3} items: {n} x {n} {1e3 * slow:8.1f} ms ({len(square_policy.weights)} rankings)"
            f"  {n} x {RANKS} {1e3 * fast:6.2f} ms ({len(policy.weights)})"
            f"  {slow / fast:8.0f} times faster"
        )


def time_felix(rng):
    import_papers()
    from papers.heuss2025.ch2_optimum import generate_rankings

    lists = [problem(int(n), rng) for n in rng.integers(20, 61, 112)]

    def policies():
        results = []
        for merits, scores, weights in lists:
            exposures = fair_exposure(merits, weights)
            matrix = entropy_marginals(exposures, weights)
            test = holds_outlier(scores)
            results.append((exposures, test, resample(matrix, test, iterations=20, rng=rng)))
        return results

    seconds, results = measure(policies, 3)
    start = time.perf_counter()
    best = [
        generate_rankings(exposures, weights, test, felix.policy)
        for (exposures, test, felix), (_, _, weights) in zip(results, lists, strict=True)
    ]
    generation = time.perf_counter() - start
    first, last = (np.mean([felix.avoided[i] for _, _, felix in results]) for i in (0, -1))
    print(f"  112 lists, 20 iterations {seconds:6.2f} s   P(u) {first:.3f} -> {last:.3f}")
    print(
        f"  then column generation   {generation:6.2f} s   P(u) "
        f"{np.mean([optimum.avoided for optimum in best]):.3f}"
    )


def main():
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    decompose(np.full((3, 2), 1 / 3))
    print(f"First decomposition: {time.perf_counter() - start:.2f} s")
    print("Exposure and matrix, compared with a linear program with all pairs of items:")
    compare_exposure(rng)
    print("Decomposition, compared with matchings of networkx:")
    compare_matchings(rng)
    print("Decomposition of a matrix with ten ranks, compared with its square extension:")
    compare_square(rng)
    print("FELIX, from merits to policies:")
    time_felix(rng)


if __name__ == "__main__":
    main()
