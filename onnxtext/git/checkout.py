# SPDX-License-Identifier: Apache-2.0
"""`onnxtext git checkout`: convert texts in the working tree back to binary models.

In a clone made before the filter was installed, `.onnx` files contain texts. A file also contains a
text after a conflict in it was resolved. Git considers both kinds of files unmodified, and does not
check them out again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from onnxtext.git.clean_smudge import clean, model_limit, smudge
from onnxtext.git.repository import read_tracked, run_git
from onnxtext.git.verification import read_objects, tracked_models
from onnxtext.io.files import write_atomically
from onnxtext.io.text_or_binary import has_binary_content


@dataclass(frozen=True, slots=True)
class CheckoutResult:
    """The result for a file that contained a text instead of a binary model.

    Attributes:
        path: the path relative to the top of the working tree.
        problems: why the text was not replaced; empty if it was replaced.
    """

    path: str
    problems: tuple[str, ...] = ()


def check_out(top: Path) -> list[CheckoutResult]:
    """Convert texts to binary models in the files to which the filter applies; update git's index.

    A text is replaced only if git stores this text, or the filter's output for it. So nothing is
    lost.

    Returns:
        A result for each text that was found, replaced or not.

    Raises:
        OnnxTextError: git fails, `onnxtext.maxSize` is invalid, or a file or object cannot be read.
        OSError: a file cannot be written.
    """
    results = []
    limit = model_limit()
    with read_objects(top) as read:
        for file in tracked_models(top):
            text = read_tracked(top, file.path) if file.filtered else None
            if not text or has_binary_content(text):
                continue
            stored = read(file.object)
            if text != stored and clean(text, name=file.path).data != stored:
                problem = "its text differs from the version in git: run `git add` first"
                results.append(CheckoutResult(file.path, (problem,)))
                continue
            converted = smudge(stored, limit=limit)
            if converted.data is None:
                results.append(CheckoutResult(file.path, converted.warnings))
                continue
            write_atomically(top / file.path, converted.data)
            results.append(CheckoutResult(file.path))
    replaced = "".join(f"{result.path}\0" for result in results if not result.problems)
    if replaced:
        # Refresh the index: git has recorded the size of the text, so the file would seem modified.
        listing = replaced.encode("utf-8", "surrogateescape")
        run_git("-C", str(top), "update-index", "-z", "--stdin", stdin=listing)
    return results
