"""The page on the cost of scale follows the configuration, the records and the published values."""

import json
from pathlib import Path
from statistics import mean

import pandas as pd
import pytest
from harness import load_script

from everycell.config import Config, parse_config, read_config
from everycell.language_models.requirements import FACTS, H200, Load, gpu_hours
from papers.abolghasemi2026 import ch3_scale as satisfaction
from papers.abolghasemi2026 import ch5_scale as attribution
from papers.heuss2025 import ch5_scale as faithfulness
from papers.lajewska2025 import ch6_scale as ginger

REPOSITORY = Path(__file__).resolve().parents[2]


def test_cost_of_scale_page():
    make_cost_of_scale = load_script("docs/make_cost_of_scale.py")
    page = make_cost_of_scale.render(read_config(REPOSITORY / "config.yaml"))
    written = (REPOSITORY / "docs/cost-of-scale.md").read_text(encoding="utf-8")
    assert written == page, "run: python docs/make_cost_of_scale.py"


def prompts_of(record):
    lines = (REPOSITORY / "recorded" / record).read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    return sorted(
        entry["answer"]["prompt_tokens"] for entry in entries if entry["model"]["name"] == "smollm2"
    )


def test_prompt_tokens():
    prompts = prompts_of("abolghasemi2026_ch5.jsonl")
    # Of 60 questions under three arms, prompts have five documents; all others have two.
    five, two = mean(prompts[-180:]), mean(prompts[:-180])
    assert attribution.DOCUMENT == round((five - two) / 3)
    assert attribution.INSTRUCTIONS == round(two - 2 * (five - two) / 3)
    assert round(mean(prompts_of("abolghasemi2026_ch3_labels.jsonl"))) == satisfaction.PROMPT
    assert round(mean(prompts_of("heuss2025_ch5.jsonl"))) == faithfulness.PROMPT
    assert Config().citation_faithfulness.released.depth == faithfulness.DOCUMENTS


def test_samples_and_responses():
    published = pd.read_csv(REPOSITORY / "published/abolghasemi2026/table_3_5.csv")
    totals = published[(published["row"] == "Total") & (published["metric"] == "count")]
    assert tuple(totals["value"].astype(int)) == satisfaction.SAMPLES
    rows = pd.read_csv(REPOSITORY / "published/lajewska2025/table_6_7.csv")["row"]
    assert rows.nunique() == ginger.RESPONSES


def test_full_loads_requests():
    # By hand: (16 + 6 + 4 * 3 + 2 * 3) arms of 500 questions, and without the other retrievers.
    assert [load.requests for load in attribution.full_loads(Config())] == [20_000, 17_000, 5_000]
    # Of a block that is given in part the rest is the small tier's: two documents, two depths.
    sizes = dict.fromkeys(("main", "extended", "depths", "retrievers"), 10)
    few = parse_config({"attribution": {"full": {"questions": sizes}}})
    assert [load.requests for load in attribution.full_loads(few)] == [340, 280, 20]
    # 301 topics, eight responses, 17.6 facts in batches of ten.
    assert ginger.full_loads(Config())[0].requests == 301 * 8 * 2
    assert faithfulness.full_loads(Config())[0].requests == 1444 + 4 * 2875


def test_gpu_hours():
    facts = FACTS["HuggingFaceH4/zephyr-7b-beta"]
    load = Load("toy", requests=10, prompt_tokens=10_000, answer_tokens=1000, counted="")
    reading = 2 * 7_241_732_096 * 10_000 / 560e12
    # 125 steps of eight answers.
    writing = 125 * 0.058 * 7_241_732_096 / 8.03e9
    assert gpu_hours(load, facts, batch=8, gpu=H200) == pytest.approx((reading + writing) / 3600)
