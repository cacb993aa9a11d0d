# SPDX-License-Identifier: Apache-2.0
"""Make schema files from the operator schemas of packages."""
