# SPDX-License-Identifier: Apache-2.0
from typing import Any

class Layout:
    type: Any
    def __init__(
        self,
        type: Any,
        kind: str,
        bits: int,
        fraction: int,
        entries: Layout | None,
        dims: Any,
        element: Layout | None = None,
        in_entries: bool = False,
    ) -> None: ...
