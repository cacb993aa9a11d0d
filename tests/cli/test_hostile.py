# SPDX-License-Identifier: Apache-2.0
"""L4 on the command line: a megabyte of anything gets its error in a time that is bounded."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from tests.cli.command import Result, run

pytestmark = pytest.mark.thorough

SIZE = 1_000_000
MOST_SECONDS = 4.0
"""Processor time of the whole process; an idle machine takes less than half of it."""

BODY = "g () => () {"

# Frame, what is repeated in it, the verb that takes longest, and what is told.
SHAPES = {
    "commas": ("%s", "a,", "check", "syntax-error"),
    "header": ("<%s", "k:1, ", "check", "syntax-error"),
    "values": ("g (%s", "float a,", "check", "syntax-error"),
    "outputs": (BODY + "%sa = A ()}", "a,", "check", "value-redefined"),
    "inputs": (BODY + "y = A (%sa)}", "a,", "to-binary", "ir-version-missing"),
    "strings": (BODY + "%s", '"a":"b",', "check", "syntax-error"),
    "nodes": (BODY + "%s", "a = A (b) ", "check", "unclosed-bracket"),
    "dots": (BODY + "%s", "a.", "check", "missing-equals"),
    "unclosed nodes": (BODY + "%s", "x = A (", "check", "unclosed-bracket"),
    "nested": (BODY + "x = A <a = %s", "seq(", "check", "too-deep"),
}


def timed(*arguments: str | Path) -> tuple[Result, float]:
    """Run `onnxtext`; what it has left, and its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("shape", SHAPES)
def test_a_megabyte(shape: str, tmp_path: Path) -> None:
    frame, unit, verb, told = SHAPES[shape]
    file = tmp_path / "m.onnxtxt"
    file.write_text(frame % (unit * (SIZE // len(unit))))
    output = ("-o", str(tmp_path / "m.onnx")) if verb == "to-binary" else ()
    done, seconds = timed(verb, *output, file)
    assert done.status == 1, done.err
    assert told in done.err + done.out.decode()
    assert seconds < MOST_SECONDS
    assert not (tmp_path / "m.onnx").exists()
