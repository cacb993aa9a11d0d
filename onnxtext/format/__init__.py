# SPDX-License-Identifier: Apache-2.0
"""Format texts in the canonical layout, keeping every comment (SPEC 14).

The methods of writers such as `StatementWriter` return the formatted text of a construct. Their
parameter `indent` is the indentation of the line on which the construct begins; `budget` is the
maximum number of columns of the text if it is written on one line.
"""
