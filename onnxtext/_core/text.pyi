# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterable

def entry_lines(entries: Iterable[tuple[str, str]], indent: str) -> str: ...
