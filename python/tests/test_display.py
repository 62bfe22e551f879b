"""How results show themselves."""

import pytest

import tracesql


def test_texts_are_bounded(gpu):
    few = gpu.sql("SELECT 1 AS a, 'x' AS b")
    assert (
        repr(few).splitlines()[-1] == "1 row" and "│ 1 ┆ x │" in repr(few) and str(few) == repr(few)
    )
    many = gpu.sql("SELECT * FROM events")
    lines = repr(many).splitlines()
    assert lines[-1] == f"the first 20 of {len(many):,} rows"
    assert 20 < len(lines) < 32
    assert "--format" not in repr(many) and ".columns has all names)" in lines[-2]


def test_html_is_bounded_and_escaped(gpu):
    many = gpu.sql("SELECT * FROM events")
    html = many._repr_html_()
    assert html.count("<tr>") == 51 and f"the first 50 of {len(many):,} rows" in html
    assert len(html) < 1_000_000
    hostile = gpu.sql(
        "SELECT '</td><script>alert(1)</script>' AS \"<b>\", repeat('x', 100000) AS long, "
        "'\x1b[31m' AS esc, NULL AS n"
    )
    html = hostile._repr_html_()
    assert "<script>" not in html and "<b>" not in html and "&lt;script&gt;" in html
    assert len(html) < 2000 and "\x1b" not in html and "\\x1b" in html and ">NULL<" in html


def test_magics(fixture):
    testing = pytest.importorskip("IPython.testing.globalipapp", reason="IPython is not installed")
    shell = testing.start_ipython() or testing.get_ipython()
    shell.run_line_magic("load_ext", "tracesql")
    with pytest.raises(tracesql.UsageError, match="no traces are open"):
        shell.run_cell_magic("tracesql", "", "SELECT 1")
    session = shell.run_line_magic("tracesql", f"'{fixture('synthetic_gpu_rank0.json.gz')}'")
    assert isinstance(session, tracesql.Session)
    shell.user_ns["least"] = 11
    result = shell.run_cell_magic(
        "tracesql", "", "SELECT min(step) FROM kernels WHERE step >= $least"
    )
    assert result.scalar() == 11
    assert shell.run_cell_magic("tracesql", "found", "SELECT 7 AS x") is None
    assert shell.user_ns["found"].scalar() == 7
    shell.user_ns["mine"] = session
    assert shell.run_line_magic("tracesql", "mine") is session
    with pytest.raises(tracesql.UsageError, match="not a name for a variable"):
        shell.run_cell_magic("tracesql", "two words", "SELECT 1")


def test_errors_in_a_cell_are_their_message_alone(fixture, capsys):
    testing = pytest.importorskip("IPython.testing.globalipapp", reason="IPython is not installed")
    shell = testing.start_ipython() or testing.get_ipython()
    shell.run_line_magic("load_ext", "tracesql")
    shell.run_line_magic("tracesql", f"'{fixture('synthetic_gpu_rank0.json.gz')}'")
    capsys.readouterr()
    shell.run_cell("%%tracesql\nSELECT nope\nFROM kernels")
    shown = capsys.readouterr()
    lines = (shown.out + shown.err).strip().splitlines()
    assert lines[0].startswith("QueryError: there is no column nope") and "^" in "".join(lines)
    assert len(lines) < 8 and not any("Traceback" in line or ".py" in line for line in lines)


def test_a_cell_names_data_frames(fixture):
    testing = pytest.importorskip("IPython.testing.globalipapp", reason="IPython is not installed")
    pandas = pytest.importorskip("pandas")
    shell = testing.start_ipython() or testing.get_ipython()
    shell.run_line_magic("load_ext", "tracesql")
    shell.run_line_magic("tracesql", f"'{fixture('synthetic_gpu_rank0.json.gz')}'")
    shell.user_ns["mine"] = pandas.DataFrame({"x": [1, 2]})
    assert shell.run_cell_magic("tracesql", "", "SELECT sum(x) FROM mine").scalar() == 3
