"""Run a script of the authors, which writes values to the file that it is called with."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from everycell.base.csv_files import read_table
from everycell.base.errors import DataError
from everycell.jobs.result_job import ResultJob
from everycell.receipts.code import script_files

with ResultJob(snakemake) as job, tempfile.TemporaryDirectory() as folder:
    # The data that the script reads are not declared, so the origin of its values is `given`.
    job.facts["given"] = True
    path = Path(folder, "values.csv")
    script = script_files(job.params.script, Path())[-1]
    done = subprocess.run([sys.executable, script, path], capture_output=True, text=True)
    print(done.stdout + done.stderr)
    if done.returncode or not path.exists():
        # Jupyter colours its errors.
        errors = re.sub(r"\x1b\[[0-9;]*m", "", done.stderr).strip()
        last = (errors or "It wrote no error message").splitlines()[-1]
        raise DataError(
            script,
            fault=f"ended with exit code {done.returncode} and did not write its values ({last})",
            expected="a CSV with the key columns of the table and `value`, in the file named by "
            "its first argument",
        )
    values = read_table(path, ["value"])
    keys = [name for name in values.columns if name != "value"]
    job.write_table(values[[*keys, "value"]])
