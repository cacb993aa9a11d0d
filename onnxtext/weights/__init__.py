# SPDX-License-Identifier: Apache-2.0
"""Read and write weights outside of a text: stores, safetensors, numpy files, external data."""
