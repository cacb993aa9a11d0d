# SPDX-License-Identifier: Apache-2.0
"""Match each item of a model with the item of the other model that corresponds to it."""
