"""Refusal of deposits with keys: key files, tokens of known forms, values of variables."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

from everycell.cli.readable import members
from everycell.language_models.quoted_keys import quotes_key
from everycell.receipts.receipts import ReceiptError

#: Name of a variable with a secret.
SECRET = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)(?:_|$)", re.IGNORECASE)
#: Length from which the value of a variable is no ordinary word.
SHORTEST_KEY = 12
#: Bytes of a file in which other forms of such a value are searched for.
LONGEST_TEXT = 2**20
#: Files of programs that keep keys in them, with or without the dot of a hidden file.
FILE = re.compile(
    r"(?:^|/)(?:\.?env(?:\.(?!example|sample|template)\w+)?|[\w-]+\.env"
    r"|[._]?(?:netrc|pypirc|npmrc|htpasswd|pgpass|my\.cnf|git-credentials|dockercfg|vault-token)"
    r"|\.?(?:aws/config|docker/config\.json|kube/config)|kubeconfig(?:\.\w+)?"
    r"|\.?(?:credentials|secrets?)(?:\.(?:json|ya?ml|ini|toml|txt))?"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|[\w.-]*service[-_]?account[\w.-]*\.json"
    r"|client_secrets?[\w.-]*\.json|[^/]+\.(?:p12|pfx|jks|keystore|kdbx|ppk))$",
    re.IGNORECASE,
)
#: Private keys, tokens of known services, and passwords in files of known programs.
KEY = re.compile(
    rb"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
    rb"|\b(?:hf_[A-Za-z0-9]{34}|gh[opsru]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60}"
    rb"|sk-(?:proj-|ant-)?[A-Za-z0-9]{32}|sk-(?:proj|ant|svcacct|admin)-[\w-]{40}"
    rb"|AKIA[A-Z0-9]{16}\b|AIza[\w-]{35}|glpat-[\w-]{20}|xox[abeprs]-[\w-]{20}"
    rb"|npm_[A-Za-z0-9]{36}|pypi-AgE[\w-]{50}|eyJ[\w-]{10,500}\.eyJ[\w-]{10,2000}\.[\w-]{10})"
    rb"|\bmachine\s{1,9}\S{1,99}\s{1,9}login\s{1,9}\S{1,99}\s{1,9}password\s{1,9}\S"
    rb"|client-key-data:\s{0,9}[A-Za-z0-9+/]{20}|\"type\":\s{0,9}\"service_account\""
)
#: A value under a name of secrets; it must look random, unlike the names of settings and variables.
ASSIGNED = re.compile(
    rb"(?:password|passwd|secret|api_?key|access_?key|auth_?token|access_?token)[\"']?[ \t]{0,9}"
    rb"(?:=|:|=>)[ \t]{0,9}[\"']?(?=[\w+/=-]{0,99}[0-9])(?=[\w+/=-]{0,99}[A-Za-z])"
    rb"[\w+/=-]{16}",
    re.IGNORECASE,
)
#: A password in an address.
ADDRESS = re.compile(rb"://[\w.%+-]{1,64}:(?=[^\s@/]{0,64}[0-9])[^\s@/:]{8,64}@[\w.-]")


def refuse_secrets(archive: Path) -> None:
    """Refuse an archive with a key, or with the value of a variable such as `API_KEY`."""
    secrets = {
        name: value
        for name, value in os.environ.items()
        if SECRET.search(name) and len(value) >= SHORTEST_KEY
    }
    with zipfile.ZipFile(archive) as content:
        # The search for other forms of a value is slow, and code and settings are short.
        for file in content.infolist() if secrets else ():
            text = content.read(file).decode("latin-1") if file.file_size <= LONGEST_TEXT else ""
            for name, value in secrets.items():
                if quotes_key(text, value, len(value)):
                    _refuse(file.filename, f"contains the value of the variable {name}")
        # What is too large, or cannot be opened, is only searched as it is.
        for file, data, _ in members(content):
            if FILE.search(file):
                _refuse(file, "has the name of a file with keys")
            if any(pattern.search(data) for pattern in (KEY, ASSIGNED, ADDRESS)):
                _refuse(file, "contains what looks like a key")
            for name, value in secrets.items():
                if value.encode() in data:
                    _refuse(file, f"contains the value of the variable {name}")


def _refuse(file: str, fault: str) -> None:
    raise ReceiptError(f"{file} {fault}, so no deposit was written; remove it.")
