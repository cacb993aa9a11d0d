# SPDX-License-Identifier: Apache-2.0
"""`python -m onnxtext` is the command `onnxtext`."""

from onnxtext.cli.main import main

if __name__ == "__main__":
    main()
