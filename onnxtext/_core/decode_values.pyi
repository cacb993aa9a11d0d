# SPDX-License-Identifier: Apache-2.0
KEYS: dict[str, int]
