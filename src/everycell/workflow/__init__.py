"""Rules and scripts that all repositories share.

A Snakefile includes `START`, the rules of its chapters and `FINISH`, in this order.
"""

from pathlib import Path

#: Folder with `rules`, `scripts` and the `templates` of new repositories.
FOLDER = Path(__file__).parent
#: Settings, records, base rules and targets.
START = str(FOLDER / "rules" / "start.smk")
#: Rules for fetched files, verdicts and the page, which depend on the rules of all chapters.
FINISH = str(FOLDER / "rules" / "finish.smk")
