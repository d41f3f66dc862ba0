"""Deposits for double-blind review: removal of what identifies authors, and a search for the rest.

Names are searched for in file names and contents, in all forms of `everycell.cli.readable`.
"""

from __future__ import annotations

import logging
import platform
import re
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from unicodedata import normalize

from everycell.base.files import write_json
from everycell.base.installation import requirement, wheel_file
from everycell.base.untrusted import RATIO, UNPACKED, parse_json, printable_line
from everycell.cli.named_works import ANONYMOUS, replace_own
from everycell.cli.originals import addresses_of_originals, remove_originals
from everycell.cli.readable import (
    LEVELS,
    STREAM_SIZE,
    blocks,
    members,
    readings,
    without_accents,
)
from everycell.config import repository_of
from everycell.receipts.checkout import commit_of
from everycell.receipts.receipts import ReceiptError, receipts_in, with_hashes
from everycell.records.papers import Paper

logger = logging.getLogger(__name__)

AUTHOR, FAMILY_NAME = "an author", "an author's family name"
FIRST_NAME, LOGIN = "an author's first name", "a login of an author's name"
HOST, USER, GIT_USER = "a host", "a user name", "Git's user.name"
COMMIT, ACCOUNT = "a commit", "the account of a repository"
#: What a warning says of a file that was searched in part.
FAULTS = {
    "closed": "is, or contains, a packed or encrypted file that cannot be opened, so only its "
    "bytes were searched",
    "cut": f"contains a packed stream, of which only the first {STREAM_SIZE:,} bytes, unpacked to "
    f"at most {UNPACKED:,}, were searched, and not the rest",
}
#: Names of containers, users, hosts and folders that identify nobody.
GENERIC = {"", "/", "/root", "admin", "debian", "localhost", "root", "runner", "ubuntu", "user"}
#: Folder of any user, as in paths of another machine.
HOME = re.compile(
    r"(?:(?<![\w.])/(?:home|Users)/|[A-Za-z]:[\\/]+Users[\\/]+)"
    rf"(?!(?:{'|'.join(filter(str.isalpha, GENERIC))}|author|name|you)\b)(?=[\w.-]*\w)[\w.-]+",
    re.IGNORECASE,
)
#: Account and name of a repository at the end of its address.
REPOSITORY = re.compile(r"[/:]([\w.-]+)/([\w.-]+?)(?:\.git)?/?$")
#: The same without the address, as a word that is searched for.
PAIR = re.compile(r"([\w.-]+)/([\w.-]+)")
#: Shortest spelling without accents that is searched for, since short ones are words.
SHORTEST = 5
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
#: Borders of words, to which underscores do not belong, and those of the words of an identifier.
_START, _END = r"(?<![^\W_])", r"(?![^\W_])"
_FIRST = r"(?:(?<![^\W\d_])|(?<=[a-z])(?=[A-Z]))"
_LAST = r"(?:(?![^\W\d_])|(?<=[a-z])(?=[A-Z]))"
#: What may stand between the words of a name.
_BETWEEN = r"[\W_]{0,3}"
#: An e-mail address, except for those of examples and of Git's hosts.
MAIL = re.compile(
    r"(?<![\w.+-])(?!git@|noreply@)[\w.+-]{2,64}@(?!example\.|users\.noreply\.)"
    r"(?:[A-Za-z0-9-]{2,63}\.){1,8}(?!(?:png|jpe?g|gif|svg|webp|pdf)\b)[A-Za-z]{2,24}\b"
)


def authors_of(papers: Mapping[str, Paper]) -> list[str]:
    """Names of the authors of all papers."""
    names = [name.strip() for paper in papers.values() for name in paper.authors.split(",")]
    return list(dict.fromkeys(names))


def identities(results: Path, project: Path, papers: Mapping[str, Paper]) -> dict[str, str]:
    """Words that identify the authors -> what they are."""
    words: dict[str, str] = {}
    for author in authors_of(papers):
        words |= dict.fromkeys(_spellings(author), AUTHOR)
        *first_names, family = author.split()
        words |= dict.fromkeys(_spellings(family), FAMILY_NAME)
        if first_names:
            words |= dict.fromkeys(_spellings(f"{family} {first_names[0]}"), AUTHOR)
    for key in papers:
        for name, meaning in words.items():
            if meaning == FAMILY_NAME and (
                name.lower() in (key if len(name) >= SHORTEST else re.findall("[a-z]+", key))
            ):
                raise ReceiptError(
                    f"The key {key} contains the name {name}; make a repository with a neutral "
                    f"key, such as paper{papers[key].year}, for an anonymous deposit."
                )
    identifiers = {Path.home().name: USER}
    for path in receipts_in(results):
        receipt = parse_json(path.read_text(encoding="utf-8"))
        identifiers[receipt["execution"].get("host") or ""] = HOST
        identifiers[(receipt["code"].get("commit") or "")[:7]] = COMMIT
    identifiers |= {
        platform.node(): HOST,
        (commit_of(project) or "")[:7]: COMMIT,
        str(Path.home()): "a folder",
        str(project.resolve()): "a folder",
        repository_of(project) or "": "the address of the repository",
    }
    for setting in ("user.name", "user.email", r"remote\..*\.(push)?url"):
        command = ["git", "config", "--get-regexp", f"^{setting}$"]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            name, _, value = line.partition(" ")
            identifiers[value] = f"Git's {name}"
    for address, meaning in [*identifiers.items()]:
        # Not for a folder of this machine.
        if re.match(r"(?!file:)\w+://|[\w.-]+@", address) and (match := REPOSITORY.search(address)):
            identifiers |= {match[1]: ACCOUNT, f"{match[1]}/{match[2]}": meaning}
    address = re.search(r"\b\w++://([^/]+/[^/]+)/", requirement())
    if address and "file:" not in requirement():
        identifiers[address[1]] = "an address of everycell"
    return {
        word: meaning
        for word, meaning in identifiers.items()
        if word.lower() not in GENERIC and len(word) > 2
    } | words


