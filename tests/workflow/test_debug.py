"""`everycell debug`: the job of one rule in the process of the command."""

import pytest

RULE, TABLE = "lajewska2025_chC_votes", "results/embedded/lajewska2025/table_C_2.csv"
MODULE = "workflow/papers/lajewska2025/chC.py"


@pytest.mark.slow
def test_debug_writes_the_outputs_of_a_rule_elsewhere(clean):
    clean.build(TABLE)
    before = clean.hashes()
    done = clean.everycell("debug", RULE, "--into", "tried")
    assert done.returncode == 0 and f"{RULE}: " in done.stdout, done.stdout
    assert clean.hashes() == before
    folder = clean.folder / "tried"
    assert (folder / TABLE).read_bytes() == (clean.folder / TABLE).read_bytes()
    assert not (folder / TABLE).is_symlink() and (folder / "logs").is_dir()
    again = clean.everycell("debug", RULE, "--into", "tried")
    assert again.returncode == 2 and "tried already exists" in again.stdout


@pytest.mark.slow
def test_debug_shows_the_place_of_an_error_in_the_project(clean):
    clean.edit(
        MODULE, "    scale = EFFECT_SCALES", '    raise KeyError("here")\n    scale = EFFECT_SCALES'
    )
    done = clean.everycell("debug", RULE)
    assert done.returncode == 1 and "KeyError: 'here'" in done.stdout
    # A breakpoint of an editor is in this file, not behind a link of the scratch folder.
    assert f'File "{clean.folder / MODULE}"' in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lajewska2025_chC_vote", f"Unknown rule 'lajewska2025_chC_vote'. Did you mean {RULE}"),
        ("?", "Unknown rule '?'. `snakemake --list` has them."),
        ("sakai2023_gfrc", "has 2 jobs in `all`; instead of the rule, name an output, such as"),
        ("sakai2023_gfr", "more inputs, which do not exist; first run `everycell make resources/"),
        (
            "results/released/sakai2023/text_2_1.csv",
            "more inputs, which do not exist; first run `everycell make resources/",
        ),
        (
            "results/released/sakai2023/text_9.csv",
            "No rule makes results/released/sakai2023/text_9",
        ),
        (
            "term_fairness_means_full",
            "has no jobs in `all`; instead of the rule, name an output, such "
            "as results/{tier}/{artefact_id}.csv",
        ),
    ],
)
def test_debug_without_a_job(clean, name, expected):
    done = clean.everycell("debug", name)
    assert done.returncode == 2 and expected in done.stdout, done.stdout
