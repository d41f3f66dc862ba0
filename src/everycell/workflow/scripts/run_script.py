"""Run a script of the authors, which writes values to the file that it is called with."""

import re
import tempfile
from pathlib import Path

from everycell.base.csv_files import read_table
from everycell.base.errors import DataError
from everycell.base.untrusted import escape_controls
from everycell.jobs.result_job import ResultJob
from everycell.receipts.code import script_files
from everycell.workflow.script_process import ERRORS, OUTPUT, REPORT, run_script

#: Colours, which Jupyter gives its errors.
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

with ResultJob(snakemake) as job, tempfile.TemporaryDirectory() as folder:
    # Without declared data, nobody can see what the values were computed from.
    if not snakemake.input:
        job.facts["given"] = True
    path = Path(folder, "values.csv")
    script = script_files(job.params.script, Path())[-1]
    code, job.uncovered_code = run_script(script, path, job.covered, Path(folder))
    for name in (OUTPUT, ERRORS):
        with Path(folder, name).open(encoding="utf-8", errors="replace") as text:
            # Without colours, in pieces, since a script may print without end.
            while piece := text.read(2**20):
                print(escape_controls(COLOUR.sub("", piece)), end="")
        print()
    # A script that ends its process in another way has no report.
    if code or not path.exists() or not Path(folder, REPORT).exists():
        end = Path(folder, ERRORS).read_bytes()[-10_000:].decode("utf-8", "replace")
        errors = COLOUR.sub("", end).strip()
        last = (errors or "It wrote no error message").splitlines()[-1]
        raise DataError(
            script,
            fault=f"ended with exit code {code} and did not write its values ({last})",
            expected="a CSV with the key columns of the table and `value`, in the file named by "
            "its first argument",
        )
    try:
        values = read_table(path, ["value"])
    except DataError as error:
        # The file is temporary.
        fault = str(error).removeprefix(str(path)).lstrip(":, ").rstrip(".")
        raise DataError(script, fault=f"wrote values that cannot be read ({fault})") from None
    keys = [name for name in values.columns if name != "value"]
    job.write_table(values[[*keys, "value"]])