def _spellings(name: str) -> list[str]:
    """A name as it is, and without accents."""
    variants = [
        text for text in (without_accents(name), name.translate(_GERMAN)) if len(text) >= SHORTEST
    ]
    return list(dict.fromkeys([normalize("NFC", name), *variants]))


def anonymise(copy: Path, papers: Mapping[str, Paper], forbidden: Mapping[str, str]) -> None:
    """Remove names from records and texts, and hosts and commits from receipts."""
    names = sorted(authors_of(papers), key=len, reverse=True)
    records = [*copy.glob("published/*/*.yaml")]
    own = {word: meaning for word, meaning in forbidden.items() if _is_repository(word, meaning)}
    for path in records:
        for address in addresses_of_originals(path.read_text(encoding="utf-8")):
            if match := REPOSITORY.search(address):
                own[f"{match[1]}/{match[2]}"] = ""
    patterns = [re.compile(_pattern(word, meaning)) for word, meaning in own.items()]

    def is_own(text: str) -> bool:
        return any(pattern.search(text) for pattern in patterns)

    for path in records:
        text = path.read_text(encoding="utf-8")
        path.write_text(replace_own(text, is_own), encoding="utf-8")
    for path in [*records, *copy.glob("*.*"), copy / "LICENSE"]:
        if path.is_file():
            text = remove_originals(path.read_text(encoding="utf-8"))
            for name in names:
                text = text.replace(name, ANONYMOUS)
            path.write_text(text, encoding="utf-8")
    config = copy / "config.yaml"
    text = config.read_text(encoding="utf-8")
    text = re.sub("^repository:.*$", "repository: null", text, flags=re.MULTILINE)
    config.write_text(text, encoding="utf-8")
    for path in receipts_in(copy / "results"):
        receipt = parse_json(path.read_text(encoding="utf-8"))
        receipt["execution"]["host"] = ANONYMOUS.lower()
        receipt["code"]["commit"] = None
        write_json(path, with_hashes(receipt))


def _is_repository(word: str, meaning: str) -> bool:
    return meaning == ACCOUNT or PAIR.fullmatch(word) is not None


def suspicions(papers: Mapping[str, Paper]) -> dict[str, str]:
    """Words that may identify authors, or be ordinary ones -> what they are."""
    words: dict[str, str] = {}
    for author in authors_of(papers):
        *first_names, family = (without_accents(name) for name in author.split())
        words |= {name: FIRST_NAME for name in first_names if len(name.strip(".")) > 2}
        if first_names:
            logins = (first_names[0][0] + family, family + first_names[0][0])
            words |= {login.lower(): LOGIN for login in logins if len(login) > 3}
        if len(family) >= SHORTEST:
            words[family.lower()] = FAMILY_NAME
    return words


