# SPDX-License-Identifier: Apache-2.0
"""Reduce models to the subset that the official syntax can express, and list the losses.

To reduce a message is to drop the fields and replace the values that this syntax cannot express.
"""
