# SPDX-License-Identifier: Apache-2.0
"""Read and replace files safely; distinguish texts from binary models; manage memory."""
