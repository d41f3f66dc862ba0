"""The validator of the profiles of RO-Crate, without the network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import requests
import rocrate
from rocrate_validator import models, services
from rocrate_validator.utils.http import HttpRequester

#: Where the context of RO-Crate 1.1 differs from that of 1.3, which comes with the package.
CONTEXT_1_1 = {
    "ComputationalWorkflow": "https://bioschemas.org/ComputationalWorkflow",
    "FormalParameter": "https://bioschemas.org/FormalParameter",
    "input": "https://bioschemas.org/ComputationalWorkflow#input",
    "output": "https://bioschemas.org/ComputationalWorkflow#output",
    "conformsTo": "http://purl.org/dc/terms/conformsTo",
    "File": "http://schema.org/MediaObject",
}


def serve_the_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Serve the context of RO-Crate, and nothing else, in place of the network."""
    packaged = Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld"
    terms = json.loads(packaged.read_text(encoding="utf-8"))["@context"] | CONTEXT_1_1
    del terms["sha256"]

    def get(requester, url, **options):
        answer = requests.Response()
        answer.status_code = 404
        if url == "https://w3id.org/ro/crate/1.1/context":
            answer.status_code = 200
            answer.headers["Content-Type"] = "application/ld+json"
            answer._content = json.dumps({"@context": terms}).encode()
        return answer

    for method in ("get", "head"):
        monkeypatch.setattr(HttpRequester, method, get, raising=False)


def issues(crate: Path) -> list[str]:
    """Requirements of the profiles that an archive does not meet."""
    settings = models.ValidationSettings(
        rocrate_uri=str(crate),
        profile_identifier="workflow-run-crate",
        requirement_severity=models.Severity.REQUIRED,
    )
    return [str(issue.message) for issue in services.validate(settings).get_issues()]
