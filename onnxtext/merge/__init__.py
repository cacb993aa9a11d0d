# SPDX-License-Identifier: Apache-2.0
"""Three-way merge of models: on their statements, not on the lines of their texts.

Texts are taken apart into constructs and lists of items, comments and blanks included
(`versions`). Items are matched by name or content (`keys`, `matching`) and merged, down to the
attributes and inputs of a node (`structure`, `trivia`). What comes out is reviewed as a whole
(`review`) and written with markers around conflicts (`outcome`). `texts` does it for texts,
`driver` for files.
"""

from __future__ import annotations

from onnxtext.merge.driver import MergeResult, merge

__all__ = ["MergeResult", "merge"]
