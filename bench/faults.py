#!/usr/bin/env python3
"""Do to a store what machines do to stores, many times, and look whether anything stored was lost.

    bench/faults.py PROGRAM [--kills N] [--damages N] [--seconds N] [--seed N] [--only NAME…]

PROGRAM is a tracesql binary. Everything happens in a temporary folder. Each check prints one line:
what was done, how often, and the outcome. The exit code is 1 if anything was lost or a wrong answer
looked right. A full disk needs root (a small tmpfs is mounted); without root it is skipped, and the
output says so. Standard library only.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUMS = (
    "SELECT count(*) AS n, sum(dur_ns) AS dur, sum(length(args)) AS args, sum(event_id) AS ids "
    "FROM events"
)
FAILURES = []


class Place:
    """A folder with a small trace that is stored, and a large one that is being stored."""

    def __init__(self, program, folder, megabytes=24):
        self.program, self.folder = program, Path(folder)
        self.store = self.folder / "store"
        self.small = ROOT / "fixtures" / "synthetic_gpu_rank0.json.gz"
        self.large = self.folder / "large.json"
        subprocess.run(
            ["python3", ROOT / "bench" / "make_trace.py", self.large, "--size", f"{megabytes}MB"],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.ingest(self.small).check_returncode()
        self.small_sums = self.sums("trace_id LIKE 'synthetic%'")

    def command(self, *args, **more):
        more = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
            "env": os.environ | {"NO_COLOR": "1"},
        } | more
        return subprocess.run([self.program, *map(str, args)], **more)

    def ingest(self, *inputs, store=None, **more):
        return self.command("ingest", *inputs, "-o", store or self.store, "-q", **more)

    def query(self, sql, store=None, **more):
        return self.command("query", store or self.store, "--format", "csv", "-c", sql, **more)

    def sums(self, condition="true"):
        done = self.query(f"{SUMS} WHERE {condition}")
        done.check_returncode()
        return done.stdout.splitlines()[1]

    def doctor(self, store=None):
        done = self.command("doctor", store or self.store, "--format", "json")
        return done.returncode, json.loads(done.stdout) if done.stdout else {
            "problems": [{"code": "none", "what": done.stderr}]
        }

    def traces(self):
        return sum(1 for p in self.store.iterdir() if (p / "manifest.json").is_file())

    def leftovers(self):
        return sum(1 for p in self.store.iterdir() if p.name.startswith(".tmp-"))

    def remove_large(self):
        names = [p.name for p in self.store.iterdir() if p.name.startswith("large")]
        self.command("remove", self.store, *names).check_returncode()


def check(condition, what):
    if not condition:
        FAILURES.append(what)
        print(f"  LOST: {what}", flush=True)


def say(what, counts):
    print(f"{what}: " + ", ".join(f"{n} {name}" for name, n in sorted(counts.items())), flush=True)


def kills(place, rng, number):
    """kill -9 at random moments; the store must be sound each time, and the next run must
    finish."""
    start = time.monotonic()
    place.ingest(place.large).check_returncode()
    whole = time.monotonic() - start
    large_sums = place.sums("trace_id LIKE 'large%'")
    place.remove_large()
    counts = Counter()
    for i in range(number):
        replace = rng.random() < 0.3
        if replace and place.traces() == 1:
            place.ingest(place.large).check_returncode()
        before = place.traces()
        child = subprocess.Popen(
            [
                place.program,
                "ingest",
                place.large,
                "-o",
                place.store,
                "-q",
                *(["--replace"] if replace else []),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(rng.random() * whole * 1.05)
        child.send_signal(signal.SIGKILL)
        counts["killed" if child.wait() == -signal.SIGKILL else "finished before"] += 1
        counts["left a folder"] += place.leftovers() > 0
        counts["while replacing"] += replace
        code, found = place.doctor()
        check(code == 0, f"kill {i}: {found['problems']}")
        check(place.traces() >= before, f"kill {i}: a trace went away")
        check(
            place.sums("trace_id LIKE 'synthetic%'") == place.small_sums,
            f"kill {i}: the trace that was there changed",
        )
        if place.traces() == 2:
            check(
                place.sums("trace_id LIKE 'large%'") == large_sums,
                f"kill {i}: half a trace can be seen",
            )
            counts["was committed"] += 1
            place.remove_large()
    place.ingest(place.large).check_returncode()
    check(place.leftovers() == 0, "leftovers stay")
    check(
        place.sums("trace_id LIKE 'large%'") == large_sums,
        "the run after the kills stored something else",
    )
    place.remove_large()
    say(f"kill -9 while a trace is read, {number} times", counts)


def short_kills(place, rng, number):
    """kill -9 where an ingest is over in no time, so that many hit its first and last moments;
    nothing must stay for good."""
    start = time.monotonic()
    place.ingest(place.small, "--replace").check_returncode()
    whole = time.monotonic() - start
    counts = Counter()
    for _ in range(number):
        child = subprocess.Popen(
            [place.program, "ingest", place.small, "--replace", "-o", place.store, "-q"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(rng.random() * whole * 1.3)
        child.send_signal(signal.SIGKILL)
        counts["killed" if child.wait() == -signal.SIGKILL else "finished before"] += 1
        counts["left a folder"] += place.leftovers() > 0
        counts["left it without a lock"] += any(
            not (p / "lock").exists() for p in place.store.glob(".tmp-*")
        )
    place.ingest(place.small, "--replace").check_returncode()
    left = [p.name for p in place.store.glob(".tmp-*")]
    check(not left, f"leftovers stay: {left}")
    code, found = place.doctor()
    check(code == 0, f"{found['problems']}")
    check(
        place.sums("trace_id LIKE 'synthetic%'") == place.small_sums,
        "the trace that was there changed",
    )
    say(f"kill -9 while a short trace is replaced, {number} times", counts)


def unmount(mount):
    """The system may hold on to a disk for a moment after the processes that used it have ended."""
    for _ in range(50):
        if subprocess.run(["umount", mount], stderr=subprocess.DEVNULL).returncode == 0:
            return
        time.sleep(0.1)
    subprocess.run(["umount", mount], check=True)


def full_disk(place, rng, number):
    """Disks of many sizes that fill up; the input must not be called damaged, and half of it not be
    stored."""
    if os.geteuid() != 0:
        print("full disk: skipped, a tmpfs can be mounted by root only")
        return
    mount = place.folder / "disk"
    mount.mkdir()
    packed = place.folder / "large.json.gz"
    subprocess.run(f"gzip -1 -c {place.large} > {packed}", shell=True, check=True)
    place.ingest(place.large).check_returncode()
    large_sums = place.sums("trace_id LIKE 'large%'")
    place.remove_large()
    counts = Counter()
    for i in range(number):
        size = rng.randrange(300, 26_000)
        if (
            subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", mount],
                stderr=subprocess.DEVNULL,
            ).returncode
            != 0
        ):
            print("full disk: skipped, no tmpfs can be mounted here")
            return
        try:
            store = mount / "store"
            first = place.ingest(place.small, store=store)
            done = place.ingest(packed if i % 2 else place.large, store=store)
            if done.returncode == 0:
                counts["had room"] += 1
                got = place.query(
                    f"{SUMS} WHERE trace_id LIKE 'large%'", store=store
                ).stdout.splitlines()[1]
                check(got == large_sums, f"{size} KiB: stored, but not whole")
            else:
                counts["refused"] += 1
                check(
                    done.returncode == 3 and "o space left" in done.stderr,
                    f"{size} KiB: {done.returncode} {done.stderr[:200]}",
                )
            if (store / "tracesql-store.json").exists():
                code, found = place.doctor(store)
                check(code == 0, f"{size} KiB: {found['problems']}")
                if first.returncode == 0:
                    got = place.query(
                        f"{SUMS} WHERE trace_id LIKE 'synthetic%'", store=store
                    ).stdout.splitlines()[1]
                    check(got == place.small_sums, f"{size} KiB: the trace that was there changed")
            subprocess.run(["mount", "-o", "remount,size=600m", mount], check=True)
            again = place.ingest(place.large, store=store)
            check(
                again.returncode == 0,
                f"{size} KiB: not stored when there was room again: {again.stderr[:200]}",
            )
        finally:
            unmount(mount)
    say(f"full disk, {number} sizes", counts)


def damages(place, rng, number):
    """Files that are cut, changed, emptied, removed: doctor finds each; queries fail or answer, but
    never crash."""
    folder = next(p for p in place.store.iterdir() if (p / "manifest.json").is_file())
    files = sorted(folder.glob("*.parquet"))
    counts = Counter()
    sql = (
        "SELECT (SELECT count(*) FROM events) AS a, (SELECT sum(dur_ns) FROM kernels) AS b, "
        "(SELECT count(*) FROM flows) AS c, "
        "(SELECT sum(length(args)) FROM events) AS d"
    )
    right = place.query(sql).stdout
    check(right.count("\n") == 2, f"the query does not run: {right}")
    for i in range(number):
        path = rng.choice(files)
        whole = path.read_bytes()
        kind = rng.choice(("cut", "bit", "zeros", "gone", "longer"))
        at = rng.randrange(len(whole))
        changed = bytearray(whole)
        if kind == "cut":
            changed = changed[:at]
        elif kind == "bit":
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == "zeros":
            changed[at : at + 64] = bytes(len(changed[at : at + 64]))
        elif kind == "longer":
            changed += b"PAR1"
        if kind == "gone":
            path.unlink()
        else:
            path.write_bytes(changed)
        done = place.query(sql, timeout=60)
        code, _ = place.doctor()
        if bytes(changed) != whole or kind == "gone":
            check(code == 3, f"{kind} {path.name} at {at}: doctor found nothing")
        if done.returncode == 0:
            counts[
                "answered rightly" if done.stdout == right else "answered wrongly, found by doctor"
            ] += 1
        else:
            counts["refused by the query"] += 1
            check(
                done.returncode in (3, 4),
                f"{kind} {path.name} at {at}: exit {done.returncode} {done.stderr[:200]}",
            )
        path.write_bytes(whole)
    check(place.query(sql).stdout == right, "the store is not as it was")
    say(f"damaged files, {number} times", counts)


def permissions(place, rng, number):
    """A store that may not be written, inputs that may not be read."""
    if os.geteuid() != 0:
        print("permissions: skipped, another user can be taken by root only")
        return
    counts = Counter()
    # The folders on the way must let the other user pass.
    os.chmod(place.folder, 0o755)
    other = {"user": 65534, "group": 65534}
    program = place.folder / "program"
    shutil.copy(place.program, program)
    os.chmod(program, 0o755)

    def run(*args):
        return subprocess.run(
            [program, *map(str, args)],
            capture_output=True,
            text=True,
            env={"NO_COLOR": "1", "HOME": "/nonexistent"},
            **other,
        )

    done = run(
        "query", place.store, "--format", "csv", "-c", f"{SUMS} WHERE trace_id LIKE 'synthetic%'"
    )
    check(
        done.returncode == 0 and done.stdout.splitlines()[1] == place.small_sums,
        f"reading: {done.stderr}",
    )
    counts["readings of a store that is read-only"] += 1
    done = run("ingest", ROOT / "fixtures" / "perf.json", "-o", place.store)
    check(done.returncode == 3 and "ermission denied" in done.stderr, f"ingest: {done.stderr}")
    counts["ingests refused"] += 1
    secret = place.folder / "secret.json"
    secret.write_text("[]")
    os.chmod(secret, 0o600)
    done = run("ingest", secret, "-o", place.folder / "nowhere")
    check(done.returncode == 3 and "ermission denied" in done.stderr, f"input: {done.stderr}")
    counts["inputs refused"] += 1
    table = next(place.store.glob("synthetic*")) / "events.parquet"
    os.chmod(table, 0o000)
    done = run("query", place.store, "-c", SUMS)
    check(done.returncode in (3, 4) and "ermission denied" in done.stderr, f"table: {done.stderr}")
    done = run("doctor", place.store)
    check(
        done.returncode == 3 and "ermission denied" in done.stdout,
        f"doctor: {done.stdout}{done.stderr}",
    )
    counts["tables refused"] += 1
    os.chmod(table, 0o644)
    check(place.doctor()[0] == 0, "the store is not sound")
    say("permissions", counts)


def reading(place, rng, number):
    """Inputs that cannot be read on, and inputs that others cut or write over while they are
    read."""
    counts = Counter()
    done = place.ingest("/proc/self/mem")
    check(done.returncode == 3, f"a file that gives an I/O error: {done.returncode} {done.stderr}")
    counts["I/O errors refused"] += 1
    for i in range(number):
        copy = place.folder / "changes.json"
        shutil.copy(place.large, copy)
        child = subprocess.Popen(
            [place.program, "ingest", copy, "-o", place.store, "-q"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(rng.random() * 0.4)
        if i % 2 == 0:
            os.truncate(copy, rng.randrange(copy.stat().st_size))
        else:
            with open(copy, "r+b") as file:
                for _ in range(200):
                    file.seek(rng.randrange(copy.stat().st_size))
                    file.write(rng.choice((b"}", b'"', b"]", bytes(64), rng.randbytes(64))))
        code = child.wait()
        what = {0: "was read before", 3: "refused"}.get(
            code, f"ended by signal {-code}" if code < 0 else f"exit {code}"
        )
        counts[f"{'written over' if i % 2 else 'cut'}: {what}"] += 1
        check(code in (0, 3), f"changing {i}: exit {code}")
        code, found = place.doctor()
        check(code == 0, f"changing {i}: {found['problems']}")
        check(
            place.sums("trace_id LIKE 'synthetic%'") == place.small_sums,
            f"changing {i}: the trace that was there changed",
        )
        for name in [p.name for p in place.store.iterdir() if p.name.startswith("changes")]:
            place.command("remove", place.store, name).check_returncode()
    say(f"inputs that change while they are read, {number} times", counts)


def crowd(place, rng, seconds):
    """Processes that store, replace and remove while others ask."""
    traces = [
        ROOT / "fixtures" / name
        for name in (
            "ddp_rank0.pt.trace.json.gz",
            "ddp_rank1.pt.trace.json.gz",
            "chrome_mixed.json",
            "resnet_cpu.pt.trace.json.gz",
        )
    ]
    for trace in traces:
        place.ingest(trace).check_returncode()
    per_trace = (
        "SELECT t.path, t.event_count, count(e.event_id) FROM traces t LEFT JOIN events e ON "
        "e.trace_id = t.trace_id GROUP BY 1, 2 ORDER BY 1"
    )
    right = set(place.query(per_trace).stdout.splitlines())
    counts = Counter()
    end = time.monotonic() + seconds
    writers = []
    while time.monotonic() < end:
        writers = [w for w in writers if w.poll() is None]
        while len(writers) < 3:
            writers.append(
                subprocess.Popen(
                    [
                        place.program,
                        "ingest",
                        str(rng.choice(traces)),
                        "--replace",
                        "-o",
                        place.store,
                        "-q",
                    ],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            counts["ingests"] += 1
        done = place.query(per_trace)
        check(
            done.returncode == 0 and set(done.stdout.splitlines()) == right,
            f"a reader saw {done.stdout}{done.stderr}",
        )
        counts["readings"] += 1
    for writer in writers:
        check(writer.wait() == 0, "an ingest failed")
    code, found = place.doctor()
    check(code == 0, f"{found['problems']}")
    check(place.leftovers() == 0, "leftovers stay")
    say(f"three writers and a reader for {seconds} s", counts)


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("program")
    arguments.add_argument("--kills", type=int, default=300)
    arguments.add_argument("--damages", type=int, default=200)
    arguments.add_argument("--disks", type=int, default=24)
    arguments.add_argument("--changes", type=int, default=20)
    arguments.add_argument("--seconds", type=int, default=20)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--only", nargs="*", default=[])
    given = arguments.parse_args()
    rng = random.Random(given.seed)
    checks = {
        "permissions": (permissions, 1),
        "damages": (damages, given.damages),
        "reading": (reading, given.changes),
        "disk": (full_disk, given.disks),
        "kills": (kills, given.kills),
        "short": (short_kills, 2 * given.kills),
        "crowd": (crowd, given.seconds),
    }
    with tempfile.TemporaryDirectory(prefix="tracesql-faults-") as folder:
        place = Place(os.path.abspath(given.program), folder)
        for name, (function, number) in checks.items():
            if not given.only or name in given.only:
                function(place, rng, number)
    print("nothing was lost" if not FAILURES else f"{len(FAILURES)} failures")
    sys.exit(1 if FAILURES else 0)


if __name__ == "__main__":
    main()
