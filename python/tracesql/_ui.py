"""The pages of ``tracesql ui``, served by a thread of this process."""

from __future__ import annotations

import webbrowser
from html import escape

from . import _native

_FRAME = 'style="width: 100%; height: 80vh; border: 0"'


class Ui:
    """Pages over the traces of a session. Made by :meth:`Session.ui`.

    They end with :meth:`close`, with the ``with`` block, or with the process. The address carries a
    token: whoever has it can query the traces from this machine.
    """

    def __init__(self, server: _native.Server, *, is_embedded: bool):
        self._server = server
        self._is_embedded = is_embedded

    @property
    def url(self) -> str:
        """The address to open in a browser on this machine."""
        return self._server.url

    @property
    def closed(self) -> bool:
        """Whether the pages have ended."""
        return self._server.closed

    def page(self, name: str) -> str:
        """The address of a page: ``timeline``, ``sql``, ``views``, ``stacks``, ``compare`` or
        ``report``."""
        return self.url.replace("/#", f"/{name}#")

    def open(self) -> Ui:
        """Opens the pages in the browser."""
        webbrowser.open(self.url)
        return self

    def close(self) -> None:
        """Ends the pages."""
        self._server.close()

    def __enter__(self) -> Ui:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<tracesql pages: ended>" if self.closed else f"<tracesql pages: {self.url}>"

    def _repr_html_(self) -> str:
        if self.closed:
            return "<p>The pages have ended.</p>"
        link = f'<a href="{escape(self.url)}" target="_blank" rel="noopener">Open the pages</a>'
        if not self._is_embedded:
            return f"<p>{link} (on the machine that runs this notebook)</p>"
        return f'{link}<br><iframe src="{escape(self.page("timeline"))}" {_FRAME}></iframe>'
