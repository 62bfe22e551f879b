"""Checks, comparisons, exports and pictures: what the commands of the program do."""

import json

import pytest

import tracesql


@pytest.fixture(scope="module")
def other(fixture, cache):
    """A session over the other rank."""
    return tracesql.open(fixture("synthetic_gpu_rank1.json.gz"))


@pytest.fixture
def quiet():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tracesql.TraceWarning)
        yield


def test_findings_are_rows_worst_first(gpu):
    found = gpu.findings()
    assert len(found) > 0 and all(row.message and row.evidence for row in found)
    order = ["high", "medium", "low", "info"]
    places = [order.index(row.severity) for row in found]
    assert places == sorted(places)
    expected = gpu.sql("SELECT count(*) FROM findings WHERE status = 'finding'").scalar()
    assert len(found) == expected
    medium = gpu.findings(severity="medium")
    assert {row.severity for row in medium} <= {"high", "medium"} and len(medium) < len(found)
    rule = found[0].rule
    assert {row.rule for row in gpu.findings(rule=rule)} == {rule}
    with pytest.raises(tracesql.UsageError, match='severity "worst" is unknown'):
        gpu.findings(severity="worst")


def test_a_check_is_true_if_it_passed(gpu, tmp_path):
    passed = gpu.check(rules="gpu_idle", severity="high", save_baseline=tmp_path / "base.json")
    assert passed and passed.passed and passed.status == "passed" and passed.failed == []
    again = gpu.check(skip="all", baseline=tmp_path / "base.json")
    assert again, "nothing changed since the baseline"
    assert again.counts["passed"] > 10
    failed = gpu.check(severity="info")
    assert not failed and failed.status == "failed"
    assert {check["status"] for check in failed.failed} == {"failed"}
    names = {(check["name"], check["trace"]) for check in failed.failed}
    assert len(names) == failed.counts["failed"], "a rule may have several results for a trace"
    assert "failed" in repr(failed) and str(failed) == repr(failed)
    failed.write(tmp_path / "check.xml")
    assert (tmp_path / "check.xml").read_text().startswith("<?xml")
    failed.write(tmp_path / "check.out", format="github")
    with pytest.raises(tracesql.UsageError, match="check.pdf: the name says no format"):
        failed.write(tmp_path / "check.pdf")
    with pytest.raises(tracesql.UsageError, match="there is no rule of that name"):
        gpu.check(rules=["gpu_idel"])
    with pytest.raises(tracesql.UsageError, match="nothing to check"):
        gpu.check(skip="all")


def test_a_check_compares_with_another_session_and_runs_assertions(gpu, other, fixture, tmp_path):
    from_session = gpu.check(skip="all", baseline=other)
    from_path = gpu.check(skip="all", baseline=fixture("synthetic_gpu_rank1.json.gz"))
    assert from_session.counts == from_path.counts and from_session.counts["failed"] > 0
    file = tmp_path / "assertions.sql"
    file.write_text("-- name: no kernels\nSELECT name FROM kernels;\n")
    verdict = gpu.check(skip=["all"], assertions=file, max_rows=2)
    assert [check["name"] for check in verdict.failed] == ["no kernels"]
    with pytest.raises(tracesql.InputError, match="gone.sql"):
        gpu.check(assertions=[tmp_path / "gone.sql"])


def test_a_comparison_has_rows_and_pages(gpu, other, fixture, tmp_path):
    comparison = gpu.compare(other, by=["step", "op"])
    assert comparison and comparison.failures == []
    rows = comparison.rows
    assert {row["dimension"] for row in rows} == {"step", "op"}
    assert comparison.html().startswith("<!") and "<iframe" in comparison.html()._repr_html_()
    assert str(comparison) == repr(comparison) == str(comparison.text())
    assert comparison.markdown().startswith("#") or "|" in comparison.markdown()
    assert len(comparison.text(limit=1)) < len(comparison.text(limit=0))
    comparison.write(tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text())["rows"] == rows
    failing = tracesql.compare(gpu, fixture("synthetic_gpu_rank1.json.gz"), fail_on="op:0%")
    assert not failing and failing.failures[0][0] == "op:0%"
    with pytest.raises(tracesql.UsageError, match='by "ops" is unknown; use one of step'):
        gpu.compare(other, by="ops")
    with pytest.raises(tracesql.UsageError, match="must be BY:PCT%"):
        gpu.compare(other, fail_on="step:lots")


