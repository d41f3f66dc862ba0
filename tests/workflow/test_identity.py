"""An edit changes the hashes of the code that depends on it, and no others."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from planted_code import plant_byte_code
from workflow.project import HALF_WRITTEN, Project

from everycell.receipts.code import CALLING, PAPERS, hash_of_sources, shared_scripts

PAGE_STYLE = "src/everycell/render/page/templates/page.css"
#: Code of long jobs, or of jobs on which a whole chapter depends.
COSTLY = {
    "abolghasemi2026/ch2_training",
    "abolghasemi2026/ch3_training",
    "lajewska2025/ch5_training",
    "shared/retrieval_encoding",
    "shared/retrieval_indexing",
    "shared/retrieval_reranking",
    "shared/retrieval_training",
}


def codes(folder: Path) -> dict[str, str]:
    """Hash of the code of each script and module with functions of rules, by its name there."""
    calling = shared_scripts(folder) / CALLING
    codes = {
        path.relative_to(scripts).with_suffix("").as_posix(): hash_of_sources([path], folder)
        for scripts in (folder / "workflow/scripts", folder / "src/everycell/workflow/scripts")
        for path in sorted(scripts.rglob("*.py"))
    }
    return codes | {
        path.relative_to(folder / PAPERS).with_suffix("").as_posix(): hash_of_sources(
            [calling, path], folder
        )
        for path in sorted((folder / PAPERS).rglob("*.py"))
        if re.search(r"^def \w+\(job\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }


@pytest.fixture(scope="module")
def before(tree: Project) -> dict[str, str]:
    return codes(tree.folder)


@pytest.fixture
def changed_by(tree: Project, before: dict[str, str], tmp_path: Path):
    """Scripts whose code is another one after a line was added to a file of a copy."""

    def changed(path: str, line: str = "# An edit.\n") -> set[str]:
        # Imports of a file are cached, so each edit has its own copy.
        for part in ("src", "workflow"):
            shutil.copytree(tree.folder / part, tmp_path / part, ignore=HALF_WRITTEN)
        with (tmp_path / path).open("a", encoding="utf-8") as file:
            file.write(line)
        after = codes(tmp_path)
        assert after.keys() == before.keys() >= COSTLY
        return {name for name in after if after[name] != before[name]}

    return changed


def test_hash_of_sources_edited_import(changed_by):
    assert "shared/retrieval_training" in changed_by("src/everycell/learning/training.py")


def test_hash_of_sources_page_style(changed_by):
    assert changed_by(PAGE_STYLE, "/* An edit. */\n") == {"page"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [
        "workflow/papers/abolghasemi2026/ch2_settings.py",
        "workflow/papers/lajewska2025/settings.py",
        "workflow/papers/shared/term_fairness_settings.py",
        "src/everycell/records/registry.yaml",
    ],
)
def test_hash_of_sources_settings(changed_by, part):
    """Settings reach a job as parameters, the registry as inputs."""
    assert changed_by(part) == set()


@pytest.mark.slow
def test_hash_of_sources_configuration(changed_by):
    """The page alone reads the configuration: it says which results were made with another."""
    assert changed_by("src/everycell/config.py") == {"page"}


@pytest.mark.parametrize(
    ("chapter", "drawing"),
    [
        ("abolghasemi2026/ch2", "workflow/papers/abolghasemi2026/ch2_figures.py"),
        ("lajewska2025/ch5", "workflow/papers/lajewska2025/ch5_confidence.py"),
    ],
)
def test_hash_of_sources_drawing(changed_by, chapter, drawing):
    changed = changed_by(drawing)
    assert changed and not changed & COSTLY
    assert all(name.startswith(chapter) for name in changed)


def test_hash_of_sources_audit(changed_by):
    changed = changed_by("workflow/papers/sakai2023/ch1_audits.py")
    assert changed <= {"verdicts", "errata", "page"}


def test_planned_after_edits(rebuilt):
    """One dry run: the page, and the drawings of one chapter with their verdicts."""
    edited = {
        PAGE_STYLE: "/* An edit. */\n",
        "workflow/papers/abolghasemi2026/ch2_settings.py": "# An edit.\n",
        "workflow/papers/abolghasemi2026/ch2_figures.py": "# An edit.\n",
    }
    for path, line in edited.items():
        with (rebuilt.folder / path).open("a", encoding="utf-8") as file:
            file.write(line)
    planned = set(rebuilt.planned())
    assert "page" in planned and not planned & {"train", "index", "encode"}
    further = {name for name in planned if not name.startswith("abolghasemi2026_ch2_")}
    assert further <= {"embedded", "verdicts", "page"}


@pytest.mark.slow
def test_train_resumed_after_edit_of_page(tree, tmp_path):
    torch = pytest.importorskip("torch")
    from datasets import Dataset
    from transformers import BertConfig, BertModel

    from everycell.learning.checkpoints import TrainingError, TrainingOptions
    from everycell.learning.training import train

    def code(folder: Path) -> str:
        return codes(folder)["shared/retrieval_training"]

    edited, other = tmp_path / "page", tmp_path / "method"
    for folder, path in ((edited, PAGE_STYLE), (other, "src/everycell/learning/training.py")):
        for part in ("src", "workflow"):
            shutil.copytree(tree.folder / part, folder / part, ignore=HALF_WRITTEN)
        with (folder / path).open("a", encoding="utf-8") as file:
            file.write("\n")

    class Killed(BaseException):
        pass

    steps: list[int] = []

    def run(folder: Path, kill_at: int | None = None):
        def loss(model, batch):
            steps.append(len(steps))
            if len(steps) == kill_at:
                raise Killed
            return model(torch.tensor(batch["ids"])).last_hidden_state.pow(2).mean()

        torch.manual_seed(0)
        size = {"hidden_size": 4, "num_attention_heads": 1, "intermediate_size": 4}
        model = BertModel(BertConfig(vocab_size=9, num_hidden_layers=1, **size))
        rows = Dataset.from_dict({"ids": [[1, 2], [3, 4], [5, 6], [7, 8]]})
        options = TrainingOptions(learning_rate=0.01, epochs=4, batch_size=1, checkpoint_steps=4)
        return train(model, rows, loss, options, tmp_path / "m", settings={"code": code(folder)})

    with pytest.raises(Killed):
        run(tree.folder, kill_at=10)
    with pytest.raises(TrainingError, match="code"):
        run(other)
    steps.clear()
    assert run(edited).steps == 16
    # The first eight steps were kept.
    assert len(steps) == 8


@pytest.mark.slow
def test_job_planted_byte_code(clean):
    """Neither the library nor a chapter comes from byte code beside its source."""
    table = "results/embedded/sakai2023/table_1.csv"
    clean.build(table)
    before = clean.hashes()
    for name in ("src/everycell/metrics/gfrc.py", "workflow/papers/sakai2023/ch1.py"):
        plant_byte_code(clean.folder / name, "raise ValueError('planted')")
    (clean.folder / table).unlink()
    clean.build(table)
    assert clean.hashes() == before
