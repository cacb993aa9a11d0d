# SPDX-License-Identifier: Apache-2.0
"""Models reduced to what the official syntax can say."""
