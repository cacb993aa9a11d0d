# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`: measure, report, compare."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks import report, results, runner, startup
from benchmarks.peers import PEERS
from benchmarks.processes import python, run
from benchmarks.results import Results, Row
from benchmarks.runner import Options
from benchmarks.workloads import WORKLOADS, Workload

NAMES = (*(workload.name for workload in WORKLOADS), startup.NAME)
DIRECTIONS = ("to-text", "to-binary")
SIZES = Path(__file__).resolve().parent / "SIZES.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks.

    Returns:
        The exit status: 1 if one of our conversions failed or did not restore the bytes, or if
        `--sizes` or `--profile` failed; else 0.

    Raises:
        SystemExit: the options are wrong, or nothing could be measured (exit status 2).
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error("--repeat takes at least 1")
    with runner.progress() as say:
        how = Options(
            repeat=1 if options.quick else options.repeat,
            timeout=options.timeout,
            wanted=lambda peer: options.peer is None or fnmatchcase(peer.name, options.peer),
            say=say,
        )
        try:
            if options.list:
                print(_listing())
                return 0
            if options.sizes:
                return _sizes(how)
            if options.profile:
                return _profile(options.profile, how, parser)
            old = results.load(options.compare) if options.compare else None
            new = results.load(options.show) if options.show else _measure(options, how)
        except (OSError, RuntimeError, ValueError) as error:
            parser.error(str(error))
    if not new.rows:
        parser.error(f"no workload is called {options.only}")
    if options.json:
        new.save(options.json)
    print(report.table(new))
    if old is not None:
        print("\n" + report.comparison(old, new))
    return int(any(map(_is_failure, new.rows)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure onnxtext and its peers."
    )
    add = parser.add_argument
    add("--only", metavar="PATTERN", help="only workloads whose names match: 'transformer-*'")
    add(
        "--peer",
        metavar="PATTERN",
        help="only these peers, such as 'onnxtext*'; no ratios without onnx",
    )
    add("--large", action="store_true", help="include the large workloads")
    add("--quick", action="store_true", help="only the small workloads, one run each")
    add("--repeat", metavar="N", type=int, default=3, help="the best of N processes (default: 3)")
    add(
        "--timeout",
        metavar="S",
        type=float,
        default=600,
        help="stop processes after S seconds (600)",
    )
    add("--json", metavar="FILE", type=Path, help="save the results")
    add("--compare", metavar="FILE", type=Path, help="compare with the results in FILE")
    add("--show", metavar="FILE", type=Path, help="show the results in FILE without measuring")
    add("--list", action="store_true", help="list the workloads and the peers")
    add("--profile", metavar="WORKLOAD:DIRECTION", help="profile onnxtext; to-text or to-binary")
    add(
        "--sizes",
        action="store_true",
        help=f"measure the sizes of texts of real models; writes {SIZES.name}",
    )
    return parser


def _listing() -> str:
    lines = ["workloads:"]
    for one in WORKLOADS:
        when = " (--quick)" if one.quick else " (--large, or by its name)" if one.large else ""
        lines.append(f"  {one.name:<22}{one.about}{when}")
    lines += [f"  {startup.NAME:<22}{startup.ABOUT} (--quick)", "peers:"]
    return "\n".join([*lines, *(f"  {peer.name}" for peer in PEERS)])


def _measure(options: argparse.Namespace, how: Options) -> Results:
    measured = Results([], results.heading(how.repeat))
    for workload in WORKLOADS:
        if _wanted(workload, options):
            measured.rows += runner.measure(workload, how)
    if options.only is None or fnmatchcase(startup.NAME, options.only):
        measured.rows += startup.measure(how, quick=options.quick)
    return measured


def _wanted(workload: Workload, options: argparse.Namespace) -> bool:
    if options.quick and not workload.quick:
        return False
    if workload.missing and workload.name != options.only:
        return False
    if workload.large and not options.large:
        return bool(workload.name == options.only)
    return options.only is None or fnmatchcase(workload.name, options.only)


def _is_failure(row: Row) -> bool:
    """Whether a start-up or one of our conversions failed, or did not restore the bytes.

    Conversions of peers may fail.
    """
    if row.peer not in ("onnxtext", "onnxtext (CLI)") and row.workload != startup.NAME:
        return False
    return row.failed is not None or row.same not in (None, "bytes")


def _profile(wanted: str, how: Options, parser: argparse.ArgumentParser) -> int:
    name, _, direction = wanted.partition(":")
    workload = next((one for one in WORKLOADS if one.name == name), None)
    if workload is None or direction not in DIRECTIONS:
        parser.error("--profile takes WORKLOAD:to-text or WORKLOAD:to-binary; see --list")
    with runner.prepared(workload, direction, how) as source:
        arguments = (direction, workload.weights, source)
        return _run_module("benchmarks.profiling", *arguments, how=how)


def _sizes(how: Options) -> int:
    how.say("printing the shared models")
    return _run_module("benchmarks.sizes", SIZES, how=how)


def _run_module(module: str, *arguments: str | Path, how: Options) -> int:
    """Run a module, and print its output."""
    finished = run(python("-m", module, *arguments), timeout=how.timeout)
    print(finished.output.decode(), end="")
    if finished.failed:
        print(f"{module}: {finished.failed}", file=sys.stderr)
    return int(bool(finished.failed))


if __name__ == "__main__":
    sys.exit(main())
