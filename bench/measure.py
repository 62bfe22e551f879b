"""Runs one process and says what it cost: CPU time, wall time and peak memory, as the kernel
counted them.

Nothing here knows what is run or why.
"""

import os
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass


class Failed(Exception):
    """The process did not end well; the text says how."""


@dataclass(frozen=True)
class Cost:
    """What one process, with the children that it waited for, used.

    The peak is that of its largest process. Linux lets a new process start from the size of the one
    that made it, so no peak is below that of the driver (some 20 MiB); the driver must stay small.
    """

    cpu_s: float
    wall_s: float
    peak_bytes: int


def median_cost(costs: list[Cost]) -> Cost:
    """Returns the median of each figure on its own."""
    return Cost(
        statistics.median(cost.cpu_s for cost in costs),
        statistics.median(cost.wall_s for cost in costs),
        round(statistics.median(cost.peak_bytes for cost in costs)),
    )


def run(command: list[str], timeout_s: float) -> tuple[Cost, str]:
    """Runs a command to its end and returns its cost and its standard output; raises Failed."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        start = time.monotonic()
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as error:
            raise Failed(str(error)) from error
        _sacrifice_first(process.pid)
        expired = threading.Event()
        timer = threading.Timer(timeout_s, _stop, (process.pid, expired))
        timer.start()
        # wait4 and not Popen.wait: it alone gives the usage of this very child.
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - start
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if expired.is_set():
            raise Failed(f"stopped after {timeout_s:g} s")
        if process.returncode != 0:
            raise Failed(_describe(process.returncode, _text(stderr)))
        return Cost(usage.ru_utime + usage.ru_stime, wall_s, usage.ru_maxrss * 1024), _text(stdout)


def _sacrifice_first(pid: int) -> None:
    """Asks the kernel to end this process before any other one if memory runs out."""
    try:
        with open(f"/proc/{pid}/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        pass  # already gone, or not Linux: the measurement holds without it


def _stop(pid: int, expired: threading.Event) -> None:
    expired.set()
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _text(file) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _describe(code: int, stderr: str) -> str:
    if code == -signal.SIGKILL:
        return "killed, most likely for want of memory"
    lines = stderr.strip().splitlines() or ["no message"]
    return f"exit status {code}: {lines[-1][:200]}"
