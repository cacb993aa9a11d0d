# SPDX-License-Identifier: Apache-2.0
"""The benchmarks: `python -m benchmarks` measures us and our peers, see `README.md`."""