def test_exports_by_the_name_of_the_file(gpu, tmp_path, quiet):
    written = gpu.export(tmp_path / "step.json.gz", step=11, findings=True)
    assert list(written) == [str(tmp_path / "step.json.gz")]
    again = tracesql.open(tmp_path / "step.json.gz")
    assert again.sql("SELECT count(*) FROM kernels").scalar() == (
        gpu.sql("SELECT count(*) FROM kernels WHERE step = 11").scalar()
    )
    tables = gpu.export(tmp_path / "tables", format="parquet", views=["kernels", "operators"])
    assert tables == {
        str(tmp_path / "tables" / f"{name}.parquet"): len(gpu.table(name))
        for name in ("kernels", "operators")
    }
    one = gpu.export(tmp_path / "q.csv", sql="SELECT 1 AS a UNION ALL SELECT 2")
    assert one == {str(tmp_path / "q.csv"): 2}
    gpu.export(tmp_path / "s.folded", step=11)
    assert (tmp_path / "s.folded").read_text() == gpu.folded(step=11)
    with pytest.raises(tracesql.UsageError, match="x.xlsx: the name says no format"):
        gpu.export(tmp_path / "x.xlsx")
    with pytest.raises(tracesql.UsageError, match="findings, counters and critical_path are for"):
        gpu.export(tmp_path / "x.csv", findings=True)
    with pytest.raises(tracesql.UsageError, match="no trace has rank 7; recorded ranks: 0"):
        gpu.export(tmp_path / "x.json", rank=7)
    with pytest.raises(tracesql.UsageError, match="holds|is no perf.json|not a perf.json"):
        gpu.export(tmp_path / "x.json", format="perf-json")


def test_traces_are_chosen_by_id_prefix_or_path(store, tmp_path):
    both = tracesql.open(store)
    ids = both.trace_ids
    for name in (ids[1], ids[1][:-3], "synthetic_gpu_rank1.json.gz"):
        both.export(tmp_path / "one.json", trace=name)
        one = tracesql.open(tmp_path / "one.json")
        assert one.traces()[0].rank == 1
    with pytest.raises(tracesql.UsageError, match="ambiguous: 2 traces match"):
        both.export(tmp_path / "one.json", trace="synthetic")
    with pytest.raises(tracesql.UsageError, match='there is no trace "nothing"'):
        both.report("text", trace=["nothing"])
    traces = json.loads(both.report("json", trace=ids[0]))["traces"]
    assert [t["trace_id"] for t in traces] == [ids[0]]


def test_pictures_and_profiles(gpu, other, tmp_path, quiet):
    picture = gpu.flamegraph(measure="gpu", step=11, title="Step 11")
    assert picture.startswith("<?xml") or picture.startswith("<svg")
    assert "Step 11" in picture and "<iframe" in picture._repr_html_()
    file = gpu.flamegraph(tmp_path / "diff.svg", base=other)
    assert file == str(tmp_path / "diff.svg") and "<svg" in (tmp_path / "diff.svg").read_text()
    assert gpu.folded(measure="gpu").splitlines()
    gpu.speedscope(tmp_path / "s.json")
    assert "profiles" in json.loads((tmp_path / "s.json").read_text())
    gpu.pprof(tmp_path / "p.pb.gz", rule="self", by_thread=True)
    assert "ProfilerStep*" in gpu.folded() and "ProfilerStep#11" not in gpu.folded()
    assert "ProfilerStep#11" in gpu.folded(merge_steps=False)
    assert len(gpu.folded(measure="gpu", full_names=True)) > len(gpu.folded(measure="gpu"))
    with pytest.raises(tracesql.UsageError, match='rule "selves" is unknown; use one of linked'):
        gpu.folded(rule="selves")
    with pytest.raises(tracesql.UsageError, match="measure"):
        gpu.flamegraph(measure="joules")


def test_one_warning_a_call(gpu, tmp_path):
    import warnings

    from tracesql import _calls

    with pytest.warns(tracesql.TraceWarning) as seen:
        _calls.warn(["first note", "second note"])
    assert len(seen) == 1 and seen[0].filename == __file__
    assert str(seen[0].message) == "2 warnings:\n  first note\n  second note"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        gpu.pprof(tmp_path / "p.pb.gz")
    assert len(seen) <= 1 and all(w.filename == __file__ for w in seen)


def test_an_open_trace_is_not_written_over(fixture, tmp_path):
    path = tmp_path / "mine.json"
    path.write_bytes(fixture("chrome_mixed.json").read_bytes())
    session = tracesql.open(path)
    with pytest.raises(tracesql.UsageError, match="would be written over .*mine.json"):
        session.export(path)
    assert path.read_bytes() == fixture("chrome_mixed.json").read_bytes()


def test_files_show_themselves_as_links(gpu, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b").mkdir()
    page = gpu.report(path="a b/report.html")
    html = page._repr_html_()
    assert '<a href="a%20b/report.html"' in html and '<iframe src="a%20b/report.html"' in html
    assert len(html) < 500 and repr(page) == "<tracesql file: a b/report.html>"
    assert "<iframe" not in gpu.report(path="r.md")._repr_html_()
    monkeypatch.chdir(tmp_path / "a b")
    assert gpu.report(path=tmp_path / "r.html")._repr_html_().startswith("<code>")
    with pytest.raises(tracesql.UsageError, match="r.pdf: the name says no format"):
        gpu.report(path=tmp_path / "r.pdf")
