"""Small material that passes for the paper's."""

from __future__ import annotations

from pathlib import Path

import yaml

from everycell.config import read_config
from everycell.records.full_runs import Material, fill_pattern, setting_value
from everycell.records.identity import facts_of


def pass_for_the_papers(folder: Path, *settings: str) -> None:
    """State the facts of a project's small material in place of those of the papers' corpora."""
    path = folder / "published/full.yaml"
    declared = yaml.safe_load(path.read_text(encoding="utf-8"))
    full = read_config(*(folder / name for name in settings))
    for material in declared["materials"].values():
        stated = Material.model_validate(material).facts
        if not stated:
            continue
        names = setting_value(full, material["settings"][0])
        facts = {}
        for pattern, expected in stated.items() if names and names != "fetch" else ():
            file = folder / names
            file = file / fill_pattern(full, pattern) if file.is_dir() else file
            facts[pattern] = facts_of(file, expected)
        material["facts"] = facts
    path.write_text(yaml.safe_dump(declared), encoding="utf-8")
