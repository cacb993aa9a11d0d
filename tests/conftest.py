# SPDX-License-Identifier: Apache-2.0
"""What all tests share: where the shared data is, and what to do without it."""

from __future__ import annotations

import signal
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

from tests.corpus import SHARED

QUICK = "not slow and not thorough"
"""The tests that run by default, as `pyproject.toml` selects them."""

# How long an example takes says more about the machine than about the code.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

# A shell that starts the tests in the background ignores SIGINT, nohup ignores SIGHUP, and every
# command that a test starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Tell how to run the tests that the default selection leaves out."""
    if config.getoption("markexpr") == QUICK and not config.getoption("collectonly"):
        terminalreporter.write_line("These were the quick tests. All: python dev.py test --all")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, None]:
    """Escape lone surrogates in captured output: xdist cannot send them, and ends."""
    report = (yield).get_result()
    report.sections = [
        (title, text.encode("utf-8", "backslashreplace").decode())
        for title, text in report.sections
    ]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the shared data where there is none."""
    if SHARED is not None:
        return
    skip = pytest.mark.skip(reason="no shared data: set ONNXTEXT_DATA to its directory")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(skip)
