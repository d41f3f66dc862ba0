"""Where numbers are not citations: reasoning, code, maths, links, intervals, lists of sources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.rag.citation_contexts import HEADINGS
from everycell.rag.citation_marks import unread_marks
from everycell.rag.citations import find_citations, source_list_of, uncited_text
from everycell.rag.cited_sentences import cited_sentences

# Text, numbers that are read, and marks that are reported as not read.
DECISIONS = [
    # Reasoning.
    ("<think>Foxes [2].</think>Owls hunt [1].", [1], []),
    ("Foxes [2].</think>Owls hunt [1].", [1], []),
    ("<reasoning>Foxes [2].</reasoning>Owls hunt [1] (2).", [1], ["(2)"]),
    ("<think>Foxes [2]", [], []),
    # Code.
    ("Take `owls[1]` or ``a[`2]`` [3].", [3], []),
    ("```python\nowls[1]\n```\nThey hunt [2].", [2], []),
    ("~~~\nowls[1]\n~~~\nThey hunt [2].", [2], []),
    ("They hunt [2].\n```\nowls[1]", [2], []),
    ("1. Run:\n   ```\n   owls[1]\n   ```\n2. See [2].", [2], []),
    ("```markdown\nOwls hunt [1].\n```", [1], []),
    ("<code>owls[1]</code> and <pre>\na[2]\n</pre> [3]", [3], []),
    ("Owls hunt `[1]`.", [], ["`[1]`"]),
    ("The ``owls'' [1] and ``foxes'' [2]", [1, 2], []),
    ("the owl`s [1] nest, the fox`s [2] den", [1, 2], []),
    ("A single ` backtick [1]", [1], []),
    # Maths.
    ("In $x_[1]$ and $$a[2] + b$$, \\(c[3]\\) [4]", [4], []),
    ("\\[ y = a[1] \\] so [2]", [2], []),
    ("\\[1\\] and \\[2, 3\\]", [1, 2, 3], []),
    ("It costs $5 [1] or $6 [2], US$7 [3] and 8$ [4].", [1, 2, 3, 4], []),
    # Intervals.
    ("Scores lie in [0, 1] [2].", [2], ["[0, 1]"]),
    ("[0, 100], [0; 1]", [], ["[0, 100]", "[0; 1]"]),
    ("the interval [1, 5], a scale of [1, 7], x ∈ [2, 3], 95% CI [4, 9]", [], 4),
    ("As shown in [1, 2] and by others [3, 1].", [1, 2, 3, 1], []),
    ("[0] [0, 1, 2]", [0, 0, 1, 2], []),
    ("a = [1, 2, 3], np.array([4, 5]), owls ([1, 2])", [1, 2], ["[1, 2, 3]", "[4, 5]"]),
    # Links and definitions.
    ("Owls [hunt](https://a.org/1) at night [1].", [1], []),
    ("Owls hunt [2](https://a.org).", [], ["[2](https://a.org)"]),
    ("Owls hunt [[2]](#ref2).", [], ["[[2]](#ref2)"]),
    ("![1](owl.png) [3](http://a.org/b_(c) 'Owl')", [], 2),
    ("Owls hunt [1](Human).", [1], []),
    ("Owls hunt [1].\n\n[1]: https://a.org/2", [1], []),
    ("Owls hunt.[^1]\n\n[^1]: Owls, see [2].\n    And [3].\n[^2]: Foxes.", [1], []),
    # Ignored forms.
    ("Owls hunt (2), (1, 3) and (4).", [], ["(2)", "(1, 3)", "(4)"]),
    ('Owls hunt (cite index="2-1">.', [], ['(cite index="2-1">']),
    ('<cite index="2-1">Owls hunt</cite>', [], ['<cite index="2-1">']),
    ('<cite index="1-2,3-1">Owls</cite>', [], ['<cite index="1-2,3-1">']),
    ("Owls hunt<ref>2</ref>, <co: 2>owls</co: 2>.", [], ["<ref>2</ref>", "<co: 2>"]),
    ("Owls {2} hunt {{3}} ^2^ ① \\cite{doc2} [@doc2]", [], 6),
    ("They hunt.2 Foxes sleep.3", [], [".2", ".3"]),
    ("Owls (D2) and (doc2) hunt on 3 km² and 10<sup>6</sup> m.", [], 4),
    ("Owls 〔2〕 «3» <4> hunt (2-3) [ref_2] (ref-2).", [], 6),
    # Recognised forms.
    ("Owls hunt.<sup>2</sup> Foxes<sup>[3]</sup> sleep,<sup>4, 5</sup>", [2, 3, 4, 5], []),
    ("Owls (Document 2) hunt (Source: 3) (cite: 4) (refs. 1 and 5).", [2, 3, 4, 1, 5], []),
    ("Owls【2†source】[^3][doc 4] hunt¹ (see [5])", [2, 3, 4, 1, 5], []),
    # Neither.
    ("In (2015), 10 owls (3 males) of f(2): a(1), see p. 3 and 2.5 kg.", [], []),
    ("(1) first\n(2) second", [], []),
]


@pytest.mark.parametrize(("text", "numbers", "unread"), DECISIONS)
def test_find_citations_contexts(text, numbers, unread):
    assert [citation.number for citation in find_citations(text)] == numbers
    marks = unread_marks(text)
    if isinstance(unread, int):
        assert len(marks) == unread
    else:
        assert [mark.strip() for mark in marks] == [mark.lstrip(".") for mark in unread]


@pytest.mark.parametrize(("text", "numbers", "unread"), DECISIONS)
def test_find_citations_positions_are_those_of_the_digits(text, numbers, unread):
    for citation in find_citations(text):
        assert any(map(str.isnumeric, text[citation.start : citation.end]))


SOURCES = "[1] Owls of Europe.\n[2] Foxes.\n[3] Bees."


@pytest.mark.parametrize(
    "heading",
    ["References:", "Sources:", "Sources", "Bibliography", "## References", "**Sources:**",
     "**Sources**:", "### 3. Works Cited", "__References__", "REFERENCES:", "List of sources:",
     "Sources used:", "Here are the sources:", "# Sources and further reading", "Key references:",
     "References\n----------", "Literaturverzeichnis", "Références :",
     "## Источники", "参考文献：", "المصادر:"],
)  # fmt: skip
@pytest.mark.parametrize(
    "items",
    [SOURCES, SOURCES.replace("\n", "\n\n"), "1. Owls [1]\n2. Foxes [2]\n3. Bees [3]",
     "- Document 1: Owls\n- Document 2: Foxes", "* [2]: Foxes", "Foxes, 2020 [2]. Bees [3].",
     "\n" + SOURCES],
)  # fmt: skip
def test_find_citations_list_of_sources_with_a_heading(heading, items):
    text = f"Owls hunt at night [1].\n\n{heading}\n{items}"
    assert [citation.number for citation in find_citations(text)] == [1]
    assert source_list_of(text).startswith(heading.split("\n")[0])
    assert uncited_text(text, 3).strip() == "Owls hunt at night."
    # Nor do they count if the answer cites nothing.
    assert not find_citations(text.replace(" [1].\n", ".\n", 1))


@pytest.mark.parametrize("word", HEADINGS)
def test_find_citations_headings(word):
    text = f"Owls hunt [1].\n\n{word.capitalize()}:\n{SOURCES}"
    assert [citation.number for citation in find_citations(text)] == [1]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        # On the line of the heading.
        ("Owls hunt [1].\n\nSources: [1] Owls; [2] Foxes; [3] Bees", [1]),
        ("Owls hunt [1].\n\nSources: [1], [2], [3]", [1]),
        ("Owls hunt [1].\nSources:\n- [1]\n- [2]", [1]),
        ("Owls hunt [1].\n\nDocuments used: [1], [2]", [1]),
        ("Owls hunt [1].\nSources: [1]\nFoxes sleep [2].\nSources: [2]", [1, 2]),
        # The only citations of the answer.
        ("Owls hunt.\nSource: [1]\n\nFoxes sleep.\nSource: [2]", [1, 2]),
        ("Owls hunt.\n\nSources: [1], [2]", [1, 2]),
        ("Owls hunt.\n\nSource: Document 2.", [2]),
        ("Owls hunt.\n\nSources: [1] Owls; [2] Foxes", []),
        ("Owls [1].\n\nSources used in this answer: [1], [2], [3]", [1]),
        ("Owls [1].\n\nThe following documents were used:\n- Document 1\n- Document 2", [1]),
        ("Owls [1].\n\nI used the following sources:\n[1] Owls\n[2] Foxes", [1]),
        ("Owls [1].\n\n<references>\n[1] Owls\n[2] Foxes\n</references>", [1]),
        ("Owls [1].\n\n| # | Source |\n|---|---|\n| [1] | Owls |\n| [2] | Foxes |", [1]),
        ("Owls [1].\n\n1. [1] Owls.\n2. [2] Foxes.", [1]),
        ("Sources used: Owls hunt [1].", [1]),
        # A line of sources below each paragraph.
        ("Owls hunt.\nSource: [1]\n\nFoxes sleep.\nSource: [2]", [1, 2]),
        ("Owls hunt.\n(Sources: [1], [2])\n\nFoxes sleep.\n(Source: [3])", [1, 2, 3]),
        ("Owls [1].\n\nFoxes [2].\n\n(Sources: [1], [2], [3])", [1, 2]),
        # On the line of a sentence.
        ("Owls [1]. References: [1] Owls of Europe. [2] Foxes.", [1]),
        ("Owls [1]. **Sources:** 1. Owls 2. Foxes [2]", [1]),
        ("Owls [1]. References: [1], [2], [3]", [1]),
        ("猫头鹰打猎[1]。参考文献：[1] 猫头鹰 [2] 狐狸", [1]),
        ("Owls [1]. References: [1] Owls.\n\nFoxes [2].", [1, 2]),
        ("Owls hunt. Sources: [1], [2]. Foxes sleep. Sources: [3].", [1, 2, 3]),
        ("Owls hunt. Source: [1] Foxes sleep [2].", [1, 2]),
        # HTML.
        ("Owls [1].<br><br><b>Sources:</b><br>[1] Owls<br>[2] Foxes", [1]),
        ("Owls [1].<h3>References</h3><ol><li>[1] Owls</li><li>[2] Foxes</li></ol>", [1]),
        ("<p>Owls [1].</p><p>Sources</p><ol><li>[1] Owls</li></ol><p>Bees [3].</p>", [1, 3]),
        ("Owls [1].\n\n<ol>\n<li>[1] Owls</li>\n<li>[2] Foxes</li>\n</ol>", [1]),
        (
            "Owls [1].<details><summary>Sources</summary>[1] Owls<br>[2] Foxes</details>Bees [3].",
            [1, 3],
        ),
        ("Owls [1]. <references>[1] Owls [2] Foxes</references> Bees [3].", [1, 3]),
        ("<ul><li>Owls [1]</li><li>Foxes [2]</li></ul>", [1, 2]),
        # An answer that begins with a heading, or is nothing but a list.
        ("Sources: Owls hunt [1] at night. Foxes sleep [2].", [1, 2]),
        ("References: Owls hunt [1].\nFoxes sleep [2].\n\nSources:\n[3] Owls", [1, 2]),
        ("Sources:\n[1] Owls hunt.\n[2] Foxes sleep.", [1, 2]),
        ("Sources:\n- [1] Owls\n- [2] Foxes\n\nOwls hunt [1].", [1]),
        # Without a heading.
        ("Owls [1].\n\n[Document 1]: Owls.\n[Document 2]: Foxes.", [1]),
        ("Owls [1].\n\n**Document 1:** Owls.\n**Document 2:** Foxes.", [1]),
        ("Owls [1].\n\nDocument 1: Owls.\nDocument 3: Foxes.", [1]),
        ("Owls [1].\n\n- **[1]** Owls.\n- **[2]** Foxes.", [1]),
        (f"Owls hunt [1].\n\n{SOURCES}", [1]),
        (f"Owls hunt [1].\n{SOURCES}\n", [1]),
        ("Owls hunt [1].\n\n- [1] Owls.\n- [2] Foxes.", [1]),
        ("Owls hunt【1†a】.\n\n【1】Owls.\n【2】Foxes.", [1]),
        # Answers whose lines begin with their mark, and sentences.
        (SOURCES, [1, 2, 3]),
        ("So it is:\n\n[1] Owls hunt.\n[2] Foxes sleep.", [1, 2]),
        ("Owls hunt [1].\n[2] says that foxes sleep.", [1, 2]),
        ("Views differ [3].\n\n[1] says owls, against [2].\n[2] says foxes.", [3, 1, 2, 2]),
        ("1. Owls hunt [1].\n2. Foxes sleep [2].", [1, 2]),
        ("Reasons [3]:\n1. Owls hunt [1].\n2. Foxes sleep [2].", [3, 1, 2]),
        ("Owls [1].\n\n**Cited documents:**\n- Document 2\n- Document 3: Bees", [1]),
        ("Owls [1].\n\n**Note:**\nFoxes sleep [2].", [1, 2]),
        ("Owls [1].\n\nEvidence:\n- Foxes sleep [2].\n- Bees buzz [3].", [1, 2, 3]),
        # Not a heading.
        ("## Sources of light\n- Owls [1]\n- Foxes [2]", [1, 2]),
        ("**References to owls:**\n- Owls [1]\n- Foxes [2]", [1, 2]),
        ("Sources say that owls hunt [1].\nThey do [2].", [1, 2]),
        ("**Sources** say so [1].", [1]),
        ("Note: owls hunt [1].", [1]),
        ("References [1] and [2] agree.", [1, 2]),
        # Text below the list.
        ("Owls [1].\n\n## Sources\n[2] Foxes.\n\n## Summary\nBees [3].", [1, 3]),
        ("Owls [1].\n\nSources:\n[1] Owls.\n\nNote that bees buzz [3].", [1, 3]),
    ],
)
def test_find_citations_other_lists(text, numbers):
    assert [citation.number for citation in find_citations(text)] == numbers


def test_find_citations_plain_reads_all_but_reasoning():
    text = f"<think>[9]</think>Owls `a[4]` hunt [0, 1] [1].\n\nSources:\n{SOURCES}"
    assert [citation.number for citation in find_citations(text, forms="plain")] == [4, 1, 1, 2, 3]
    assert unread_marks(text, forms="plain") == ["[0, 1]"]
    assert "9" not in uncited_text(text, 3)


def test_uncited_text_keeps_words_and_years():
    text = "Document 2 says an owl¹ hunts.[1] In [1984] `a[1]` was (Doc 2) [0, 1]."
    assert uncited_text(text, k=2) == "Document 2 says an owl¹ hunts. In [1984] `a[1]` was [0, 1]."
    assert uncited_text("Owls hunt.¹ Foxes sleep.<sup>2</sup>", 2) == "Owls hunt. Foxes sleep."


def test_uncited_text_markers_of_gemini():
    text = "[cite_start]Owls hunt[cite: 1]. [cite_start]Foxes sleep[cite: 2, 3]."
    assert [citation.number for citation in find_citations(text)] == [1, 2, 3]
    assert uncited_text(text, k=3) == "Owls hunt. Foxes sleep."


def test_cited_sentences_list_on_the_line_of_a_sentence():
    text = "Owls hunt [1].<h3>Sources</h3><ol><li>[1] Owls</li><li>[2] Foxes</li></ol>"
    assert [
        (statement.text, statement.documents) for statement in cited_sentences(text, 2).statements
    ][0] == ("Owls hunt.", (0,))


PIECES = ["<br>", "<li>", "</ol>", ". Sources: ", "<references>", "[cite_start]",
          "[1]", " ", "`", "``", "```\n", "$", "$$", "\\(", "\\)", "Sources:\n", "\n", "(2)", "a. ",
          "<sup>2</sup>", "[x](b.c)", "<think>", "</think>", "[^1]: ", "【2】"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_find_citations_any_combination(text):
    read = find_citations(text)
    assert [citation.start for citation in read] == sorted(citation.start for citation in read)
    for citation in read:
        assert any(map(str.isnumeric, text[citation.start : citation.end]))
    assert all(mark in text for mark in unread_marks(text))


@pytest.mark.parametrize(
    "text",
    ["`" * 200_000, "`a" * 100_000, "`a``" * 50_000, "$a " * 60_000, "$$" * 100_000,
     "\\(" * 100_000, "\\[" * 100_000, "<code>" * 30_000, "[a](" * 50_000, "[a](x." + "x." * 90_000,
     "Sources:\n" * 20_000, "Sources:\n\n" * 20_000, "Notes:\n" * 20_000, "*" * 200_000,
     "Owls [1].\n" + "[2] a\n" * 30_000, "[^1]: a\n" * 30_000, "\n" * 200_000, "<cite " * 30_000,
     "(2) " * 50_000, "```\n" * 50_000, "<sup>" * 40_000, "<br>" * 40_000,
     "[1]. References: " * 10_000, "[1]. Sources: [2] a " * 5_000, "(cite 2" * 30_000,
     "Sources: " * 20_000],
)  # fmt: skip
def test_find_citations_linear_time(text):
    find_citations(text)
    unread_marks(text)
    uncited_text(text, 3)
