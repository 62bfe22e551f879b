"""Values for parameters: by name, by position, and lists."""

import pytest

import tracesql

COUNT = "SELECT count(*) FROM kernels WHERE step "


def test_values_by_name_come_as_keywords_or_as_a_dict(gpu):
    sql = "SELECT $a AS a, $b AS b"
    assert gpu.sql(sql, a=1, b="x").rows() == gpu.sql(sql, {"a": 1, "b": "x"}).rows()
    assert gpu.sql(sql, params={"$a": 1, "b": "x"}).rows() == [(1, "x")]
    assert gpu.sql("SELECT $params AS p", params="mine").scalar() == "mine"


def test_values_by_position_are_for_marks_and_numbers(gpu):
    assert gpu.sql("SELECT ? AS a, '?' AS b, ? AS c -- ?", [1, "x"]).rows() == [(1, "?", "x")]
    assert gpu.sql("SELECT $2 AS a, $1 AS b", (1, "x")).rows() == [("x", 1)]
    assert gpu.sql(COUNT + "BETWEEN ? AND ?", [10, 11]).scalar() > 0
    with pytest.raises(tracesql.UsageError, match="2 × [?], but 1 values"):
        gpu.sql("SELECT ?, ?", [1])
    with pytest.raises(tracesql.UsageError, match="1 × [?], but 0 values"):
        gpu.sql("SELECT ?")
    with pytest.raises(TypeError, match="not as int; write \\[value\\]"):
        gpu.sql("SELECT ?", 1)


@pytest.mark.parametrize(
    "form", ["IN $steps", "IN ($steps)", "in  /* c */ $steps", "= ANY($steps)"]
)
def test_a_list_is_several_values(gpu, form):
    expected = gpu.sql(COUNT + "IN (10, 11)").scalar()
    assert expected > 0
    for steps in ([10, 11], (10, 11), {10, 11}, range(10, 12)):
        assert gpu.sql(COUNT + form, steps=steps).scalar() == expected
    assert gpu.sql(COUNT + form.replace("$steps", "?"), [[10, 11]]).scalar() == expected


def test_lists_in_other_places_are_arrays(gpu):
    assert gpu.sql("SELECT array_has($l, 'b') AS b, $l AS l", l=["a", "b"]).rows() == [
        (True, ["a", "b"])
    ]
    everything = gpu.sql(COUNT + "IS NOT NULL").scalar()
    assert gpu.sql(COUNT + "IN $none", none=[]).scalar() == 0
    assert gpu.sql(COUNT + "IS NOT NULL AND step NOT IN $none", none=[]).scalar() == everything
    assert gpu.sql(COUNT + "IN $steps", steps=[10] * 5000 + [11]).scalar() == (
        gpu.sql(COUNT + "IN (10, 11)").scalar()
    )


def test_arrays_and_series_are_lists(gpu):
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    expected = gpu.sql(COUNT + "IN (10, 11)").scalar()
    for steps in (
        numpy.array([10, 11]),
        pandas.Series([10, 11]),
        pl.Series([10, 11]),
        pa.array([10, 11]),
    ):
        assert gpu.sql(COUNT + "IN $steps", steps=steps).scalar() == expected


def test_errors_keep_their_place_and_are_short(gpu):
    with pytest.raises(tracesql.QueryError, match="line 2, column 7") as error:
        gpu.sql("SELECT nope\nWHERE nope IN $l", l=list(range(10000)))
    assert len(str(error.value)) < 500
    with pytest.raises(tracesql.UsageError, match=r"\$l\[1\]|\$l: a dict cannot be a value"):
        gpu.sql("SELECT 1 IN $l", l=[1, {}])


def test_a_query_is_a_text(gpu):
    with pytest.raises(TypeError, match="a query is a text, not list"):
        gpu.sql(["SELECT 1"])
