#!/usr/bin/env python3
"""Make a job with the generator of simulated jobs, and simulate it anew with two more changes.

    job_changes.py GENERATOR --out DIR [options of the generator]

`what_if_step_span_ns` of truth.json then also has the lengths of all steps with
- `hidden communication`: computation sees exchanges as if they took no time once all ranks have
  come; the exchanges themselves take their time, also for one another
- `CUDA graphs`: the first launch of a step launches all of its work, and the host does nothing
  until it waits for the device

Standard library only. Random draws are those of the job as recorded.
"""
import importlib.util
import sys


def load(path):
    spec = importlib.util.spec_from_file_location("make_job", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = load(sys.argv.pop(1))
mode = None


class Rank(make.Rank):
    """A rank whose host stands still between the first launch of a step and the end of it."""

    def spend(self, lo, hi):
        ns = self.rng.randint(lo, hi)
        if mode != "graphs" or self.graph_of != self.step or self.is_waiting():
            self.now += ns

    def is_waiting(self):
        return getattr(self, "host_done_of", None) == self.step

    graph_of = None

    def call(self, name, lo, hi):
        self.corr += 1
        number, start = self.corr, self.now
        self.spend(lo, hi)
        self.row("cuda_runtime", name, start, {"External id": self.ext, "cbid": make.CBID[name],
                                               "correlation": number})
        end = self.now
        if name.startswith("cudaLaunch"):
            self.graph_of = self.step
        self.spend(150, 400)
        return number, start, end


def resolve_hidden(job, work):
    """Real times of all work, and the times at which computation sees exchanges end."""
    todo = list(work)
    for g in todo:
        g.visible_start = g.visible_end = None
    while todo:
        rest, moved = [], False
        for g in todo:
            before = [(g.prev, g.gap)] if g.prev is not None else []
            before += [(d, g.delay) for d in g.deps]
            known = all(s.end is not None and s.visible_end is not None for s, _ in before)
            if g.start is None and known:
                launched = g.launch + g.latency
                g.visible_start = max([launched] + [s.visible_end + lag for s, lag in before])
                g.start = max([launched] + [s.end + lag for s, lag in before])
                moved = True
                if g.coll is None:
                    g.start = g.visible_start
                    g.end = g.visible_end = g.start + g.dur
            c = g.coll
            if g.start is not None and g.end is None and len(c.members) == len(c.need) \
                    and all(m.start is not None for m in c.members.values()):
                c.last = max(c.need, key=lambda r: (c.members[r].start, -r))
                c.full, c.transfer = c.members[c.last].start, job.nominal(c)
                seen = max(m.visible_start for m in c.members.values())
                for rank, m in c.members.items():
                    m.end = c.full + c.transfer + c.jitter[rank]
                    if rank == c.root:
                        early = c.full + int(0.6 * c.transfer) + c.jitter[rank]
                        m.end = max(m.start + 2000, early)
                    m.visible_end = seen
                moved = True
            if g.end is None:
                rest.append(g)
        if rest and not moved:
            raise SystemExit("deadlock")
        todo = rest


class Job(make.Job):
    def host_step(self, rank, step):
        super().host_step(rank, step)
        rank.host_done_of = step

    def resolve(self, work):
        if mode == "hidden":
            resolve_hidden(self, work)
        else:
            super().resolve(work)

    def what_if(self):
        global mode
        spans = super().what_if()
        for change, mode in (("hidden communication", "hidden"), ("CUDA graphs", "graphs")):
            job = Job(self.a)
            job.run(write=False)
            spans[change] = job.spans
        mode = None
        return spans


make.Rank, make.Job = Rank, Job
make.main()
