"""The pages of `session.ui()`, asked as a browser asks."""

import json
import urllib.error
import urllib.request

import pytest
import tracesql


def ask(pages, path, body=None):
    origin, token = pages.url.split("/#token=")
    request = urllib.request.Request(
        origin + path,
        None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def test_pages_answer_about_the_traces_of_the_session(gpu):
    with gpu.ui(open=False) as pages:
        answer = ask(pages, "/api/query", {"sql": "SELECT count(*) FROM kernels"})
        assert answer["rows"] == [list(gpu.sql("SELECT count(*) FROM kernels").fetchone())]
        assert ask(pages, "/api/tracks")["tracks"]
        assert pages.page("timeline").startswith(pages.url.split("/#")[0] + "/timeline#token=")
        with pytest.raises(urllib.error.HTTPError, match="400"):
            ask(pages, "/api/query", {"sql": "CREATE TABLE t AS SELECT 1"})
        # The session answers meanwhile.
        assert gpu.sql("SELECT 1 AS one").fetchone()[0] == 1
        url = pages.url
    assert pages.closed and url not in repr(pages)
    pages.close()
    with pytest.raises(OSError):
        ask(pages, "/api/state")


def test_two_sessions_have_a_port_each(gpu):
    with gpu.ui(open=False) as one, gpu.ui(open=False) as other:
        assert one.url.split("/#")[0] != other.url.split("/#")[0]
        taken = int(one.url.split("/#")[0].rsplit(":", 1)[1])
        with pytest.raises(tracesql.Error, match="port"):
            gpu.ui(open=False, port=taken)


def test_cells_show_a_link_and_with_an_origin_the_timeline(gpu):
    with gpu.ui(open=False) as pages:
        assert "<iframe" not in pages._repr_html_() and pages.url in pages._repr_html_()
    with gpu.ui(open=False, embed="http://localhost:8888") as pages:
        assert f'<iframe src="{pages.page("timeline")}"' in pages._repr_html_()
        policy = urllib.request.urlopen(pages.url.split("#")[0]).headers["Content-Security-Policy"]
        assert "frame-ancestors http://localhost:8888" in policy
    with pytest.raises(tracesql.UsageError, match="origin"):
        gpu.ui(open=False, embed="javascript:alert(1)")
