# SPDX-License-Identifier: Apache-2.0
"""Planning which files to read and write."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest

from onnxtext.cli.named_files import ConversionJob, plan_jobs

TO, FROM = True, False


@pytest.mark.parametrize(
    ("source", "target", "to_binary"),
    [
        ("a/m.onnxtxt", "a/m.onnx", TO),
        ("m.onnxtext", "m.onnx", TO),
        ("m.ONNXTXT", "m.onnx", TO),
        ("m.v2.onnxtxt", "m.v2.onnx", TO),
        ("m.txt", "m.txt.onnx", TO),
        ("m", "m.onnx", TO),
        ("m.onnx", "m.onnx", TO),  # refused later: it is the input
        ("a/m.onnx", "a/m.onnxtxt", FROM),
        ("m.pb", "m.pb.onnxtxt", FROM),
        (".onnx", ".onnx.onnxtxt", FROM),
        ("m.onnxtxt", "m.onnxtxt", FROM),
    ],
)
def test_the_suffix_is_swapped_or_added(source: str, target: str, to_binary: bool) -> None:
    assert plan_jobs((source,), None, to_binary) == [
        ConversionJob(source, Path(source), Path(target), derived=True)
    ]


def test_missing_names_and_hyphens_mean_standard_streams() -> None:
    stdin = ConversionJob("<stdin>", None, None)
    assert plan_jobs((), None, TO) == [stdin]
    assert plan_jobs(("-",), None, TO) == [stdin]
    assert plan_jobs(("-",), "-", TO) == [stdin]
    assert plan_jobs(("/dev/stdin",), "/dev/stdout", TO) == [stdin]
    assert plan_jobs((), "m.onnx", TO) == [ConversionJob("<stdin>", None, Path("m.onnx"))]
    assert plan_jobs(("m.onnxtxt",), "-", TO) == [
        ConversionJob("m.onnxtxt", Path("m.onnxtxt"), None)
    ]


def test_outputs_go_into_directories(tmp_path: Path) -> None:
    (job,) = plan_jobs(("a/m.onnxtxt",), str(tmp_path), TO)
    assert job.target == tmp_path / "m.onnx"
    assert not job.makes_directory
    jobs = plan_jobs(("a.onnxtxt", "b/b.onnxtxt"), "new/", TO)
    assert [job.target for job in jobs] == [Path("new/a.onnx"), Path("new/b.onnx")]
    assert all(job.makes_directory for job in jobs)


def test_the_same_input_twice_is_converted_once() -> None:
    jobs = plan_jobs(("a.onnxtxt", "b.onnxtxt", "a.onnxtxt", "./a.onnxtxt"), None, TO)
    assert [job.name for job in jobs] == ["a.onnxtxt", "b.onnxtxt"]


def test_two_inputs_for_one_output_are_an_error() -> None:
    jobs = plan_jobs(("a/m.onnxtxt", "b/m.onnxtxt", "n.onnxtxt"), "out/", TO)
    assert [job.clash for job in jobs] == [None, "a/m.onnxtxt", None]


@pytest.mark.parametrize(
    ("inputs", "output"),
    [
        (("a.onnxtxt", "-"), None),
        (("a.onnxtxt", "b.onnxtxt"), "-"),
        (("a.onnxtxt", "b.onnxtxt"), "c.onnx"),
        ((), "new/"),
        ((), "."),
    ],
)
def test_invalid_names_are_wrong_usage(inputs: tuple[str, ...], output: str | None) -> None:
    with pytest.raises(click.UsageError):
        plan_jobs(inputs, output, TO)


def test_a_pipe_has_no_derived_output(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(click.UsageError, match="-o"):
        plan_jobs((str(pipe),), None, TO)
    assert plan_jobs((str(pipe),), "m.onnx", TO)[0].target == Path("m.onnx")
