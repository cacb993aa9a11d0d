# SPDX-License-Identifier: Apache-2.0
"""Run the rules and report their findings: spans, fixes, suppressions, settings."""
