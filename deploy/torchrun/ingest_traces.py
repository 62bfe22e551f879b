"""Ingests the traces of a training job with the workers of the job.

At the end of the training script, after the profiler wrote the last trace:

    from ingest_traces import ingest_traces

    torch.distributed.barrier()          # all traces are written
    ingest_traces("/shared/run7/*.json.gz", "s3://traces/run7")

or as a job of its own:

    torchrun --nnodes 4 --nproc-per-node 8 … ingest_traces.py '/shared/run7/*.json.gz' s3://traces/run7

Each worker reads its part, which follows from RANK and WORLD_SIZE. torchrun sets them, also where
Slurm or Kubernetes started torchrun itself. All workers must see all traces: a folder that all nodes mount, or object storage. If each
worker sees its own trace only, call `ingest_traces(own_trace, store, share=None)`.
"""

import os
import subprocess
import sys


def ingest_traces(traces, store, share="auto", program="tracesql-full"):
    """Reads the part of this worker into a store. Raises an error if a trace could not be read."""
    on_this_node = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    threads = max(1, len(os.sched_getaffinity(0)) // on_this_node)
    if share == "auto" and "RANK" in os.environ:
        # The variables of Slurm and Kubernetes number the processes that started the workers.
        share = f"{os.environ['RANK']}/{os.environ['WORLD_SIZE']}"
    command = [program, "ingest", traces, "--output", store, "--threads", str(threads)]
    if share is not None:
        command += ["--share", share]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} TRACES STORE")
    try:
        ingest_traces(sys.argv[1], sys.argv[2])
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
