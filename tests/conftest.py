# SPDX-License-Identifier: Apache-2.0
"""Shared set-up of all tests: hypothesis, git, signals, and skips without the shared data."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.corpus import SHARED
from tests.seeds import EXAMPLES

QUICK = "not slow and not thorough"
"""The tests that run by default, as `pyproject.toml` selects them."""

# The time of an example depends more on the machine than on the code.
settings.register_profile(
    "no-deadline",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=EXAMPLES or 100,
)
settings.load_profile("no-deadline")
settings.register_profile("quick", max_examples=40)

# Tests start thousands of processes: without bytecode files, each would compile all its modules.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Git must not use a developer's settings, or the variables of a git hook that runs the tests.
for _name in [name for name in os.environ if name.startswith("GIT_")]:
    del os.environ[_name]
os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

# Background jobs of a shell ignore SIGINT, nohup ignores SIGHUP, and commands in tests would
# inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config: pytest.Config) -> None:
    """Reject paths of missing files, and draw fewer examples unless the slow tests are selected.

    With several processes, pytest only says that no tests ran if a file is missing.

    Also reject an environment in which the commands that tests start would run another onnxtext.
    """
    if not hasattr(config, "workerinput"):
        spec, other = find_spec("onnxtext"), _onnxtext_of_commands()
        if spec is None or not Path(spec.origin or "").samefile(other):
            raise pytest.UsageError(
                f"the environment has another onnxtext: {other}; run python3 dev.py setup"
            )
    missing = [path for path in config.args if not Path(path.partition("::")[0]).exists()]
    if missing:
        raise pytest.UsageError(f"there is no file {missing[0]}")
    if "not slow" in config.getoption("markexpr") and not EXAMPLES:
        settings.load_profile("quick")


def _onnxtext_of_commands() -> str:
    """Return the file of the package that the commands in tests import; "." if there is none."""
    code = "from importlib.util import find_spec as f; print(getattr(f('onnxtext'), 'origin', '.'))"
    command = [sys.executable, "-c", code]
    # In the directory of the repository, Python would find this package first.
    return subprocess.check_output(command, cwd=sys.prefix, text=True).strip()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Show how to run the tests that are not selected by default."""
    if config.getoption("markexpr") == QUICK and not config.getoption("collectonly"):
        terminalreporter.write_line("These were the quick tests. All: python dev.py test --all")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, None]:
    """Escape lone surrogates in captured output: xdist crashes on them."""
    report = (yield).get_result()
    report.sections = [
        (title, text.encode("utf-8", "backslashreplace").decode())
        for title, text in report.sections
    ]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that need the shared data if it is missing."""
    if SHARED is not None:
        return
    skip = pytest.mark.skip(reason="no shared data: set ONNXTEXT_DATA to its directory")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(skip)
