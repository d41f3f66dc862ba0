"""Published tables in several formats, and what `everycell import` reads from them."""

from pathlib import Path

import pandas as pd
from command_line import call

#: Two levels of headings, multirow, macros, comments, spacing, raised signs, all of booktabs.
BOOKTABS = r"""
\documentclass{article}
\newcommand{\best}[1]{\textbf{#1}}
\newcommand\ours{\textsc{Ours}} % with a comment & an ampersand
\begin{document}
\begin{table*}[t]
\caption[short]{Effectiveness on DL~2019 and 2020. $\dagger$: $p<0.05$}
\label{tab:main}
\resizebox{\textwidth}{!}{%
\begin{tabular}{@{}llS[table-format=1.3]ccr@{}}
\toprule
 & & \multicolumn{2}{c}{\textbf{DL 2019}} & \multicolumn{2}{c}{\textbf{DL 2020}} \\
\cmidrule(lr){3-4} \cmidrule(l){5-6}
Family & Model & {nDCG@10} & {MAP} & nDCG@10$\,\uparrow$ & MAP \\
\midrule
\multirow{2}{*}{Sparse} & BM25~\cite{robertson} & 0.506 & .301 & 0.480 & 0.286 \\
 & +~RM3 & 0.518 & .342 & {--} & \multicolumn{1}{c}{OOM} \\[2pt]
\addlinespace[2pt]
\rowcolor{gray!10}
\multirow{2}{*}{Dense} & ANCE & 0.648 & .371 & \underline{0.646} & $0.408_{\pm 0.02}$ \\
 & \ours{} & \best{0.712}$^{\dagger}$ & \best{.401} & {\bf 0.701}$^{\dagger\ddagger}$
 & 0.440 $\pm$ 0.01 \\
\bottomrule
\end{tabular}}
\end{table*}
"""
#: Lines around all cells, siunitx, decimal braces, and a heading of a group.
GRID = r"""
\begin{tabular*}{\linewidth}{|l|r|S|}
\hline
\\ [-1.5ex]
\rule{0pt}{2ex}Collection & Queries & Documents (M) \\ \hline\hline
\multicolumn{3}{|c|}{\emph{Web}} \\ \hline
ClueWeb{} & 1{,}234 & \num{502.5} \\ \hline
GOV2 & 150 & $25.2$ \\ \hline
\end{tabular*}
"""
HTML = """
<html><body><table><caption>Ablation</caption>
<thead><tr><th rowspan="2">System</th><th colspan=2>Robust04</th><th colspan=2>Core17</th></tr>
<tr><th>MAP</th><th>P@20</th><th>MAP</th><th>P@20</th></tr></thead>
<tbody><tr><td colspan="5"><i>Baselines</i></td></tr>
<tr><td>BM25<td>0.2531<td>0.3631<td>0.2087<td>0.4560
<tr><td>QL</td><td>0.2467</td><td>0.3548</td><td>&ndash;</td><td>&#8211;</td></tr>
<tr><td colspan="5"><i>Ours</i></td></tr>
<tr><td>Full</td><td><b>0.2903</b><sup>a,b</sup></td><td style="font-weight: bold">0.4012</td>
<td>0.2823</td><td><span style="text-decoration: underline">0.5500</span></td></tr>
</tbody></table></body></html>
"""
MARKDOWN = """# Results

| Model | MAP | nDCG@10 | Recall@1k (%) | p |
|:------|----:|--------:|--------------:|---|
| BM25 | 0.58 | 0.66 | 81.2 | – |
| [ColBERT](https://example.org) | **0.71**<sup>†</sup> | <u>0.80</u> ± 0.05 | 85.2 | < .001 |
| SPLADE | 0.70$^{\\dagger}$ | **0.81** ± 0.04 | **91.0** | n.s. |

More text.
"""
CSV = """Methode;nDCG@10;MAP
BM25;0,58;0,301
"Dense; tuned";**0,61**;-0,12
"""


def imported(name: str, text: str, *options: str) -> dict[tuple[str, ...], str]:
    """Values and details by key, after the command."""
    Path(name).write_text(text, encoding="utf-8")
    code, out, err = call("import", name, "out.csv", "--force", *options)
    assert (code, err) == (0, "") and "out.csv: " in out
    cells = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    end = list(cells.columns).index("value")
    return {
        tuple(row[:end]): " ".join(filter(None, row[end:]))
        for row in cells.itertuples(index=False, name=None)
    }
