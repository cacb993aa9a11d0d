# SPDX-License-Identifier: Apache-2.0
"""Write an edited model into its text, keeping comments, layout and spelling of the rest."""
