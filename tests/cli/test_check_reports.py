# SPDX-License-Identifier: Apache-2.0
"""What `onnxtext check` tells programs: JSON, SARIF 2.1.0, and commands for GitHub."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import onnxtext
from tests.checker.models import text
from tests.cli.command import run

MODEL = text(
    "hidden = Neg (x)\ny = Rellu (hiden)\nz = MatMul (n, w) # onnxtext: ignore[op-unknown]",
    inputs="float[4] x, float[N] n",
    values="float[4, 3] w = [0, ...],\nfloat[2] gone,",
)
WANTED = ["value-info-unknown", "op-unknown", "value-undefined", "unused-suppression"]

Form = dict[str, Any]
TEXT: Form = {"required": {"text": str}}
REGION: Form = {
    "optional": dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), int)
    | {"byteOffset": int}
}
FILE: Form = {"optional": {"uri": str}}
FIX: Form = {
    "required": {
        "artifactChanges": [
            {
                "required": {
                    "artifactLocation": FILE,
                    "replacements": [
                        {
                            "required": {"deletedRegion": REGION},
                            "optional": {"insertedContent": TEXT},
                        }
                    ],
                }
            }
        ]
    },
    "optional": {"description": TEXT},
}
LOCATION: Form = {
    "optional": {
        "physicalLocation": {
            "required": {"artifactLocation": FILE},
            "optional": {"region": REGION},
        },
        "logicalLocations": [{"optional": {"fullyQualifiedName": str}}],
        "message": TEXT,
    }
}
RESULT: Form = {
    "required": {"message": TEXT},
    "optional": {
        "ruleId": str,
        "level": str,
        "locations": [LOCATION],
        "relatedLocations": [LOCATION],
        "fixes": [FIX],
    },
}
MESSAGE: Form = {"required": {"text": str}, "optional": {"markdown": str}}
RULE: Form = {
    "required": {"id": str},
    "optional": {"shortDescription": MESSAGE, "help": MESSAGE},
}
DRIVER: Form = {
    "required": {"name": str},
    "optional": {"version": str, "rules": [RULE]},
}
RUN: Form = {
    "required": {"tool": {"required": {"driver": DRIVER}}},
    "optional": {"columnKind": str, "results": [RESULT]},
}
LOG: Form = {"required": {"version": str, "runs": [RUN]}, "optional": {"$schema": str}}
"""What SARIF 2.1.0 requires and allows of the objects that are used (OASIS, 3.13 to 3.58)."""


def valid(value: Any, form: Any, at: str = "log") -> None:
    """Assert that a value has a form: all that is required, nothing that is not allowed."""
    if isinstance(form, type):
        assert type(value) is form, at
        return
    if isinstance(form, list):
        assert isinstance(value, list), at
        for index, item in enumerate(value):
            valid(item, form[0], f"{at}[{index}]")
        return
    required, optional = form.get("required", {}), form.get("optional", {})
    assert required.keys() <= value.keys() <= required.keys() | optional.keys(), at
    for key, item in value.items():
        valid(item, {**required, **optional}[key], f"{at}.{key}")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "a model.onnxtxt").write_text(MODEL)
    (tmp_path / "model.onnx").write_bytes(onnxtext.to_binary(MODEL))
    return tmp_path


def check(directory: Path, form: str, *files: str) -> str:
    done = run("check", "--output-format", form, *files, cwd=directory)
    assert done.status == 1
    assert done.out == b""
    return done.err


def test_sarif(directory: Path) -> None:
    log = json.loads(check(directory, "sarif", "a model.onnxtxt", "model.onnx"))
    valid(log, LOG)
    assert log["version"] == "2.1.0"
    (one,) = log["runs"]
    assert one["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    ids = [rule["id"] for rule in one["tool"]["driver"]["rules"]]
    assert len(ids) == len(set(ids))
    results = one["results"]
    assert [r["ruleId"] for r in results[: len(WANTED)]] == WANTED
    assert sum("fixes" in r for r in results) >= 2
    for result in results:
        assert result["ruleId"] in ids
        assert result["level"] in ("none", "note", "warning", "error")
        assert "help: " in result["message"]["text"]
        for location in result["locations"]:
            place = location["physicalLocation"]
            uri = urlsplit(place["artifactLocation"]["uri"])
            assert uri.path
            assert " " not in uri.path
            region = place.get("region")
            if region is None:
                assert location["logicalLocations"][0]["fullyQualifiedName"]
                continue
            assert min(region.values()) >= 1
            start, end = (
                region[f"{k}Line"] * 10_000 + region[f"{k}Column"] for k in ("start", "end")
            )
            assert start <= end


def test_json(directory: Path) -> None:
    found = json.loads(check(directory, "json", "a model.onnxtxt", "model.onnx"))
    assert [item["code"] for item in found[: len(WANTED)]] == WANTED
    for item in found:
        assert item["help"]
        assert item["severity"] in ("error", "warning", "info", "hint")
        assert (item["line"] is None) == (item["path"] is not None)
    fixes = [item["fix"] for item in found if item["fix"]]
    assert {fix["applicability"] for fix in fixes} == {"safe", "unsafe"}


def test_github(directory: Path) -> None:
    lines = check(directory, "github", "a model.onnxtxt", "model.onnx").splitlines()
    assert len(lines) >= 2 * len(WANTED) - 1
    for line in lines:
        assert re.fullmatch(
            r"::(error|warning|notice) title=onnxtext \([a-z0-9-]+\),.*::.+", line
        ), line
        assert "%0Ahelp: " in line
    assert sum(",line=" in line for line in lines) == len(WANTED)


def test_concise(directory: Path) -> None:
    lines = check(directory, "concise", "a model.onnxtxt").splitlines()
    assert [line[line.rindex("[") + 1 : -1] for line in lines] == WANTED


def test_every_format_obeys_the_bound(directory: Path) -> None:
    (directory / "many.onnxtxt").write_text(
        text("\n".join(f"n{i} = Op{i}Zq (x)" for i in range(200)))
    )
    for form, count in (
        ("json", lambda err: len(json.loads(err))),
        ("sarif", lambda err: err.count('"ruleId"')),
        ("github", lambda err: err.count("::error ")),
        ("concise", lambda err: len(err.splitlines())),
    ):
        done = run(
            "check", "--output-format", form, "--max-findings", "7", "many.onnxtxt", cwd=directory
        )
        assert done.status == 1
        assert count(done.err) == 7, form
