"""The queries of the dashboard, as Grafana sends them. Usage: grafana.py PART PORT FOLDER"""

import json
import pathlib
import re
import sys

import psycopg

ROOT = pathlib.Path(__file__).resolve().parents[5]
DASHBOARD = ROOT / "deploy/grafana/dashboards/traces.json"
# Panels that have no row for a trace of the host alone.
MAY_BE_EMPTY = {"Findings"}


def expanded(sql, traces):
    """The text with the macros and variables of Grafana filled in."""
    listed = ",".join("'" + trace.replace("'", "''") + "'" for trace in traces)
    sql = sql.replace("${trace:sqlstring}", listed)
    start, end = "'2020-01-01T00:00:00Z'", "'2030-01-01T00:00:00Z'"
    while (at := sql.find("$__timeFilter(")) >= 0:
        open_at = at + len("$__timeFilter")
        depth = 0
        for close, letter in enumerate(sql[open_at:], open_at):
            depth += {"(": 1, ")": -1}.get(letter, 0)
            if depth == 0:
                break
        column = sql[open_at + 1 : close]
        sql = f"{sql[:at]}{column} BETWEEN {start} AND {end}{sql[close + 1 :]}"
    assert not re.search(r"\$__|\$\{", sql), sql
    return sql


def dashboard():
    text = json.loads(DASHBOARD.read_text())
    where = f"host=127.0.0.1 port={sys.argv[2]} user=grafana dbname=tracesql"
    with psycopg.connect(where, autocommit=True) as c:
        variable = text["templating"]["list"][0]
        traces = [row[0] for row in c.execute(variable["query"]).fetchall()]
        assert len(traces) == 1, traces
        for panel in text["panels"]:
            for target in panel["targets"]:
                assert target["datasource"]["uid"] == "tracesql"
                cursor = c.execute(expanded(target["rawSql"], traces))
                rows = cursor.fetchall()
                names = [column.name for column in cursor.description]
                assert rows or panel["title"] in MAY_BE_EMPTY, panel["title"]
                if target["format"] == "time_series":
                    assert cursor.description[0].type_code in (1114, 1184), panel["title"]
                if panel["type"] in ("trend", "barchart"):
                    assert panel["options"]["xField"] in names, panel["title"]
                if panel["type"] == "trend":
                    column = [row[names.index(panel["options"]["xField"])] for row in rows]
                    known = [x for x in column if x is not None]
                    assert known == sorted(set(known)) and len(known) == len(column), panel


globals()[sys.argv[1]]()
print("ok")
