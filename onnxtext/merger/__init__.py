# SPDX-License-Identifier: Apache-2.0
"""Three-way merge of models, statement by statement instead of line by line.

`driver` merges files, `text_merge` texts. A text is split into constructs and lists of items with
their comments and whitespace (`parts`, `lazy_read`). Items are matched by name or content (`keys`,
`matching`, `order`) and merged down to the attributes and inputs of a node (`statement_merge`,
`trivia_merge`). The result is checked for undefined and duplicate names (`text_review`) and written
with conflict markers (`merged_tree`). The merge of the models (`digests`, `model_merge`,
`model_review`) decides whether that text is correct (`acceptance`); if it is not, the merged model
is printed (`conflict_text`, `reprint_comments`).
"""

from __future__ import annotations

from onnxtext.merger.driver import MergeResult, merge

__all__ = ["MergeResult", "merge"]
