"""What only one chapter of one paper has: settings, audits, shapes of tables, drawings.

A paper has a folder of its key. A folder of another name is an experiment that several papers
print: each of them may import it, and it imports none of them.

A repository that uses the installed package has such folders too, below ``src/everycell/studies``.
"""

from pathlib import Path

from everycell.receipts.code import roots_of_code

# Python and Snakemake run in the folder of the repository.
__path__ += [
    str(folder)
    for root in roots_of_code(Path.cwd())[1:]
    if (folder := root / "everycell" / "studies").is_dir()
]
