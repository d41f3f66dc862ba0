"""The words of the documentation: docs/check_language.py and its list of banned phrases."""

import pytest
from harness import load_script

check_language = load_script("docs/check_language.py")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# Title\n\nEach cell is compared with the\nprinted value.\n", [4]),
        ("A stand-in, and a model\nas it comes.\n", [1, 2]),
        (
            "`stand-in`\n\n```\nstand-in\n```\n\n<!-- stand-in -->\n[a](stand-in.md)\n",
            [],
        ),
        ("The published value, on surrogate data.\n", []),
    ],
)
def test_faults_prose(tmp_path, text, lines):
    (tmp_path / "page.md").write_text(text)
    assert [line for line, _ in check_language.faults(tmp_path / "page.md")] == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("found = 1\n", [1]),
        ("for row, each in pairs:\n    pass\n", [1]),
        ("def said(told): ...\n", [1, 1]),
        ("scores = row.found + found(each)\n", []),
        ('"""Compares with the\nprinted value."""\n', [2]),
        ("# A stand-in.\nx = 'a `stand-in`'\n", [1]),
        ("raise ValueError(f'{x} is taken up again')\n", [1]),
        ("stand_in = 1  # A stand-in.\n", [1, 1]),
        ("def test_what_has_no_variance(): ...\ndef test_anova_level(): ...\n", [1]),
    ],
)
def test_faults_program(tmp_path, text, lines):
    (tmp_path / "module.py").write_text(text)
    assert [line for line, _ in check_language.faults(tmp_path / "module.py")] == lines


@pytest.mark.parametrize(
    ("name", "docstring", "is_fault"),
    [
        ("papers/key2020/ch6_audits.py", "Audits of chapter 6\nof key2020 (X).\n\nMore.", False),
        ("papers/key2020/chC.py", "Appendix C of key2020: votes.", False),
        ("papers/key2020/data.py", "Readers.", False),
        ("other/key2020/ch6_audits.py", "Audits.", False),
        ("papers/key2020/ch6_audits.py", "Audits of the chapter on X.", True),
        ("papers/key2020/ch6_audits.py", "Audits.\n\nThey are of chapter 6 of key2020.", True),
        ("papers/key2020/ch1_audits.py", "Audits of chapter 12 of key2020.", True),
        ("papers/key2020/ch1_audits.py", "Audits of chapter 1 of key2020a.", True),
        ("papers/key2020/chC_audits.py", "Audits of chapter C of key2020.", True),
    ],
)
def test_chapter_faults_first_paragraph(tmp_path, name, docstring, is_fault):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(f'"""{docstring}"""\n')
    assert [line for line, _ in check_language.faults(path)] == [1] * is_fault
