"""Sessions over the fixtures; the cache is one of the tests' own."""

import os
from pathlib import Path

import pytest

import tracesql

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    os.environ["TRACESQL_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def fixture():
    """The path of a fixture."""
    return lambda name: FIXTURES / name


@pytest.fixture(scope="session")
def gpu(cache):
    """A session over the trace of a GPU."""
    return tracesql.open(FIXTURES / "synthetic_gpu_rank0.json.gz")


@pytest.fixture
def store(tmp_path):
    """A store with two traces."""
    path = tmp_path / "store"
    tracesql.ingest([FIXTURES / f"synthetic_gpu_rank{rank}.json.gz" for rank in (0, 1)], path)
    return path
