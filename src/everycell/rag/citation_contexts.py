r"""Parts of an answer in which a number in brackets is not a citation.

============================================  ==================================================
reasoning                                     see `everycell.language_models.reasoning`
```` ```fenced``` ```` blocks, ``~~~`` too    up to the end of the text if not closed; a block with
                                              the whole answer as ``markdown`` or ``text`` is text
```` `code` ````, ``<code>``, ``<pre>``       not quotation marks such as ```` ``owls'' ````
``$x_[1]$``, ``$$``, ``\(``, ``\[``           maths; not amounts (``$5 [1] and $6``), ``\[1\]``
``[text](https://...)``                       Markdown links and images, with a number as text too
``[1]: https://...``, ``[^1]: text``          definitions of links and footnotes
a list of sources below the answer            see `source_lists`
============================================  ==================================================

Lists of sources have a heading (``Sources:``, ``## References``, ``**Bibliography**``, a word of
`HEADINGS` in several languages), or are the last two or more lines, each with a mark at its
beginning, below text with citations. A heading with nothing but numbers (``Sources: [1], [2]``)
cites them if the text above it, up to the previous such line, cites nothing. Block tags of HTML
(``<br>``, ``<li>``, ``<summary>``) separate lines, and ``<references>`` is a heading. A list may
also follow a sentence with a citation on its line (``Owls [1]. References: [1] Owls. [2] Foxes.``).
An answer that begins with a heading before text (``Sources: Owls hunt [1]``), or that is nothing
but a list, is a text.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable

from everycell.language_models.reasoning import reasoning_spans

#: Stands for each character that cannot be part of a citation; it is neither a letter nor a blank.
MASK = "\ufffc"
#: Headings of lists of sources, in lower case: English, German, French, Spanish, Italian,
#: Portuguese, Dutch, Scandinavian and Slavic languages, Turkish, Arabic, Hindi, Chinese, Japanese,
#: Korean.
HEADINGS = (
    *("source", "sources", "reference", "references", "bibliography", "works cited", "citations"),
    *("literature", "literature cited", "further reading", "footnotes", "endnotes", "quellen"),
    *("quelle", "quellenangaben", "quellenverzeichnis", "literatur", "literaturverzeichnis"),
    *("referenzen", "einzelnachweise", "belege", "fußnoten", "références", "bibliographie"),
    *("referencias", "fuentes", "bibliografía", "fonti", "riferimenti", "bibliografia"),
    *("referências", "fontes", "bronnen", "bronvermelding", "referenties", "literatuurlijst"),
    *("källor", "referenser", "kilder", "referencer", "referanser", "lähteet", "źródła"),
    *("zdroje", "források", "πηγές", "источники", "литература", "ссылки", "джерела"),
    *("kaynaklar", "kaynakça", "المصادر", "المراجع", "מקורות", "संदर्भ", "स्रोत"),
    *("参考文献", "参考资料", "參考文獻", "參考資料", "资料来源", "来源", "引用文献", "出典"),
    *("참고 문헌", "참고문헌", "출처"),
)
# Words that are headings only with a colon or as a Markdown heading.
_WEAK = ("documents", "passages")
_BEFORE = (
    r"(?:(?:here (?:are|is)|list of|the|all|key|main|cited|used|relevant|supporting|primary|my|"
    r"i used|additional|following|source|selected)[ \t]{1,3}){0,3}"
)
_WORDS = "|".join(map(re.escape, sorted(HEADINGS, key=len, reverse=True)))
# Quantifiers are bounded, so that the running time is linear.
_DECORATION = r"[ \t#<>*_=\-–—•(]{0,12}(?:\d{1,2}[.)][ \t]{1,3})?[*_]{0,3}"
_HEADING = re.compile(
    rf"(?P<before>{_DECORATION})(?:{_BEFORE}(?P<word>{_WORDS})|{_BEFORE}(?P<weak>{'|'.join(_WEAK)}))"
    # Not "sources of error".
    r"(?P<after>(?![ \t]{1,3}(?:of|to|for|that|between|on)\b)(?:[ \t]{1,3}[\w()]{1,30}){0,4})"
    r"[ \t]{0,12}"
    r"(?P<mark>[*_>]{0,3}[ \t]{0,12}[:：]?[ \t]{0,3}[*_]{0,3})(?P<content>[^\n]*)",
    re.IGNORECASE,
)
# What is left of "(Sources used: [1], [2].)".
_ONLY_HEADING = re.compile(
    rf"[\W_]*{_BEFORE}(?:{_WORDS}|{'|'.join(_WEAK)})(?:[ \t](?:used|cited|consulted))?[\W_]*",
    re.IGNORECASE,
)
# A list on the line of a sentence. "Source: [1]" is a citation of the sentence.
_INLINE_HEADING = re.compile(
    rf"(?:(?<=[.!?\])。！？”\"’*_])[ \t]|[。！？])(?=[ \t]?[*_]{{0,3}}{_BEFORE}"
    rf"(?!(?:source|reference|quelle)\b)(?:{_WORDS})[^\W\d]{{0,1}}(?:[ \t]{{1,3}}\w{{1,30}}){{0,3}}"
    r"[*_]{0,3}[ \t]?[:：][*_]{0,3}(?P<content>[^\n]{0,300}))",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"[ \t*_(]*(?:[\[【［]\^?#?(?P<number>\d{1,4})[\]】］]|(?P<plain>\d{1,3})[.)][ \t])"
)
_BLOCK_TAG = re.compile(
    r"<(?P<end>/?)(?P<name>br|p|div|li|ol|ul|dl|dt|dd|h[1-6]|hr|tr|table|section|footer|aside|summary"
    r"|details|references?|sources|citations|bibliography)\b[^<>]{0,200}>",
    re.IGNORECASE,
)
_INLINE_TAG = re.compile(r"</?(?:b|strong|i|em|u|span|small|font)\b[^<>]{0,200}>", re.IGNORECASE)
_LIST_TAGS = ("references", "sources", "citations", "bibliography")
# "[1], [2]" on the line of a heading.
_NUMBERS = re.compile(r"[\W\d]*\[\d[\W\d]*")
# An item of a list: bullet, number, mark, "Document 2", or address.
_ITEM = re.compile(
    r"[ \t>]*(?:[-*•–—+]\s|\(?\d{1,3}[.):\]]|\[\^?[^\]\n]{1,20}\]|【[^】\n]{1,20}】|<?https?:|www\."
    r"|[⁰¹²³⁴⁵⁶⁷⁸⁹]+|(?:document|doc|passage|source|reference)s?\.?[ \t]*[#:]?[ \t]*\d)",
    re.IGNORECASE,
)
_NOUN = r"(?:document|doc|passage|source|reference)\.?"
_MARKED_LINE = re.compile(
    r"[ \t>]*(?:(?:[-*•|]|\d{1,2}[.)])[ \t]+)?[*_]{0,2}"
    rf"(?:\[(?:{_NOUN}[ \t])?[#^]?(?P<number>\d{{1,4}})\]"
    rf"|【(?P<wide>\d{{1,4}})[^】\n]{{0,20}}】|{_NOUN}[ \t]#?(?P<named>\d{{1,4}})(?=[*_]{{0,2}}:))"
    r"[*_]{0,2}[ \t]*[:.)|–—-]?[*_]{0,2}[ \t]*(?=\S*\w)",
    re.IGNORECASE,
)
# A word or number that is neither a citation nor a noun before one.
_NAME = re.compile(
    r"\b(?!(?:documents?|docs?|passages?|sources?|references?|refs?|and)\b)\w+", re.IGNORECASE
)
_FENCE = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]*)$", re.MULTILINE)
_TEXT_INFO = ("markdown", "md", "text", "txt", "plaintext", "plain")
_TICKS = re.compile(r"`+")
_HTML_CODE = re.compile(
    r"<(code|pre|kbd|samp)\b[^<>]{0,80}>(?:(?!<\1\b).)*?</\1>", re.IGNORECASE | re.DOTALL
)
_DISPLAY = re.compile(
    r"\$\$(?:(?!\n\s*\n).){1,2000}?\$\$|\\\((?:(?!\n\s*\n|\\\().){1,1000}?\\\)", re.DOTALL
)
_BRACKET_MATHS = re.compile(r"\\\[((?:(?!\n\s*\n|\\\[).){1,2000}?)\\\]", re.DOTALL)
# As in Pandoc: no blank inside the dollars, and no digit after them.
_INLINE = re.compile(r"(?<![\\$\w])\$(?![\s$])(?:[^$\n]|\n(?!\s*\n)){1,500}?(?<![\s\\])\$(?![\d$])")
_LINK = re.compile(
    r"!?\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]"
    r"\(<?(?P<target>[^\s()]{1,500}(?:\([^\s()]{0,200}\)[^\s()]{0,200})?)>?"
    r"(?:\s{1,3}[\"'][^\"'\n]{0,200}[\"'])?\)"
)
_DEFINITION = re.compile(
    r"^[ ]{0,3}\[(?:\^[^\]\s]{1,40}\]:[^\n]*(?:\n(?:[ \t]+\S[^\n]*))*"
    r"|[^\]\n]{1,60}\]:[ \t]*<?(?:https?:|www\.|mailto:|[/#.])[^\n]*)",
    re.MULTILINE,
)

Span = tuple[int, int]


def is_source_heading(text: str) -> bool:
    """Whether a text without its marks is nothing but the heading of a list of sources."""
    return _ONLY_HEADING.fullmatch(text) is not None


def hide(text: str, spans: list[Span]) -> str:
    """Replace spans, in any order, by `MASK`; line breaks stay."""
    pieces, end = [], 0
    for start, stop in sorted(spans):
        if stop <= end:
            continue
        start = max(start, end)
        pieces += [text[end:start], re.sub(r"[^\n]", MASK, text[start:stop])]
        end = stop
    return "".join([*pieces, text[end:]])


def hide_reasoning(text: str) -> str:
    """A text of the same length without its reasoning."""
    return hide(text, reasoning_spans(text))


def hide_code_and_links(text: str, is_citation: Callable[[str], bool]) -> tuple[str, list[str]]:
    r"""A text of the same length without code, maths, links and definitions.

    Also returns code and links that look like citations and are not read.
    """
    unread: list[str] = []
    text = hide(text, _fenced(text))
    spans = _inline_code(text)
    unread += [
        text[start:end] for start, end in spans if is_citation(text[start:end].strip("` []【】"))
    ]
    text = hide(text, spans)
    text = _hide_matches(text, _HTML_CODE)
    text = _hide_matches(text, _DISPLAY)
    text = hide(
        text,
        [
            match.span()
            for match in _BRACKET_MATHS.finditer(text)
            if not is_citation(match[1].strip())
        ],
    )
    unread += [
        match[0]
        for match in _INLINE.finditer(text)
        if match[0][1] in "^[" and is_citation(match[0].strip("$^{}[] "))
    ]
    text = _hide_matches(text, _INLINE)
    # Definitions are not sentences.
    text = _DEFINITION.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    # "[1](Human)" is a citation with a label.
    links = [match for match in _LINK.finditer(text) if re.search(r"[/.#:(]", match["target"])]
    linked = [link[0] for link in links if is_citation(link["text"].strip("^[] "))]
    return hide(text, [link.span() for link in links]), linked + unread


def _hide_matches(text: str, pattern: re.Pattern[str]) -> str:
    return hide(text, [match.span() for match in pattern.finditer(text)])


def _fenced(text: str) -> list[Span]:
    """Fenced blocks; not a block that is the whole answer as text."""
    spans: list[Span] = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence["fence"].startswith(opened["fence"]) and not fence["info"].strip():
            outside = text[: opened.start()] + text[fence.end() :]
            if opened["info"].strip().lower() not in _TEXT_INFO or outside.strip():
                spans.append((opened.start(), fence.end()))
            opened = None
    if opened is not None:
        spans.append((opened.start(), len(text)))
    return spans


def _inline_code(text: str) -> list[Span]:
    """Code spans: text between two runs of as many backticks, in one paragraph."""
    runs = list(_TICKS.finditer(text))
    later = defaultdict[int, deque[int]](deque)
    for index, run in enumerate(runs):
        later[len(run[0])].append(index)
    spans: list[Span] = []
    index = 0
    while index < len(runs):
        run = runs[index]
        same = later[len(run[0])]
        while same and same[0] <= index:
            same.popleft()
        closing = runs[same[0]] if same else None
        if closing is not None and _is_code(text, run, closing):
            spans.append((run.start(), closing.end()))
            index = same[0]
        index += 1
    return spans


def _is_code(text: str, opening: re.Match[str], closing: re.Match[str]) -> bool:
    content = text[opening.end() : min(closing.start(), opening.end() + 1000)]
    # Backticks also serve as quotation marks (``owls'') and apostrophes (owl`s).
    return (
        closing.start() - opening.end() <= 1000
        and "\n\n" not in content
        and not (len(opening[0]) == 2 and "''" in content)
        and not text[opening.start() - 1 : opening.start()].isalnum()
        and content[:1].isspace() == content[-1:].isspace()
        and not (len(opening[0]) == 1 and content[:1].isspace())
    )


def source_lists(text: str, citations: list[Span]) -> list[Span]:
    """Start and end of each list of sources.

    The text is one of `hide_code_and_links`; the citations are the start and end of each mark.
    """
    tags = [tag.span() for tag in _BLOCK_TAG.finditer(text)]
    text = _with_line_breaks(text, citations)
    ends = list(itertools.accumulate(len(line) + 1 for line in text.split("\n")))
    lines = [(start, end - 1) for start, end in zip([0, *ends], ends, strict=False)]
    spans: list[Span] = []
    index, above = 0, 0
    while index < len(lines):
        start, end = lines[index]
        heading = _HEADING.fullmatch(text, start, end)
        length = _list_length(text, lines, index, heading) if heading else 0
        if heading and _begins_text(text[:start], heading["content"]):
            length = 0
        if heading and length:
            stop = lines[index + length - 1][1]
            first = heading.start("content")
            read = [(begin - first, end - first) for begin, end in _between(citations, first, stop)]
            is_bare = not _NAME.search(hide(text[first:stop], read))
            if not is_bare or _between(citations, above, start):
                spans.append((start, stop))
            above = stop
        index += max(1, length)
    spans = spans or _headless(text, lines, citations)
    # An answer that is nothing but a list would lose all citations.
    if not re.search(r"\w", hide(text, spans)):
        return []
    return [_with_complete_tags(span, tags) for span in spans]


def _with_complete_tags(span: Span, tags: list[Span]) -> Span:
    start, end = span
    for first, last in tags:
        start = first if first < start < last else start
        end = last if first < end < last else end
    return start, end


def _begins_text(above: str, content: str) -> bool:
    """Whether a heading at the beginning of an answer is followed by text, not by an item."""
    return bool(content.strip()) and not _ITEM.match(content) and not re.search(r"\w", above)


def _with_line_breaks(text: str, citations: list[Span]) -> str:
    """A text of the same length with line breaks for block tags and before lists on a line."""
    text = _INLINE_TAG.sub(lambda match: " " * len(match[0]), _BLOCK_TAG.sub(_line_break, text))
    headings = list(_INLINE_HEADING.finditer(text))
    characters = list(text)
    for match in headings:
        if not citations or citations[0][0] >= match.start():
            continue
        first, last = match.span("content")
        inside = [(start - first, end - first) for start, end in _between(citations, first, last)]
        is_bare = not _NAME.search(hide(match["content"], inside))
        if (is_bare and inside and len(headings) == 1) or (
            not is_bare and _ENTRY.match(match["content"])
        ):
            characters[match.start()] = "\n"
    return "".join(characters)


def _line_break(tag: re.Match[str]) -> str:
    name, length = tag["name"].lower(), len(tag[0])
    if not tag["end"]:
        if name in _LIST_TAGS:
            return "\n" + name + ":" + " " * (length - len(name) - 2)
        mark = {"li": "- ", "h": "## "}.get(name if name == "li" else name[:-1], "")
        return " " * (length - 1 - len(mark)) + "\n" + mark
    return " " * (length - 2) + ("\n\n" if name in ("ol", "ul", "details", *_LIST_TAGS) else " \n")


def _between(spans: list[Span], start: int, end: int) -> list[Span]:
    first, last = (bisect_left(spans, (position, 0)) for position in (start, end))
    return spans[first:last]


def _list_length(text: str, lines: list[Span], index: int, heading: re.Match[str]) -> int:
    """Number of lines of a list with this heading; 0 if the line is not a heading of a list."""
    has_colon = ":" in heading["mark"] or "：" in heading["mark"]
    content = heading["content"].strip()
    if (heading["weak"] or heading["after"]) and not (
        has_colon or any(mark in heading["before"] for mark in "#*_")
    ):
        return 0
    if has_colon and _NUMBERS.fullmatch(content):
        return 1
    is_plain = not (heading["weak"] or heading["after"])
    if content and not (has_colon and (is_plain or _ITEM.match(content))):
        return 0
    end = index
    for number in range(index + 1, len(lines)):
        line = text[slice(*lines[number])].lstrip()
        if not line:
            continue
        is_item = _ITEM.match(line) is not None
        is_first = end == index and not content
        if line.startswith("#") or (number > end + 1 and not is_first and not is_item):
            break
        if heading["weak"] and is_first and not is_item:
            break
        end = number
    return end - index + 1 if content or end > index else 0


def _headless(text: str, lines: list[Span], citations: list[Span]) -> list[Span]:
    """The last lines, if each begins with a mark and the text above has citations."""
    items: list[tuple[Span, int]] = []
    for span in reversed(lines):
        line = text[slice(*span)]
        match = _MARKED_LINE.match(text, *span)
        if match:
            items.append((span, int(match["number"] or match["wide"] or match["named"])))
        elif line.strip() and not (line.startswith((" ", "\t")) and not _ITEM.match(line)):
            break
    items.reverse()
    numbers = [number for _, number in items]
    if len(items) < 2 or numbers != sorted(set(numbers)):
        return []
    start, end = items[0][0][0], len(text)
    inside = [span for span in citations if start <= span[0]]
    # A line with further citations is a sentence, and an answer may begin each line with its mark.
    above = [span for span in citations if span[1] <= start]
    if len(inside) > len(items) or not above or not text[: above[0][0]].strip(" \t\n>*•-"):
        return []
    return [(start, end)]
