"""Threads, and Ctrl-C."""

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

SLOW = "SELECT count(*) FROM events a, events b WHERE a.name || b.name LIKE '%nothing is named so%'"


def test_queries_of_several_threads_give_what_they_give_alone(gpu):
    queries = [
        f"SELECT step, sum(dur_ns) AS ns, {n} AS n FROM kernels GROUP BY step ORDER BY step"
        for n in range(12)
    ]
    alone = [gpu.sql(q).rows() for q in queries]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda q: gpu.sql(q).rows(), queries)) == alone


def test_other_threads_run_while_a_query_runs(gpu):
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    gpu.sql(SLOW)
    end = time.monotonic()
    stop.set()
    thread.join()
    during = [t for t in ticks if start < t < end]
    assert end - start > 0.05, "the query takes long enough to see something"
    assert len(during) > (end - start) / 0.1, f"{len(during)} ticks in {end - start:.2f} s"


CODE = """
import sys, time, tracesql
session = tracesql.open(sys.argv[1])
print("ready", flush=True)
start = time.monotonic()
try:
    session.sql(
        "SELECT count(*) FROM events a, events b, events c, events d "
        "WHERE a.dur_ns + b.dur_ns + c.dur_ns + d.dur_ns = 7"
    )
except KeyboardInterrupt:
    print(f"stopped {time.monotonic() - start:.3f}", flush=True)
print(session.sql("SELECT 1 AS one").scalar(), flush=True)
"""


def test_ctrl_c_stops_a_query_and_the_session_goes_on(fixture):
    child = subprocess.Popen(
        [sys.executable, "-c", CODE, str(fixture("synthetic_gpu_rank0.json.gz"))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    took = time.monotonic() - sent
    lines = out.splitlines()
    assert child.returncode == 0, err
    assert lines[0].startswith("stopped ") and lines[1] == "1", (lines, err)
    assert took < 10, took
