# SPDX-License-Identifier: Apache-2.0
"""numpy, imported when it is first used: that takes longer than converting a small model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        """Stands for the module; what was used once is found without a detour."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _Numpy()
