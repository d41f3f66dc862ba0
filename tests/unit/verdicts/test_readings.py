"""Readings of a block of cells: found again if planted, and not found in random differences."""

import itertools

import numpy as np
import pytest

from everycell.verdicts.judge import judge
from everycell.verdicts.readings import (
    CHANCE_LEVEL,
    Block,
    Reading,
    Search,
    cell_readings,
    chance_of_gain,
    replacement,
    search_readings,
)

SYSTEMS, MEASURES = "abcde", ("MAP", "P@5", "nDCG")
KEYS = [{"system": s, "metric": m} for s, m in itertools.product(SYSTEMS, MEASURES)]
VALUES = np.random.default_rng(5).uniform(0.2, 0.9, len(KEYS))


def block_of(published: np.ndarray, reproduced: np.ndarray = VALUES, decimals=3) -> Block:
    digits = np.full(len(KEYS), float(decimals))
    return Block(KEYS, published, digits, np.full(len(KEYS), True), reproduced)


def rows_of(**key: str) -> np.ndarray:
    return np.array([key.items() <= cell.items() for cell in KEYS])


def search(published: np.ndarray, *readings, decimals=3) -> Search:
    block = block_of(published, decimals=decimals)
    return search_readings(block, [*readings, *cell_readings(block, ["system", "metric"])])


def with_rows(values: np.ndarray, *pairs: tuple[str, str], column: str) -> np.ndarray:
    """Values in which the first row or column of each pair has the values of the second."""
    changed = values.copy()
    for name, source in pairs:
        changed[rows_of(**{column: name})] = values[rows_of(**{column: source})]
    return changed


def truncated(values: np.ndarray) -> np.ndarray:
    return np.floor(values * 1000 + 1e-9) / 1000


SWAPPED = with_rows(VALUES, ("b", "d"), ("d", "b"), column="system")
PLANTED = {
    "b swapped with d (system)": SWAPPED,
    "P@5 swapped with nDCG (metric)": with_rows(
        VALUES, ("P@5", "nDCG"), ("nDCG", "P@5"), column="metric"
    ),
    "values of e repeated for c (system)": with_rows(VALUES, ("c", "e"), column="system"),
    "all values multiplied by 100": 100 * VALUES,
    "P@5 divided by 100": np.where(rows_of(metric="P@5"), VALUES / 100, VALUES),
    "values truncated": truncated(VALUES),
    "values rounded up": truncated(VALUES) + 0.001,
    "b swapped with d (system) and values truncated": truncated(SWAPPED),
    "b swapped with d (system) and MAP multiplied by 100": np.where(
        rows_of(metric="MAP"), 100 * SWAPPED, SWAPPED
    ),
}


@pytest.mark.parametrize("description", PLANTED)
def test_search_readings_planted(description):
    outcome = search(PLANTED[description].round(3))
    assert outcome.complete[0].description == description
    assert outcome.chance(outcome.complete[0]) < CHANCE_LEVEL
    assert bool(outcome.pairs) == (" and values" in description or " and MAP" in description)


@pytest.mark.parametrize(
    ("across", "name", "source"),
    [
        ("metric", ("m1", "one shot"), ("m2", "one shot")),
        ("metric", ("m1", "one shot"), ("m2", "two shots")),
        ("model", ("one shot", "F1"), ("two shots", "F1")),
    ],
)
def test_search_readings_published_twice(across, name, source):
    """A row or column that several keys name has the published values of another one."""
    columns = ["model", "prompt", "metric"]
    names = (["m1", "m2", "m3"], ["one shot", "two shots"], ["F1", "recall", "loss"])
    keys = [dict(zip(columns, key, strict=True)) for key in itertools.product(*names)]
    values = np.random.default_rng(3).uniform(0.2, 0.9, len(keys))
    naming = [column for column in columns if column != across]
    lines: dict[tuple[str, ...], list[int]] = {}
    for row, key in enumerate(keys):
        lines.setdefault(tuple(key[column] for column in naming), []).append(row)
    published = values.copy()
    published[lines[name]] = values[lines[source]]
    block = Block(keys, published.round(3), np.full(len(keys), 3), np.full(len(keys), True), values)
    outcome = search_readings(block, cell_readings(block, columns))
    trial = outcome.complete[0]
    texts = " / ".join(source), " / ".join(name)
    assert trial.description == f"values of {texts[0]} repeated for {texts[1]}, as published"
    assert outcome.chance(trial) < CHANCE_LEVEL


def test_search_readings_missing_value():
    """A cell without a value does not hide the reading that explains the others."""
    values = VALUES.copy()
    values[4] = np.nan
    block = block_of((100 * VALUES).round(3), values)
    outcome = search_readings(block, cell_readings(block, ["system", "metric"]))
    best = outcome.trials[0]
    assert (best.description, best.n_equal) == ("all values multiplied by 100", len(KEYS) - 1)
    assert outcome.chance(best) < CHANCE_LEVEL


def test_search_readings_computes_settings_once():
    calls = []

    def compute(settings):
        calls.append(settings)
        return VALUES + 0.01

    block = block_of(VALUES.round(3) + 0.02)
    reading = Reading("depth 10", "depth", {"depth": 10})
    readings = [reading, *cell_readings(block, ["system", "metric"])]
    outcome = search_readings(block, readings, compute)
    assert calls == [{"depth": 10}] and outcome.pairs


