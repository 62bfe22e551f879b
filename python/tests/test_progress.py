"""Progress while traces are read, and what a session shows of itself."""

import io
import pathlib

import pytest

import tracesql
from tracesql import _progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def at_once(monkeypatch):
    """Progress that is shown at each call."""
    monkeypatch.setattr(_progress, "DELAY_S", 0)
    monkeypatch.setattr(_progress, "EVERY_S", 0)


@pytest.fixture
def large(tmp_path):
    """A trace that takes a moment to read."""
    events = ",".join(
        f'{{"ph":"X","name":"e{n % 100}","pid":1,"tid":1,"ts":{n},"dur":1}}' for n in range(400_000)
    )
    path = tmp_path / "large.json"
    path.write_text(f"[{events}]")
    return path


def test_a_terminal_shows_progress_and_clears_it(large, at_once, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    session = tracesql.open(large)
    text = screen.getvalue()
    assert "large.json: " in text and "M events/s" in text and "%" in text
    assert text.endswith("\r\x1b[K"), "the line is gone at the end"
    assert session.sql("SELECT count(*) FROM events").scalar() == 400_000


def test_progress_can_be_turned_off_and_on(large, at_once, monkeypatch, tmp_path):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    tracesql.ingest(large, tmp_path / "a", progress=False)
    assert screen.getvalue() == ""
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    tracesql.ingest(large, tmp_path / "b")
    assert file.getvalue() == "", "a file is no terminal"
    tracesql.ingest(large, tmp_path / "c", progress=True)
    assert "large.json" in file.getvalue()


def test_short_reading_shows_nothing(fixture, monkeypatch, tmp_path):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    tracesql.ingest(fixture("chrome_mixed.json"), tmp_path / "s")
    assert screen.getvalue() == ""


def test_a_notebook_shows_a_line_that_changes(at_once):
    shown = []

    class Handle:
        def update(self, data, **extra):
            shown.append((data, extra))

    def display(data, **extra):
        shown.append((data, extra))
        return Handle()

    progress = _progress._InNotebook(display)
    progress("folder/<b>.json", 1000, 10, 5, 5)
    progress("folder/<b>.json", 2000, 20, 20, 20)
    progress.end()
    assert [set(data) for data, _ in shown] == [{"text/plain", "text/html"}] * 3
    assert all(extra["metadata"] == {"tracesql": "progress"} for _, extra in shown)
    assert "&lt;b&gt;.json" in shown[0][0]["text/html"]
    assert shown[-1][0]["text/plain"].startswith("Reading took ")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"traceEvents": []}, "not dict; write trace events to a file with json.dump"),
        (5, "tracesql.open takes a path .*, or several of them, not int$"),
        (None, "not NoneType"),
        (b"trace.json", "not bytes"),
        ([1], "not int"),
        (["trace.json", None], "not NoneType"),
        (io.StringIO("[]"), "not StringIO; give the path of the file"),
    ],
)
def test_what_is_no_path_is_a_type_error(value, message):
    with pytest.raises(TypeError, match=message):
        tracesql.open(value)


def test_all_kinds_of_paths_open(fixture):
    path = fixture("chrome_mixed.json")
    ids = tracesql.open(str(path)).trace_ids
    for paths in (path, pathlib.PurePath(path), [path], (str(path),), iter([path])):
        assert tracesql.open(paths).trace_ids == ids
    with pytest.raises(tracesql.UsageError, match="no path is given"):
        tracesql.open([])
    with pytest.raises(TypeError, match="store= takes a path .*, not int"):
        tracesql.ingest(path, 5)


def test_a_session_says_what_it_holds(gpu, store, fixture):
    (trace,) = gpu.trace_ids
    assert repr(gpu) == (
        f"<tracesql.Session: {trace}, rank 0, 3,518 events, 359 kernels, 4 steps, "
        "2 devices listed, 19.723 ms>"
    )
    both = tracesql.open(store)
    assert repr(both) == (
        "<tracesql.Session: 2 traces, ranks 0–1, 7,036 events, 718 kernels, 4 steps each, "
        "2 devices listed each, up to 19.723 ms>"
    )
    html = both._repr_html_()
    assert html.count("<tr>") == 3 and "3,518" in html and "synthetic_gpu_rank1.json.gz" in html
    assert "kernels" not in repr(tracesql.open(fixture("chrome_mixed.json")))