def refuse_identities(
    archive: Path, forbidden: Mapping[str, str], suspicious: Mapping[str, str]
) -> None:
    """Refuse an archive in which a word that identifies the authors is left.

    Files with suspicious words, or with an e-mail address, and those that cannot be searched, are
    named in warnings.
    """
    words = [_Word(word, meaning, _pattern(word, meaning)) for word, meaning in forbidden.items()]
    suspicious_words = [
        _Word(word, meaning, _suspicion(word, meaning)) for word, meaning in suspicious.items()
    ]
    findings: dict[str, list[str]] = {}
    wheel = wheel_file()
    with zipfile.ZipFile(archive) as content:
        # The wheel of everycell itself may name anyone.
        for name, data, fault in members(content, wheel.read_bytes() if wheel else None):
            if fault == "too large":
                raise ReceiptError(
                    f"{name} unpacks to more than {UNPACKED:,} bytes and {RATIO} times its size, "
                    f"or is packed more than {LEVELS} times, so it cannot be searched for names; "
                    "remove it, or unpack it."
                )
            if fault:
                findings.setdefault(FAULTS[fault], []).append(name)
            for lines, text in (
                (lines, text)
                for lines, block in blocks(data)
                for text in readings(name.encode() + b"\n" + block)
            ):
                folded = text.casefold()
                matches = [(word.search(text, folded), word.word, word.meaning) for word in words]
                for match, word, meaning in (*matches, (HOME.search(text), "", "a user's folder")):
                    if match:
                        line = lines + text[: match.start()].count("\n")
                        raise ReceiptError(
                            f"{name}, line {line}: {word or match[0]!r} is {meaning}, so no "
                            "anonymous deposit was written; remove it from that file."
                        )
                for other in suspicious_words:
                    if other.search(text, folded):
                        sentence = f"contains {other.word!r}, which may be {other.meaning}"
                        findings.setdefault(sentence, []).append(name)
                for mail in MAIL.findall(text) if "@" in text else ():
                    findings.setdefault(f"contains the e-mail address {mail}", []).append(name)
    for sentence, names in findings.items():
        first, *more = dict.fromkeys(names)
        files = f"{first} (and {len(more)} more)" if more else first
        logger.warning("%s", printable_line(f"Check {files}: it {sentence}."))


class _Word:
    """A word to search for."""

    def __init__(self, word: str, meaning: str, pattern: str) -> None:
        self.word, self.meaning = word, meaning
        self._pattern = re.compile(pattern)
        # Most words are nowhere, which a search without a pattern says sooner.
        self._part = max(re.split(r"[\W_]+", word), key=len).casefold()

    def search(self, text: str, folded: str) -> re.Match[str] | None:
        """First place of the word in a text."""
        return self._pattern.search(text) if self._part in folded else None


def _pattern(word: str, meaning: str) -> str:
    """Pattern of a word; only in some places if it may be an ordinary one."""
    escaped = re.escape(word)
    if meaning == COMMIT:
        # Git describes a version by the letter g and a commit.
        return rf"(?i)(?:{_START}|(?<=[-+.]g)){escaped}[0-9a-f]*{_END}"
    if meaning == ACCOUNT:
        # As part of an address.
        return rf"(?i)[/@:]{escaped}(?=[/.]){_END}"
    if match := PAIR.fullmatch(word):
        # Two ordinary words need the slash.
        between = "/" if (match[1] + match[2]).isalpha() else r"[\W_]{1,3}"
        account, name = map(re.escape, match.groups())
        return rf"(?i){_START}{account}{between}{name}{_END}"
    if word.lower() == word.upper() and not word.isascii():
        return escaped  # of a script without spaces
    is_one_word = meaning in (HOST, GIT_USER) and word.isalpha()
    if (meaning == USER and word.isalpha()) or (is_one_word and word.islower()):
        # In a path, an address, or the header of a file in a tar archive.
        before = r"(?:\b(?:home|users)[/\\]+|@)"
        inside = rf"{_START}{escaped}(?=@)|(?:(?<=\0)|(?<=ustar\x000{{2}})){escaped}(?=\0)"
        return rf"(?i){before}{escaped}{_END}|{inside}"
    if meaning == FAMILY_NAME or is_one_word:
        # In lower case, it is a name in an e-mail address, after @, or as a folder.
        cases = f"{escaped}|{re.escape(word.upper())}"
        address = rf"(?i:{escaped})(?=[\w.+-]*@)|(?<=@)(?i:{escaped})|(?<=/){word.lower()}(?=/)"
        handle = rf"|@[\w.-]*(?i:{escaped}){_END}" if len(word) >= SHORTEST else ""
        inside = rf"|{_FIRST}{escaped}{_LAST}" if len(word) > 3 else ""
        return rf"{_START}(?:{cases}|{address}){_END}{handle}{inside}"
    if "@" in word:
        name, _, host = escaped.partition("@")
        host = host.replace(r"\.", r"\s*(?:\.|[\[({]\s*dot\s*[\])}]|\bdot\b)\s*")
        return rf"(?i){_START}{name}\s*(?:@|[\[({{]\s*at\s*[\])}}]|\bat\b)\s*{host}{_END}"
    if meaning in (AUTHOR, GIT_USER):
        parts = [re.escape(part) for part in re.split(r"[\W_]+", word) if part]
        return rf"{_FIRST}(?i:{_BETWEEN.join(parts)}){_LAST}"
    return rf"(?i){_START}{escaped}{_END}"


def _suspicion(word: str, meaning: str) -> str:
    """Pattern of a word that may be an ordinary one."""
    escaped = re.escape(word)
    if meaning == FIRST_NAME:
        # In lower case only as part of a file's name, which is the first line.
        in_path = rf"\A.*(?<![^\W\d_])(?i:{escaped})(?![^\W\d_])"
        return rf"{_START}(?:{escaped}|{re.escape(word.upper())}){_END}|{in_path}"
    digits = r"\d*" if meaning == LOGIN else ""
    return rf"(?<![^\W_])(?i:{escaped}){digits}{_END}"
