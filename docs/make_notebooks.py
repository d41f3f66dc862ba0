"""Run the notebooks in docs/notebooks and store their outputs: `python docs/make_notebooks.py`."""

from __future__ import annotations

import ast
import base64
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import matplotlib

FOLDER = Path(__file__).parent / "notebooks"


def run_notebook(cells: list[dict[str, Any]]) -> tuple[dict[str, Any], list[list[dict[str, Any]]]]:
    """Variables of a notebook after a run in this folder, and the outputs of its code cells."""
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    variables: dict[str, Any] = {}
    outputs = []
    # A figure that the process has left open is none of the notebook's.
    plt.close("all")
    for number, cell in enumerate(code_of(cells), 1):
        source = "".join(cell["source"])
        tree = ast.parse(source)
        last = tree.body[-1]
        # As in Jupyter: the value of the last expression is shown, unless a semicolon follows.
        is_shown = isinstance(last, ast.Expr) and not source.rstrip().endswith(";")
        if is_shown:
            tree.body.pop()
        exec(compile(tree, cell["id"], "exec"), variables)
        displays = []
        if is_shown:
            value = eval(compile(ast.Expression(last.value), cell["id"], "eval"), variables)
            data = {"text/plain": repr(value)}
            if hasattr(value, "_repr_html_"):
                data["text/html"] = value._repr_html_()
            displays.append(
                {"output_type": "execute_result", "execution_count": number, "data": data}
            )
        for figure in map(plt.figure, plt.get_fignums()):
            picture = io.BytesIO()
            figure.savefig(picture, format="png", metadata={"Software": None})
            encoded = base64.b64encode(picture.getvalue()).decode()
            data = {"image/png": encoded, "text/plain": repr(figure)}
            displays.append({"output_type": "display_data", "data": data})
        plt.close("all")
        outputs.append([{**output, "metadata": {}} for output in displays])
    return variables, outputs


def code_of(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Code cells of a notebook."""
    return [cell for cell in cells if cell["cell_type"] == "code"]


def main() -> None:
    """Store the outputs of all notebooks."""
    for path in sorted(FOLDER.resolve().glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            _, outputs = run_notebook(notebook["cells"])
            os.chdir(FOLDER.resolve())
        for number, (cell, displays) in enumerate(
            zip(code_of(notebook["cells"]), outputs, strict=True), 1
        ):
            cell |= {"execution_count": number, "outputs": displays}
        text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
        path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
