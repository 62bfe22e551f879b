"""Errors: classes by kind, and messages that say what to do."""

import pytest

import tracesql


def test_classes():
    for kind in (tracesql.UsageError, tracesql.InputError, tracesql.QueryError):
        assert issubclass(kind, tracesql.Error)
    assert issubclass(tracesql.Error, Exception) and tracesql.Error.__module__ == "tracesql"


def test_paths_that_are_wrong(tmp_path, fixture):
    with pytest.raises(tracesql.InputError, match="not-here.json"):
        tracesql.open("not-here.json")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("x")
    with pytest.raises(tracesql.InputError):
        tracesql.open(tmp_path / "folder")
    (tmp_path / "page.json").write_text("<html>")
    with pytest.raises(tracesql.InputError, match="page.json: .*HTML"):
        tracesql.open(tmp_path / "page.json")
    with pytest.raises(tracesql.InputError, match="in the way"):
        tracesql.ingest(fixture("perf.json"), tmp_path / "page.json")
    with pytest.raises(tracesql.UsageError, match="standard input"):
        tracesql.open("-")


def test_several_inputs_name_each_that_failed(tmp_path, fixture):
    (tmp_path / "page.json").write_text("<html>")
    with pytest.raises(
        tracesql.InputError, match="2 of 3 inputs could not be read:\n.*page.json.*\n.*gone.json"
    ):
        tracesql.ingest(
            [fixture("perf.json"), tmp_path / "page.json", tmp_path / "gone.json"], tmp_path / "s"
        )
    assert len(tracesql.open(tmp_path / "s").trace_ids) == 1, "the others were stored"


def test_a_store_of_another_version(store):
    manifest = store / "tracesql-store.json"
    manifest.write_text(
        manifest.read_text()
        .replace(f'"schema_version":{tracesql.SCHEMA_VERSION}', '"schema_version":1')
        .replace(f'"schema_version": {tracesql.SCHEMA_VERSION}', '"schema_version": 1')
    )
    with pytest.raises(tracesql.InputError, match=r"version 1.*ingest"):
        tracesql.open(store)


def test_strict(fixture, tmp_path):
    with pytest.raises(tracesql.InputError, match="not clean"):
        tracesql.ingest(fixture("nasty.json"), tmp_path / "s", strict=True)
    with pytest.raises(tracesql.InputError, match="not clean"):
        tracesql.open(fixture("nasty.json"), strict=True)


def test_a_store_and_traces_do_not_mix(store, fixture):
    with pytest.raises(tracesql.UsageError, match="either one store, or traces"):
        tracesql.open([store, fixture("perf.json")])


def test_options_that_are_wrong(store):
    with pytest.raises(tracesql.UsageError, match="memory_limit: .*parsecs"):
        tracesql.open(store, memory_limit="12 parsecs")
    with pytest.raises(tracesql.UsageError, match="unknown setting no_such"):
        tracesql.open(store, settings={"no_such": 1})
    with pytest.raises(tracesql.UsageError, match="no_folder"):
        tracesql.open(store, sql="no_folder")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "SELECT name, durr_ns FROM events",
            "no column durr_ns\n  line 1, column 14\n.*\n.*did you mean dur_ns",
        ),
        ("SELECT * FROM kernel", "no table or view kernel\n.*\n.*\n.*did you mean kernels"),
        ("SELECT * FROM zzzzzz", "session.views\\(\\) lists"),
        ("SELECT name FROMM events", "did you mean FROM instead of FROMM"),
        ("SELECT $step", "give it one as sql\\(…, step=VALUE\\)"),
        ("SELECT kernel_typ('x')", "did you mean kernel_type"),
        ("SELECT 1;\nSELECT nope FROM events", "line 2, column 8"),
        ("COPY events TO 'out.parquet'", "COPY|DML"),
        ("SELECT 1 / 0", "division by zero"),
    ],
)
def test_queries_that_fail(gpu, sql, message):
    with pytest.raises(tracesql.QueryError, match=message):
        gpu.sql(sql)


def test_no_sql(gpu):
    with pytest.raises(tracesql.UsageError, match="no SQL"):
        gpu.sql("  ;  ")


def test_missing_tables_by_name(gpu):
    with pytest.raises(tracesql.QueryError, match="did you mean kernels"):
        gpu.table("kernls")


def test_messages_hold_no_control_characters(gpu):
    with pytest.raises(tracesql.QueryError) as error:
        gpu.sql('SELECT "\x1b[31mred" FROM events')
    assert "\x1b" not in str(error.value)


def test_files_that_cannot_be_written(gpu, tmp_path):
    with pytest.raises(tracesql.QueryError, match="cannot write"):
        gpu.pprof(tmp_path / "no" / "such" / "folder.pb.gz")
