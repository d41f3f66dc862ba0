"""Rules and scripts that all repositories share.

A Snakefile includes `START`, the rules of its chapters and `FINISH`, in this order.
"""

import re
from pathlib import Path

#: Folder with `rules`, `scripts` and the `templates` of new repositories.
FOLDER = Path(__file__).parent
#: Settings, records, base rules and targets.
START = str(FOLDER / "rules" / "start.smk")
#: Rules for fetched files, verdicts and the page, which depend on the rules of all chapters.
FINISH = str(FOLDER / "rules" / "finish.smk")
#: Characters in a path that need quotes in a shell, which Snakemake does not write around Python's.
UNQUOTED = re.compile(r"[^\w@%+=:,./-]")


def first_statements(byte_code: Path, project: Path) -> str:
    """Line that the script of each job begins with: the code of `job_start.py`."""
    code = (FOLDER / "job_start.py").read_text(encoding="utf-8")
    call = f"isolate_imports({f'{FOLDER.parent}/'!r}, {f'{project}/'!r}, {str(byte_code)!r})\n"
    call += f"note_files({f'{project}/'!r})\n"
    return f"exec({code + call!r}, {{}})\n"
