# SPDX-License-Identifier: Apache-2.0
"""Profile a conversion.

    python -m benchmarks.profiling to-text|to-binary section|inline DIRECTORY

Profiles the conversion of the files of a directory, with cold caches.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
from pathlib import Path

from benchmarks.child import prepared, read

SHOWN = 40
"""Number of functions to show."""


def main(direction: str, weights: str, source: str) -> None:
    """Profile, and print the functions with the most time of their own."""
    convert = prepared("onnxtext", direction, weights)
    inputs = read(Path(source), as_text=direction == "to-binary")
    profile = cProfile.Profile()
    profile.enable()
    for one in inputs:
        convert(one)
    profile.disable()
    pstats.Stats(profile, stream=sys.stdout).sort_stats("tottime").print_stats(SHOWN)


if __name__ == "__main__":
    main(*sys.argv[1:])
