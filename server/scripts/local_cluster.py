"""A cluster of processes on this machine, for the trials in this folder. Standard library only."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLOCK = os.sysconf("SC_CLK_TCK")


def program():
    """The program under test: TRACESQL, or the release build of server/."""
    named = os.environ.get("TRACESQL")
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "server/target"))
    path = Path(named or Path(target) / "release/tracesql-full")
    if not path.is_file():
        sys.exit(f"{path}: no such program; build it with `cd server && cargo build --release`, "
                 "or give its path in TRACESQL")
    return str(path.resolve())


def free_ports():
    """A port whose successor is free too."""
    while True:
        port = random.randrange(20_000, 30_000)
        try:
            for one in (port, port + 1):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", one))
            return port
        except OSError:
            continue


class Executor:
    """An executor. It can be killed, and started again at the same address and in its folder."""

    def __init__(self, cluster, number, core):
        self.cluster, self.number, self.core = cluster, number, core
        self.port = free_ports()
        self.folder = cluster.folder / f"executor{number}"
        self.process = None
        self.spent_s = 0.0
        self.start()

    def start(self):
        pin = ["taskset", "-c", str(self.core)] if self.core is not None else []
        command = pin + [
            self.cluster.program, "cluster", "executor", "--scheduler", self.cluster.address,
            "--port", str(self.port), "--work-dir", str(self.folder), *self.cluster.options,
        ]
        self.process = self.cluster.spawn(command, f"executor{self.number}.log")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def cpu_s(self):
        """The CPU time of the process until now."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK

    def peak_bytes(self):
        """The largest resident size of the process until now."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        return 0


class Cluster:
    """A scheduler and executors. Options are those of `tracesql-full cluster executor`."""

    def __init__(self, executors, options=(), cores=(), timeout_s=4, environment=None):
        self.program = program()
        self.options = list(options)
        self.environment = {**os.environ, **(environment or {})}
        self._folder = tempfile.TemporaryDirectory(prefix="cluster-", ignore_cleanup_errors=True)
        self.folder = Path(self._folder.name)
        self.executors, self.scheduler = [], None
        self.scheduler = self.spawn(
            [self.program, "cluster", "scheduler", "--listen", "127.0.0.1:0",
             "--executor-timeout", str(timeout_s)], "scheduler.log")
        self.address = self._address()
        for number in range(executors):
            core = cores[number % len(cores)] if cores else None
            self.executors.append(Executor(self, number, core))
        self.wait_for(executors)

    def spawn(self, command, log):
        with open(self.folder / log, "ab") as output:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=self.environment)

    def _address(self):
        log = self.folder / "scheduler.log"
        for _ in range(400):
            for line in log.read_text().splitlines():
                if "listens at" in line:
                    return line.rsplit(" ", 1)[1]
            time.sleep(0.05)
        raise RuntimeError(f"the scheduler did not start:\n{log.read_text()}")

    def state(self):
        """What the scheduler reports to a client that begins a session."""
        version = subprocess.run(
            [self.program, "--version"], capture_output=True, text=True, check=True)
        host, port = self.address.split(":")
        with socket.create_connection((host, int(port)), timeout=10) as stream:
            stream.sendall(
                b"GET /tracesql/session HTTP/1.0\r\nhost: x\r\n"
                + f"user-agent: tracesql-full/{version.stdout.split()[1]}\r\n".encode()
                + b"x-tracesql-id: trial\r\n\r\n")
            text = b""
            while b"}\n" not in text:
                more = stream.recv(4096)
                if not more:
                    raise RuntimeError(f"the scheduler ended a session: {text}")
                text += more
        return json.loads(text.split(b"\r\n\r\n", 1)[1].split(b"\n")[0])

    def wait_for(self, executors, limit_s=60):
        """Waits until the scheduler knows as many executors."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if self.state()["executors"] == executors:
                return
            time.sleep(0.2)
        logs = [path.read_text()[-2000:] for path in sorted(self.folder.glob("*.log"))]
        raise RuntimeError(f"the scheduler does not have {executors} executors:\n" + "\n".join(logs))

    def log(self, name):
        return (self.folder / name).read_text()

    def cpu_s(self):
        return sum(executor.cpu_s() for executor in self.executors)

    def close(self):
        for process in [e.process for e in self.executors] + [self.scheduler]:
            if process and process.poll() is None:
                process.kill()
                process.wait()
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def run(arguments, environment=None, limit_s=600, pin=None):
    """Runs the program. Returns its standard output, and the seconds it took."""
    command = (["taskset", "-c", pin] if pin else []) + [program(), *map(str, arguments)]
    begin = time.monotonic()
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=limit_s, stdin=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})})
    seconds = time.monotonic() - begin
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout, seconds


def store_of_ranks(folder, ranks, slices=300):
    """A store of small ranks of one job: steps with operators, launches and kernels."""
    inputs = Path(folder) / "inputs"
    inputs.mkdir()
    for rank in range(ranks):
        events = []
        for at in range(slices):
            ts, pid = 1000 + 20 * at + rank % 7, 1000 + rank
            step = at // 100
            if at % 100 == 0:
                events.append({"ph": "X", "cat": "user_annotation", "pid": pid, "tid": pid,
                               "name": f"ProfilerStep#{step}", "ts": ts, "dur": 1990})
            name = ("aten::mm", "aten::add", "aten::copy_")[at % 3]
            events += [
                {"ph": "X", "cat": "cpu_op", "name": name, "pid": pid, "tid": pid, "ts": ts + 1,
                 "dur": 15, "args": {"External id": at + 1}},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": pid,
                 "tid": pid, "ts": ts + 3, "dur": 4,
                 "args": {"External id": at + 1, "correlation": at + 1}},
                {"ph": "X", "cat": "kernel", "name": f"kernel_{at % 5}", "pid": 0, "tid": 7,
                 "ts": ts + 8, "dur": 6 + rank % 5,
                 "args": {"External id": at + 1, "correlation": at + 1, "device": 0, "stream": 7}},
            ]
        trace = {
            "schemaVersion": 1,
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks},
            "traceEvents": events,
        }
        (inputs / f"rank{rank:04}.pt.trace.json").write_text(json.dumps(trace))
    store = str(Path(folder) / "store")
    run(["ingest", "-q", inputs, "-o", store], limit_s=3600)
    return store


def computed_s(cluster):
    """The seconds that executors have spent on tasks, as their logs give them."""
    total_ms, tasks = 0, 0
    for executor in cluster.executors:
        for line in cluster.log(f"executor{executor.number}.log").splitlines():
            if "done after" in line:
                total_ms += int(line.split()[-2])
                tasks += 1
    return total_ms / 1000, tasks
