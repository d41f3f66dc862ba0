"""Labels of sentences from SQuAD 2.0, in chapter 5 of lajewska2025 (Figure B.2)."""

from __future__ import annotations

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.render.flow import flow_chart
from everycell.text.sentences import sentences_with
from papers.lajewska2025.answerability_data import Question
from papers.lajewska2025.ch5_training import squad_pairs

PARAGRAPH = (
    "The lighthouse was built in 1844. It stood empty for many years. A family restored it in 1991."
)
#: A question with an answer, and one without.
QUESTIONS: tuple[Question, ...] = (
    ("When was the lighthouse restored?", PARAGRAPH, ("1991",)),
    ("Who painted the lighthouse?", PARAGRAPH, ()),
)


def squad_example(job: ResultJob) -> None:
    """Figure B.2: labels of the sentences of a toy paragraph."""
    boxes = label_boxes(QUESTIONS, job.params.seed)
    job.write_figure(boxes, flow_chart(boxes))


def label_boxes(questions: tuple[Question, ...], seed: int) -> pd.DataFrame:
    """Questions, the sentences of their paragraphs, and the labels of the pairs that are kept."""
    labels = {
        (question, sentence): has_answer
        for question, sentence, has_answer in squad_pairs(questions, seed=seed)
    }
    rows = []
    for question, passage, answers in questions:
        panel = f"Question with{'' if answers else 'out'} an answer"
        answer = f"answer: {', '.join(answers)}" if answers else "no answer"
        rows.append((panel, "question", "question", f"{question}\n{answer}", ""))
        for number, (sentence, _) in enumerate(sentences_with(passage, answers), start=1):
            box = f"sentence {number}"
            rows.append((panel, box, "sentence", sentence, "question"))
            label = labels.get((question, sentence))
            if label is None:
                text, group = "not used", "not used"
            else:
                text, group = f"label {int(label)}", "answer" if label else "no answer"
            rows.append((panel, f"label {number}", group, text, box))
    return pd.DataFrame(rows, columns=["panel", "box", "group", "text", "after"])
