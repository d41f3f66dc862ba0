"""Figures 5.3 and 5.4: labels of the documents as the thesis draws them."""

from chapter_jobs import FunctionJob

from papers.abolghasemi2026.ch5_modes import mixed_mode, plain_modes


def labels(function) -> dict[str, list[str]]:
    """Last line of each document, by panel."""
    job = FunctionJob()
    function(job)
    boxes = job.figures[""]
    documents = boxes[boxes["box"].str.startswith("document")]
    last = documents["text"].str.rpartition("\n")[2]
    return last.groupby(documents["panel"], sort=False).agg(list).to_dict()


def test_plain_modes_labels():
    # The second document is relevant and by a model, the others are by people.
    assert labels(plain_modes) == {
        "Vanilla mode": ["no label"] * 3,
        "Informed mode": ["label: Human", "label: LLM", "label: Human"],
        "CF-informed mode": ["label: LLM", "label: Human", "label: LLM"],
    }


def test_mixed_mode_labels():
    # All documents are by people; the label of the relevant one alone is true.
    [mixed] = labels(mixed_mode).values()
    assert mixed == ["label: LLM", "label: Human", "label: LLM"]
