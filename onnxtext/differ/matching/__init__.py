# SPDX-License-Identifier: Apache-2.0
"""Match the items of two models that correspond to each other."""
