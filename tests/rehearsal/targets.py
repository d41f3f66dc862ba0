"""Rehearsed targets of chapters, with the functions that make their material."""

from __future__ import annotations

#: Artefacts of chapter 3 of lajewska2025 that need no collection.
RUNS_OF_TWO_YEARS = (
    "full_lajewska2025_table_3_3",
    "full_lajewska2025_table_3_4",
    "full_lajewska2025_text_3_4",
    "full_lajewska2025_text_3_4_1",
    "full_lajewska2025_text_3_5",
)
#: Targets -> module of this folder, and its function. Quick to import, so that the suite can see
#: whether a chapter is missing.
CHAPTERS: dict[tuple[str, ...], tuple[str, str]] = {
    ("full_abolghasemi2026_ch2",): ("rankings", "query_by_example"),
    ("full_abolghasemi2026_ch3",): ("material", "satisfaction"),
    ("full_abolghasemi2026_ch4", "full_abolghasemi2024"): ("rankings", "group_fairness"),
    ("full_abolghasemi2026_ch5",): ("material", "attribution"),
    ("full_heuss2025_ch3",): ("rankings", "trained_rankers"),
    ("full_heuss2025_ch4",): ("material", "list_explanations"),
    ("full_heuss2025_ch5",): ("material", "citations"),
    RUNS_OF_TWO_YEARS: ("material", "runs_of_two_years"),
    ("full_lajewska2025_ch3",): ("systems", "systems_on_collections"),
    ("full_lajewska2025_ch5", "full_lajewska2025_chB"): ("material", "answerability"),
    ("full_lajewska2025_ch6", "full_lajewska2025_chC"): ("material", "responses"),
}
#: Quick enough for the suite. The others, whose path it has in parts (`tests/workflow`), are run by
#: `make rehearse`, which sets EVERYCELL_REHEARSE=1.
IN_THE_SUITE = {("full_heuss2025_ch4",), ("full_heuss2025_ch5",), RUNS_OF_TWO_YEARS}