def test_search_readings_partial():
    """Two numbers differ for another reason, so the reading is the closest, with its count."""
    published = (100 * VALUES).round(3)
    published[[2, 7]] += 3
    outcome = search(published)
    assert not outcome.complete
    best = outcome.trials[0]
    assert (best.description, best.n_equal) == ("all values multiplied by 100", 13)
    assert np.flatnonzero(~best.is_equal).tolist() == [2, 7]
    assert outcome.chance(best) < CHANCE_LEVEL


def test_search_readings_declared():
    """Values of two errata, each for some cells; NaN leaves a cell as it is."""
    first, second = np.full((2, len(KEYS)), np.nan)
    first[:4], second[4:8] = VALUES[:4] + 0.1, VALUES[4:8] + 0.2
    published = np.where(np.isnan(first), np.where(np.isnan(second), VALUES, second), first)
    readings = [replacement("one", "one", first), replacement("two", "two", second)]
    outcome = search(published.round(3), *readings)
    assert [trial.description for trial in outcome.complete] == ["one and two"]


def test_search_readings_same_slot():
    """Of two seeds, only one can be right."""
    half = len(KEYS) // 2
    first, second = np.full((2, len(KEYS)), np.nan)
    first[:half], second[half:] = VALUES[:half] + 0.1, VALUES[half:] + 0.1
    readings = [replacement("one", "seed", first), replacement("two", "seed", second)]
    outcome = search((VALUES + 0.1).round(3), *readings)
    descriptions = [trial.description for trial in outcome.trials]
    assert not outcome.complete and {"one", "two"} <= {*descriptions}
    assert "one and two" not in descriptions


def test_search_readings_random_differences():
    """Negative control: in at most 5 % of random tables, a reading seems better than chance."""
    noise = np.random.default_rng(5)
    suspected = 0
    for _ in range(40):
        scale = noise.choice([0.001, 0.003, 0.02])
        outcome = search((VALUES + noise.normal(0, scale, len(KEYS))).round(3))
        suspected += any(outcome.chance(trial) < CHANCE_LEVEL for trial in outcome.trials)
    assert suspected <= 2


def test_chance_of_gain_one_cell():
    """A reading that turns one of 15 numbers equal is no evidence after 60 trials."""
    published = VALUES.round(3)
    published[0] += 0.004
    assert chance_of_gain(block_of(published), 1, 1) == pytest.approx(1 / 9)
    assert chance_of_gain(block_of(published), 1, 60) == 1
    assert chance_of_gain(block_of(published), 2, 60) == 0


@pytest.mark.parametrize("decimals", [0, 2, 4])
@pytest.mark.parametrize("is_rounded", [True, False])
def test_block_equal_as_judged(decimals, is_rounded):
    """A value is equal if and only if its verdict would be."""
    is_rounded = is_rounded or decimals > 0
    units = np.array([-1.0, -0.51, -0.5, -0.49, -1e-7, 0, 1e-7, 0.3, 0.5, 0.5000001, 0.51, 1, 2])
    published = np.full(len(units), round(12.3456, decimals))
    values = published + units * 10.0**-decimals
    digits, rounded = np.full(len(units), float(decimals)), np.full(len(units), is_rounded)
    block = Block([{}] * len(units), published, digits, rounded, values)
    expected = [
        judge(str(p), v, decimals, measured=is_rounded) == "equal"
        for p, v in zip(published, values, strict=True)
    ]
    assert block.equal(values).tolist() == expected and len({*expected}) == 2


def table_of(published: np.ndarray, reproduced: np.ndarray) -> Search:
    """Search in a table of eight systems and three measures."""
    names = itertools.product("abcdefgh", MEASURES)
    keys = [{"system": system, "metric": measure} for system, measure in names]
    digits, rounded = np.full(len(keys), 3.0), np.full(len(keys), True)
    block = Block(keys, published.round(3), digits, rounded, reproduced)
    return search_readings(block, cell_readings(block, ["system", "metric"]))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("direction", ["truncated", "rounded up"])
def test_search_readings_rounding_of_most(seed, direction):
    """One of 24 numbers differs for another reason; the others are not put down to chance."""
    generator = np.random.default_rng(seed)
    fractions = [0.3, 0.7] if direction == "truncated" else [0.7, 0.3]
    # 14 of the numbers are equal before.
    fractions = generator.permuted(np.repeat(fractions, [14, 10]))
    values = (generator.integers(200, 900, 24) + fractions) / 1000
    published = truncated(values) + 0.001 * (direction == "rounded up")
    published[seed] += 0.05
    outcome = table_of(published, values)
    best = outcome.trials[0]
    assert (best.description, best.n_equal) == (f"values {direction}", 23)
    assert outcome.chance(best) < CHANCE_LEVEL


def test_search_readings_rounding_by_chance():
    """Negative control: noise of about one unit, and a few values that are rounded down."""
    noise = np.random.default_rng(9)
    suspected = 0
    for _ in range(60):
        values = noise.uniform(0.2, 0.9, 24)
        outcome = table_of(values + noise.normal(0, noise.choice([3e-4, 6e-4, 1e-3]), 24), values)
        suspected += any(
            outcome.chance(trial) < CHANCE_LEVEL
            for trial in outcome.trials
            if "values" in trial.description
        )
    assert suspected <= 3
    values = np.random.default_rng(3).uniform(0.2, 0.9, 24)
    published = values.copy()
    rounded_down = np.flatnonzero(values * 1000 % 1 > 0.5)[:4]
    published[rounded_down] = truncated(values)[rounded_down]
    outcome = table_of(published, values)
    assert all(
        outcome.chance(trial) > CHANCE_LEVEL
        for trial in outcome.trials
        if trial.description == "values truncated"
    )
