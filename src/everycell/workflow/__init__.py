"""Rules and scripts that every repository with papers shares, as Snakemake includes them.

A Snakefile includes `START`, the rules of its chapters and `FINISH`.
"""

from pathlib import Path

#: Folder with `rules`, `scripts` and the `templates` of new repositories.
FOLDER = Path(__file__).parent
#: Settings, records, parents that rules inherit from, and targets.
START = str(FOLDER / "rules" / "start.smk")
#: Fetched files, verdicts and the page, which need to know the rules of all chapters.
FINISH = str(FOLDER / "rules" / "finish.smk")
