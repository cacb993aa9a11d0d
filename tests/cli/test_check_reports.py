# SPDX-License-Identifier: Apache-2.0
"""Machine-readable output of `onnxtext check`: JSON, SARIF 2.1.0, and GitHub commands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import onnxtext
from tests.checker.models import text
from tests.cli.command import run
from tests.sarif_schema import assert_valid

MODEL = text(
    "hidden = Neg (x)\ny = Rellu (hiden)\nz = MatMul (n, w) # onnxtext: ignore[op-unknown]",
    inputs="float[4] x, float[4] n",
    values="float[4, 3] w = [0, ...],\nfloat[2] gone,",
)
WANTED = ["value-info-unknown", "op-unknown", "value-undefined", "unused-suppression"]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "a model.onnxtxt").write_text(MODEL)
    (tmp_path / "model.onnx").write_bytes(onnxtext.to_binary(MODEL))
    return tmp_path


def report_of(directory: Path, form: str, *files: str) -> str:
    done = run("check", "--output-format", form, *files, cwd=directory)
    assert done.status == 1
    assert done.out == b""
    return done.err


def test_sarif_reports_every_finding(directory: Path) -> None:
    log = json.loads(report_of(directory, "sarif", "a model.onnxtxt", "model.onnx"))
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
    assert_valid(log)


def test_json_reports_every_finding(directory: Path) -> None:
    found = json.loads(report_of(directory, "json", "a model.onnxtxt", "model.onnx"))
    assert [item["code"] for item in found[: len(WANTED)]] == WANTED
    for item in found:
        assert item["help"]
        assert item["severity"] in ("error", "warning", "info", "hint")
        assert (item["line"] is None) == (item["path"] is not None)
    fixes = [item["fix"] for item in found if item["fix"]]
    assert {fix["applicability"] for fix in fixes} == {"safe", "unsafe"}


def test_github_reports_every_finding(directory: Path) -> None:
    lines = report_of(directory, "github", "a model.onnxtxt", "model.onnx").splitlines()
    assert len(lines) >= 2 * len(WANTED) - 1
    for line in lines:
        assert re.fullmatch(
            r"::(error|warning|notice) title=onnxtext \([a-z0-9-]+\),.*::.+", line
        ), line
        assert "%0Ahelp: " in line
    assert sum(",line=" in line for line in lines) == len(WANTED)


def test_concise_reports_every_finding(directory: Path) -> None:
    lines = report_of(directory, "concise", "a model.onnxtxt").splitlines()
    assert [line[line.rindex("[") + 1 : -1] for line in lines] == WANTED


@pytest.mark.thorough
def test_every_format_limits_the_number_of_findings(directory: Path) -> None:
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
