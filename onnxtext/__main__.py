# SPDX-License-Identifier: Apache-2.0
"""Run the command `onnxtext` as `python -m onnxtext`."""

from onnxtext.cli.main import main

if __name__ == "__main__":
    main()
