# SPDX-License-Identifier: Apache-2.0
"""Import numpy on first use: the import takes longer than converting a small model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        """A proxy for the module `numpy`; it caches the attributes that were used."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _Numpy()
