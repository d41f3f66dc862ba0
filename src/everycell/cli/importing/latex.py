r"""Tables of a LaTeX file: tabular and its relatives, with the macros that the file defines.

Only what tables in papers use is read; a command that is not known stands for its name, so that a
value with such a command is refused and a label shows it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

from everycell.base.errors import DataError
from everycell.cli.importing.grids import LINE_BREAK, Pieces, SourceTable, check_size
from everycell.cli.importing.latex_source import (
    argument_at,
    expand,
    read_macros,
    without_comments,
)
from everycell.cli.importing.values import SourceCell

_SYMBOLS = {
    "dagger": "†", "dag": "†", "textdagger": "†", "ddagger": "‡", "ddag": "‡", "textdaggerdbl": "‡",
    "ast": "*", "textasteriskcentered": "*", "star": "⋆", "bigstar": "★", "S": "§", "P": "¶",
    "parallel": "∥", "blacktriangle": "▲", "triangle": "△", "vartriangle": "△",
    "bigtriangleup": "△",
    "blacktriangledown": "▼", "triangledown": "▽", "bigtriangledown": "▽", "uparrow": "↑",
    "downarrow": "↓", "bullet": "•", "textbullet": "•", "circ": "◦", "diamond": "◇", "Diamond": "◇",
    "clubsuit": "♣", "spadesuit": "♠", "heartsuit": "♥", "diamondsuit": "♦", "pm": "±", "mp": "∓",
    "textpm": "±", "times": "×", "cdot": "·", "le": "≤", "leq": "≤", "leqslant": "≤", "ge": "≥",
    "geq": "≥", "geqslant": "≥", "lt": "<", "gt": ">", "textless": "<", "textgreater": ">",
    "textminus": "−", "minus": "−", "textendash": "–", "textemdash": "—", "ldots": "…", "dots": "…",
    "sim": "∼", "approx": "≈", "rightarrow": "→", "to": "→", "leftarrow": "←", "infty": "∞",
    "checkmark": "✓", "cmark": "✓", "xmark": "✗", "percent": "%", "degree": "°", "textpercent": "%",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "pi": "π",
    "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ",
    "omega": "ω", "Delta": "Δ", "Sigma": "Σ", "Omega": "Ω", "textbackslash": "\\", "textbar": "|",
    "textunderscore": "_", "textasciitilde": "~", "ae": "æ", "o": "ø", "ss": "ß", "l": "ł",
    "aa": "å",
    "quad": " ", "qquad": " ", ",": "\u2009", "thinspace": "\u2009", ";": " ", ":": " ", " ": " ",
    "\n": " ", "!": "", "/": "", "\\": LINE_BREAK, "-": "", "newline": LINE_BREAK,
    "xspace": "", "protect": "",
    "%": "%", "&": "&", "_": "_", "#": "#", "$": "$", "{": "{", "}": "}", "@": "",
}  # fmt: skip
#: Accent commands -> combining characters.
ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "r": "\u030a",
    "k": "\u0328",
}  # fmt: skip
#: Commands without effect on the text, and the number of arguments that go with them.
_IGNORED = {
    **dict.fromkeys(
        "tiny scriptsize footnotesize small normalsize large Large centering raggedright "
        "raggedleft itshape it em sc scshape tt ttfamily rm rmfamily sf sffamily sl normalfont "
        "mdseries upshape displaystyle textstyle hfill noindent relax strut leavevmode limits "
        "left right big Big bigl bigr xspace unskip ignorespaces arraybackslash boldmath".split(),
        0,
    ),
    **dict.fromkeys(
        "cite citep citet citealp citealt citeyear citeauthor citeyearpar parencite textcite "
        "autocite footnote footnotetext label ref autoref cref Cref eqref cellcolor rowcolor "
        "color hspace vspace phantom hphantom vphantom arrayrulecolor hypertarget raisebox "
        "rotatebox scalebox parbox textcolor colorbox fontsize href hyperlink "
        "adjustbox setlength".split(),
        1,
    ),
    "rule": 2, "resizebox": 2, "fcolorbox": 2, "multicolumn": 2, "multirow": 2,
}  # fmt: skip
#: Commands whose argument is shown.
_SHOWN = set(
    "text textrm textit textsc texttt textsf textsl emph mathrm mathit mathsf mathtt mathcal "
    "mathbb mbox hbox makecell thead shortstack ensuremath num tablenum numprint textnormal textup "
    "mathnormal operatorname si unit url nolinkurl specialcell tabincell centerline widehat hat "
    "bar tilde vec overline fbox".split()
)
_BOLD = {"textbf", "mathbf", "boldsymbol", "bm", "pmb"}
_UNDERLINED = {"underline", "uline", "ul", "uuline", "dashuline", "udash"}
_RAISED, _LOWERED = {"textsuperscript", "tnote", "sp"}, {"textsubscript", "sb"}
_RULES = r"""\\(?:
    toprule|midrule|bottomrule|hline|Xhline\s*\{[^}]*\}|hdashline|thickhline|heavyrule|
    (?:cmidrule|cline|cdashline)\s*+(?:\[[^]]*\]\s*+)?(?:\([^)]*\)\s*+)?\{[^}]*\}|
    addlinespace|specialrule(?:\s*\{[^}]*\}){3}|morecmidrules|
    rowcolor\s*(?:\[[^]]*\])?\{[^}]*\}|noalign\s*\{[^}]*\}|arrayrulecolor\s*\{[^}]*\}|
    endfirsthead|endhead|endfoot|endlastfoot|tabularnewline\b|rowfont\s*\{[^}]*\}|
    caption\s*\{[^}]*\}|label\s*\{[^}]*\}
)\*?(?:\s*\[[^]]*\])?"""
_RULE = re.compile(rf"\s*(?P<rule>{_RULES})", re.VERBOSE)
_BRACKETS = re.compile(r"\s*\[[^\]]*\]")
_FULL_RULE = re.compile(
    r"\\(midrule|hline|Xhline|hdashline|thickhline|specialrule|endfirsthead|endhead)"
)
#: Environments, and those with a width as first argument.
_ENVIRONMENT = (
    r"(?:tabular[xy*]?|tabulary|tabu|array|longtable\*?|NiceTabular[X*]?|xltabular|supertabular)"
)
_WITH_WIDTH = ("tabular*", "tabularx", "tabulary", "xltabular", "NiceTabularX")
_LETTERS, _SIGN = re.compile(r"\\([A-Za-z@]+)\*?\s*"), re.compile(r"\\(.?)", re.DOTALL)
_DEEPEST = 60


@dataclass(frozen=True)
class _Style:
    position: str = ""
    bold: bool = False
    underlined: bool = False


def add_inline(path: object, pieces: Pieces, text: str, *, bold: bool, underlined: bool) -> None:
    """Add text with mathematics in dollar signs, as in Markdown."""
    text = re.sub(r"\\([()])", "$", text)
    _Inline(path, pieces).add(re.sub(r"(?<!\\)%", r"\\%", text), _Style("", bold, underlined))


class _Inline:
    """Reader of the text of one cell."""

    def __init__(self, path: object, pieces: Pieces) -> None:
        self.path, self.pieces = path, pieces

    def add(self, text: str, style: _Style, depth: int = 0) -> None:
        """Add a text with its commands; a style such as `bfseries` lasts to its end."""
        if depth > _DEEPEST:
            raise DataError(self.path, fault=f"has braces nested more than {_DEEPEST} deep")
        position = 0
        while position < len(text):
            letter = text[position]
            if letter == "\\":
                position, style = self._command(text, position, style, depth)
            elif letter in "^_":
                argument, position = argument_at(text, position + 1)
                where = "raised" if letter == "^" else "lowered"
                self.add(argument, replace(style, position=where), depth + 1)
            elif letter == "{":
                argument, position = argument_at(text, position)
                self.add(argument, style, depth + 1)
            elif letter in "$}":
                position += 1
            else:
                end = re.compile(r"[\\^_{}$]").search(text, position)
                plain = text[position : end.start() if end else len(text)]
                position += len(plain)
                plain = plain.replace("~", " ").replace("---", "—").replace("--", "–")
                self._write(plain.replace("``", "“").replace("''", "”"), style)

    def _write(self, text: str, style: _Style) -> None:
        self.pieces.add(text, style.position, bold=style.bold, underlined=style.underlined)

    def _command(self, text: str, start: int, style: _Style, depth: int) -> tuple[int, _Style]:
        match = _LETTERS.match(text, start) or _SIGN.match(text, start)
        assert match is not None
        name, position = match[1], match.end()
        if name in ("bfseries", "bf"):
            return position, replace(style, bold=True)
        if name in ACCENTS and not (name.isalpha() and text[position : position + 1] not in "{"):
            letter, position = argument_at(text, position)
            letter = letter.replace("\\i", "i").replace("\\j", "j") or " "
            self._write(unicodedata.normalize("NFC", letter[0] + ACCENTS[name] + letter[1:]), style)
            return position, style
        if name in _SYMBOLS:
            self._write(_SYMBOLS[name], style)
            # Empty braces after a symbol end its name.
            return position + 2 * text.startswith("{}", position), style
        if name in _IGNORED:
            position = _skip(text, position, _IGNORED[name])
            return position, style
        changed = style
        if name in _BOLD:
            changed = replace(style, bold=True)
        elif name in _UNDERLINED:
            changed = replace(style, underlined=True)
        elif name in _RAISED:
            changed = replace(style, position="raised")
        elif name in _LOWERED:
            changed = replace(style, position="lowered")
        if name in ("SI", "qty"):
            number, position = argument_at(text, _skip(text, position, 0))
            unit, position = argument_at(text, position)
            self.add(number, style, depth + 1)
            self.add(unit, style, depth + 1)
        elif name == "ding":
            code, position = argument_at(text, position)
            self._write(
                {"51": "✓", "52": "✓", "55": "✗", "56": "✗"}.get(code, f"ding{code}"), style
            )
        elif name in _SHOWN | _BOLD | _UNDERLINED | _RAISED | _LOWERED:
            argument, position = argument_at(text, _skip(text, position, 0))
            self.add(argument, changed, depth + 1)
        elif name not in ("begin", "end"):
            self._write(name, style)
            self.pieces.unknown.append(f"\\{name}")
        else:
            _, position = argument_at(text, position)
        return position, style


def _skip(text: str, position: int, arguments: int) -> int:
    """Position after optional and so many other arguments."""
    while match := _BRACKETS.match(text, position):
        position = match.end()
    for _ in range(arguments):
        position = argument_at(text, position)[1]
        while match := _BRACKETS.match(text, position):
            position = match.end()
    return position


def latex_tables(path: object, text: str) -> list[SourceTable]:
    """Read the tables of a LaTeX file, without those that another one contains."""
    text = without_comments(text)
    macros = read_macros(text)
    for name in _BOLD | _UNDERLINED:
        macros.pop(name, None)
    tables, position = [], 0
    for begin in re.finditer(rf"\\begin\s*\{{({_ENVIRONMENT})\}}", text):
        if begin.start() < position:
            continue
        end = text.find(f"\\end{{{begin[1]}}}", begin.end())
        if end < 0:
            raise DataError(
                path,
                text.count("\n", 0, begin.start()) + 1,
                fault=f"begins a {begin[1]} without an end",
                fix=f"add \\end{{{begin[1]}}}",
            )
        position = end
        body = _skip(text, begin.end(), 0)
        body = _skip(text, body, 2 if begin[1] in _WITH_WIDTH else 1)
        table = _table(path, expand(path, text[body:end], macros))
        opened = max(
            text.rfind("\\begin{table", 0, begin.start()),
            text.rfind("\\end{table", 0, begin.start()),
        )
        closed = text.find("\\end{table", end)
        if caption := re.compile(r"\\caption\s*+(?:\[[^\]]{0,1000}\]\s*+)?(?=\{)").search(
            text, max(opened, 0), closed if closed > 0 else len(text)
        ):
            table.caption = _read_cell(path, argument_at(text, caption.end())[0]).text
        tables.append(table)
    return tables


def _read_cell(path: object, text: str) -> SourceCell:
    pieces = Pieces()
    _Inline(path, pieces).add(text, _Style())
    return pieces.to_cell(text)


def _table(path: object, body: str) -> SourceTable:
    # A long table repeats its head, and may have feet for each page.
    first, _, tail = body.partition("\\endfirsthead")
    if "\\endhead" in tail:
        body = first + "\\endhead" + tail.partition("\\endhead")[2]
    head, _, tail = body.partition("\\endhead")
    foot = max(("\\endfoot", "\\endlastfoot"), key=tail.rfind)
    if foot in tail:
        body = head + "\\endhead" + tail.rpartition(foot)[2]
    table, width = SourceTable(), 0
    #: Column -> rows that a cell above still covers, and the cell.
    covered: dict[int, tuple[int, SourceCell]] = {}
    for number, row in enumerate(_split(body, r"\\\\|\\tabularnewline\b|\\cr\b")):
        # The end of the row before may have a distance.
        row = re.sub(r"^\s*(\*\s*)?\[[^\]]*\]", "", row) if number else row
        while rule := _RULE.match(row):
            if _FULL_RULE.match(rule["rule"]) and table.rows and not table.head:
                table.head = len(table.rows)
            row = row[rule.end() :]
        if not row.strip():
            continue
        cells: list[SourceCell] = []
        for cell in _split(row, "&"):
            _add_cell(path, cell.strip(), cells, covered)
        table.rows.append(cells)
        width = max(width, len(cells))
        check_size(path, len(table.rows), width)
    for cells in table.rows:
        cells += [SourceCell("")] * (width - len(cells))
    if table.head == len(table.rows):
        table.head = 0
    return table


def _add_cell(
    path: object, text: str, cells: list[SourceCell], covered: dict[int, tuple[int, SourceCell]]
) -> None:
    """Add a cell to its row, at each column that it spans."""
    across, down = 1, 1
    if match := re.match(r"\\multicolumn\s*", text):
        number, position = argument_at(text, match.end())
        number = number.strip(" {}")
        if not re.fullmatch(r"0*[1-9][0-9]{0,3}", number):
            raise DataError(
                path, None, "multicolumn", number, expected="a number of columns from 1 to 9999"
            )
        across = int(number)
        check_size(path, 1, len(cells) + across)
        _, position = argument_at(text, position)
        text = argument_at(text, position)[0].strip()
    if match := re.match(r"\{?\s*\\multirow(?:cell)?\*?\s*(?:\[[^\]]*\])?\s*", text):
        number, position = argument_at(text, match.end())
        down = abs(int(number)) if re.fullmatch(r"\s*-?[0-9]{1,4}\s*", number) else 1
        position = _skip(text, position, 1)
        text = argument_at(text, position)[0] + text[argument_at(text, position)[1] :]
    cell = _read_cell(path, text)
    for _ in range(across):
        column = len(cells)
        left, above = covered.get(column, (0, cell))
        if down > 1:
            covered[column] = (down - 1, cell)
        elif left:
            covered[column] = (left - 1, above)
            if not cell.text:
                cells.append(above)
                continue
        cells.append(cell)


def _split(text: str, separator: str) -> Iterator[str]:
    """Split at separators outside braces and outside environments within the text."""
    depth, start = 0, 0
    pattern = re.compile(rf"(?P<cut>{separator})|\\begin\b|\\end\b|\\[^A-Za-z]|[{{}}]", re.DOTALL)
    for match in pattern.finditer(text):
        if match["cut"]:
            if depth <= 0:
                yield text[start : match.start()]
                start = match.end()
        elif match[0] in ("{", "\\begin"):
            depth += 1
        elif match[0] in ("}", "\\end"):
            depth -= 1
    yield text[start:]
