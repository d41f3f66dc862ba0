"""Measures of reproduction by repro_eval, written beside this file with the runs that they are of.

Run in this folder, in an environment of its own (not the project's):

    python -m pip install repro_eval==0.5.0 pandas==3.1.1
    python values.py

It writes qrels.txt, four runs and values.csv. The tests read these and need no repro_eval.
"""

import csv
import random
from pathlib import Path

TOPICS, DOCUMENTS, LENGTH = 8, 20, 12
#: Run -> how much its scores know of the relevance.
RUNS = {
    "original_baseline": 0.1,
    "original": 0.35,
    "reproduced_baseline": 0.05,
    "reproduced": 0.3,
}
#: Name of ir_measures -> name here.
MEASURES = {"AP": "MAP", "RR": "RR"} | {name: name for name in ("nDCG", "nDCG@5", "P@5", "R@10")}


def write_files():
    """Invent judgements and runs; scores have one decimal, so that documents tie."""
    dice = random.Random(5)
    topics = [f"t{number}" for number in range(1, TOPICS + 1)]
    documents = [f"d{number}" for number in range(1, DOCUMENTS + 1)]
    labels = {
        topic: {document: dice.choice([0, 0, 0, 0, 1, 2]) for document in documents}
        for topic in topics
    }
    noise = {topic: {document: dice.random() for document in documents} for topic in topics}
    lines = [
        f"{topic} 0 {document} {label}"
        for topic, judged in labels.items()
        for document, label in judged.items()
    ]
    Path("qrels.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, knows in RUNS.items():
        lines = []
        for topic in topics:
            scores = {
                document: round(
                    knows * labels[topic][document] + noise[topic][document] + 0.5 * dice.random(),
                    1,
                )
                for document in documents
            }
            # By score alone: documents of equal score stand in no order of their ids.
            best = sorted(documents, key=lambda document: -scores[document])[:LENGTH]
            lines += [
                f"{topic} Q0 {document} {rank} {scores[document]} {name}"
                for rank, document in enumerate(best, 1)
            ]
        Path(f"{name}.run").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    """Write the files, then the values that repro_eval gives of them."""
    # Here, since pytest imports this file and has no repro_eval.
    from repro_eval.measure.document_order import KTU, RBO
    from repro_eval.measure.effectiveness import RMSE
    from repro_eval.measure.overall_effects import DRI, ER
    from repro_eval.measure.statistics import ttest
    from repro_eval.util import arp_scores, evaluate_run, load_measures, load_qrels, load_run

    write_files()
    qrels = load_qrels("qrels.txt")
    runs = {name: load_run(f"{name}.run") for name in RUNS}
    values = {name: evaluate_run(load_measures(), qrels, run) for name, run in runs.items()}
    pair = (runs["original"], runs["reproduced"])
    rows = []
    for depth in (5, LENGTH):
        rows.append(("KTU", depth, KTU(*pair, trim_thresh=depth)))
        rows.append(("RBO", depth, RBO(*pair, p=0.8, depth=depth, pbar=False, per_topic=False)))
    pair = (values["original"], values["reproduced"])
    # Advanced before baseline.
    four = [values[name] for name in ("original", "original_baseline")]
    four += [values[name] for name in ("reproduced", "reproduced_baseline")]
    for name, result in {
        "original": arp_scores(values["original"]),
        "RMSE": RMSE(*pair),
        "paired": ttest(*pair),
        "unpaired": ttest(*pair, rpd=False),
        "ER": ER(*four),
        "DeltaRI": DRI(*four),
    }.items():
        rows += [(name, ours, result[theirs]) for theirs, ours in MEASURES.items()]
    with Path("values.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "of", "value"])
        writer.writerows((name, of, repr(float(value))) for name, of, value in rows)


if __name__ == "__main__":
    main()
