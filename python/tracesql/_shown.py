"""Texts, pages and pictures that show themselves."""

from __future__ import annotations

import os
from html import escape
from urllib.parse import quote


class Text(str):
    """A text that shows itself as it is, also without ``print``."""

    markdown: str | None = None

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str | None:
        return self.markdown


_FRAME = 'sandbox="allow-scripts allow-downloads" style="width: 100%; height: 80vh; border: 0"'


class Page(str):
    """An HTML page: its text, which a notebook shows in a frame."""

    what = "report"

    def __repr__(self) -> str:
        return f"<tracesql {self.what}: {len(self):,} characters of HTML>"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self)}" {_FRAME}></iframe>'


class Picture(str):
    """A picture in SVG: its text, which a notebook shows."""

    def __repr__(self) -> str:
        return f"<tracesql flame graph: {len(self):,} characters of SVG>"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self)}" {_FRAME}></iframe>'


class File(str):
    """The path of a file that was written. A notebook shows a link.

    Pages and pictures in or below the folder of the notebook are also shown, from the file, so that
    the notebook does not hold them a second time.
    """

    def __repr__(self) -> str:
        return f"<tracesql file: {self}>"

    def _repr_html_(self) -> str:
        near = os.path.relpath(self)
        if near.startswith(os.pardir) or os.path.isabs(near):
            return f"<code>{escape(self)}</code>"
        place = escape(quote(near.replace(os.sep, "/")))
        link = f'<a href="{place}" target="_blank">{escape(near)}</a>'
        if near.lower().endswith((".html", ".htm", ".svg")):
            return f'{link}<br><iframe src="{place}" {_FRAME}></iframe>'
        return link
