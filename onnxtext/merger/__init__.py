# SPDX-License-Identifier: Apache-2.0
"""Merge models three-way, statement by statement instead of line by line.

The three versions are the base (the common ancestor), ours and theirs. Ours and theirs are also
called the sides.

`merge_files` merges files, and `texts.text_merge` merges texts. A text is split into constructs and
lists of items, each with its comments and whitespace (`text_parts`, `lazy_read`). Items are matched
by name or content (`item_keys`, `match_items`, `item_order`) and merged down to the attributes and
inputs of nodes (`merge_constructs`, `trivia_merge`). The result is checked for semantic conflicts,
such as undefined names (`text_review`), and written (`merged_tree`, `conflict_markers`).
`text_proposal` calls these steps.

The models are merged, too (`models`). If the merged text does not parse to the merged model
(`verify_merged_text`), the text is edited where the models differ (`text_proposal.edit_in_layout`).
If this fails, the merged model is printed instead (`reprint_comments`). If there are conflicts, the
certain renames of each side are applied to the other versions, and the merge is repeated
(`followed_changes`).
"""

from __future__ import annotations

from onnxtext.merger.merge_files import VERSIONS, MergeResult, merge

__all__ = ["VERSIONS", "MergeResult", "merge"]
