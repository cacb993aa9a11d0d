# SPDX-License-Identifier: Apache-2.0
"""Read schema files, and make them from the operator schemas of packages."""
