"""Time and memory of Snakemake for planning many jobs on a cluster, in a dry run.

Run ``python bench/cluster_plan.py [--jobs 10000]``. The script plans the full tier of three
chapters with as many language models as needed for about this number of jobs. It uses the rules,
input functions and Slurm profile of the project, in a copy with empty files in place of the user's
data. For a tenth, a third and all of the jobs it prints their number, the seconds and memory of
the planning process, the number of Slurm jobs after grouping, and the rules with most jobs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
PARTS = (
    "Snakefile", "config.yaml", "envs", "profiles", "published", "recorded", "src", "workflow"
)  # fmt: skip
TARGETS = ("full_abolghasemi2026_ch5", "full_heuss2025_ch5", "full_abolghasemi2026_ch3")
NEEDED = {
    "data/nq": ("questions.jsonl", "passages.jsonl", "bm25.run", "unicoil.run", "tct-colbert.run"),
    "data/cited": ("questions.jsonl", "passages.jsonl", "retrieved.run"),
    "data": ("dev_v2.1.json",),
}


def settings(models: int) -> dict:
    """Configuration in which all chapters use this number of language models."""
    names = [f"model-{number}" for number in range(models)]
    labels = {name: name.upper() for name in names}
    return {
        "attribution": {
            "full": {"nq": "data/nq", "msmarco_qa": "data/dev_v2.1.json", "models": labels},
            "paraphrases": {"full": {"model": names[0]}},
        },
        "citation_faithfulness": {
            "full": {"models": dict.fromkeys(names, "spans"), "data": "data/cited"}
        },
        "user_satisfaction": {"full": {"few_shot": {"models": labels}}},
        "language_models": {
            "endpoints": {name: {"url": "http://localhost:1/v1", "model": name} for name in names}
        },
    }


def plan(folder: Path, models: int) -> tuple[float, float, str]:
    """Seconds, megabytes and output of a dry run for this number of language models."""
    (folder / "many.json").write_text(json.dumps(settings(models)))
    command = ["snakemake", "-n", *TARGETS, "--configfile", "many.json"]
    command += ["--workflow-profile", "profiles/slurm", "--executor", "dryrun"]
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder / "src"),
    }
    start = time.perf_counter()
    with (folder / "plan.txt").open("w") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=out)
        _, status, usage = os.wait4(process.pid, 0)
    wall_time = time.perf_counter() - start
    text = (folder / "plan.txt").read_text()
    if status:
        sys.exit(f"{' '.join(command)} failed:\n{text[-3000:]}")
    return wall_time, usage.ru_maxrss / 1024, text


def jobs_by_rule(text: str) -> Counter[str]:
    """Number of jobs by rule, from the output of a dry run."""
    table = text.rpartition("Job stats:")[2].strip().split("\n\n")[0].splitlines()[2:]
    jobs = Counter({line.split()[0]: int(line.split()[1]) for line in table})
    del jobs["total"]
    return jobs


def count_slurm_jobs(jobs: Counter[str], profile: dict) -> int:
    """Number of Slurm jobs, after grouping and without local jobs."""
    parts: Counter[str] = Counter()
    ungrouped = 0
    for rule, number in jobs.items():
        if rule in profile["groups"]:
            parts[profile["groups"][rule]] += number
        elif not rule.startswith("fetch") and rule != "page" and not rule.startswith("full"):
            ungrouped += number
    components = profile["group-components"]
    return ungrouped + sum(math.ceil(number / components[name]) for name, number in parts.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=10_000, help="approximate number of jobs")
    target = parser.parse_args().jobs
    profile = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in PARTS:
            source = ROOT / part
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, folder / part)
        for data_folder, files in NEEDED.items():
            (folder / data_folder).mkdir(parents=True, exist_ok=True)
            for file in files:
                (folder / data_folder / file).touch()
        totals = {models: jobs_by_rule(plan(folder, models)[2]).total() for models in (1, 11)}
        per_model = (totals[11] - totals[1]) / 10
        independent = totals[1] - per_model
        print(f"{per_model:.0f} jobs per language model, {independent:.0f} other jobs")
        for share in (0.1, 1 / 3, 1.0):
            models = round((share * target - independent) / per_model)
            seconds, megabytes, text = plan(folder, models)
            jobs = jobs_by_rule(text)
            largest = ", ".join(f"{rule} {number}" for rule, number in jobs.most_common(3))
            print(
                f"{jobs.total():6} jobs of {models} models: {seconds:6.1f} s, {megabytes:6.0f} MB; "
                f"{count_slurm_jobs(jobs, profile)} Slurm jobs; {largest}",
                flush=True,
            )


if __name__ == "__main__":
    main()
