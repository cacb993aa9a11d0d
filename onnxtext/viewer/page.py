# SPDX-License-Identifier: Apache-2.0
"""Build a page: HTML with style, scripts and data in one file, which loads nothing else.

The data is compressed JSON in base64, so no content of a model can act as markup. The content
security policy forbids network connections. It allows only the scripts and the style of this
package, which it lists by digest.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from onnxtext.diagnostics.terminal_text import escape_controls
from onnxtext.show_model.annotate_text import escape_controls_in_lines

BEGINNING = "<!DOCTYPE html>\n<!-- onnxtext view -->\n"
"""The beginning of each page."""

_ASSETS = Path(__file__).parent / "assets"
# The icon shows three nodes. It is embedded, so that browsers do not request an icon file.
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Cpath d='M4 4v8h8' fill='none' stroke='%238b949e' stroke-width='2'/%3E"
    "%3Ccircle cx='4' cy='4' r='3' fill='%234f8cff'/%3E"
    "%3Ccircle cx='4' cy='12' r='3' fill='%2357ab5a'/%3E"
    "%3Ccircle cx='12' cy='12' r='3' fill='%23d2873a'/%3E%3C/svg%3E"
)
_NOTICE = (
    "The layout of the graph is elkjs (https://github.com/kieler/elkjs), EPL-2.0; its source is at "
    "that address. Everything else is onnxtext, Apache-2.0."
)


def page(data: dict[str, Any], title: str) -> str:
    """Return the HTML of a page."""
    script, style = _asset("page.js"), _asset("page.css")
    policy = "; ".join([
        "default-src 'none'",
        f"script-src '{_digest(script)}'",
        f"style-src '{_digest(style)}'",
        "worker-src blob:",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ])  # fmt: skip
    return f"""\
{BEGINNING}<!-- {_NOTICE} -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="{_ICON}">
<title>{escape(escape_controls(title))}</title>
<style>{style}</style>
</head>
<body>
<noscript>This page needs JavaScript; it loads nothing from the network.</noscript>
<script type="text/plain" id="model">{_pack(_json(data))}</script>
<script type="text/plain" id="layout">{_layout_script()}</script>
<script>{script}</script>
</body>
</html>
"""


def _json(data: dict[str, Any]) -> bytes:
    """Encode the data; escape invisible characters except in the texts (`text` and `old`)."""
    texts = {key: data[key] for key in ("text", "old")}
    others = {key: value for key, value in data.items() if key not in texts}
    if not json.dumps(others, ensure_ascii=False).isprintable():
        others = _visible(others)
    # JSON in ASCII can also represent lone surrogates, from names that are not UTF-8.
    return json.dumps({**others, **texts}, separators=(",", ":")).encode("ascii")


def _visible(value: Any) -> Any:
    """In all strings, escape characters that are invisible or control the text direction."""
    if isinstance(value, str):
        return escape_controls_in_lines(value)
    if isinstance(value, dict):
        return {_visible(key): _visible(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_visible(item) for item in value]
    return value


def _pack(data: bytes) -> str:
    return b64encode(gzip.compress(data, 6, mtime=0)).decode("ascii")


@cache
def _layout_script() -> str:
    return _pack((_ASSETS / "layout.js").read_bytes())


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode('ascii')}"
