# SPDX-License-Identifier: Apache-2.0
"""Calculate with symbolic sizes such as `2*seq`."""
