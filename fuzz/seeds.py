#!/usr/bin/env python3
"""Fill fuzz/corpus with seeds cut from the fixtures; the same files each time. Standard library only."""

import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "fuzz" / "corpus"


def seed(target, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


def text(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.name.endswith(".gz") else data


def main():
    times = set()
    for path in sorted((ROOT / "fixtures").glob("*.json*")):
        if "key_averages" in path.name:
            continue
        raw = text(path)
        try:
            document = json.loads(raw)
        except ValueError:
            # Broken on purpose: pieces of it are seeds as they stand.
            for target in ("framing", "decode", "json", "input"):
                seed(target, raw)
            for line in raw.splitlines():
                seed("decode", line)
                seed("json", line)
            continue
        if isinstance(document, dict) and "traceEvents" not in document:
            seed("input", raw)
            lists = (json.dumps(document.get(key, []))[1:-1] for key in ("memory_blobs", "op_blobs"))
            seed("perf", "\n".join(lists).encode())
            continue
        events = document if isinstance(document, list) else document.pop("traceEvents")
        kinds = {}
        for event in events:
            kinds.setdefault((event.get("ph"), event.get("cat"), tuple(sorted(event.get("args") or ()))[:6]), event)
        few = list(kinds.values())
        rest = {} if isinstance(document, list) else document
        for event in few:
            one = json.dumps(event).encode()
            seed("decode", one)
            seed("framing", one + b"," + one)
            seed("json", one)
            for key in ("ts", "dur"):
                if key in event:
                    times.add(str(event[key]))
        for start in range(0, len(few), 12):
            part = json.dumps(rest | {"traceEvents": few[start : start + 12]}).encode()
            seed("input", part)
        small = json.dumps({"traceEvents": few[:6]}).encode()
        seed("input", gzip.compress(small, mtime=0))
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo("a.json"), small)
            archive.writestr(zipfile.ZipInfo("b.json.gz"), gzip.compress(small, mtime=0))
        seed("input", packed.getvalue())
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            member = tarfile.TarInfo("a.json")
            member.size = len(small)
            archive.addfile(member, io.BytesIO(small))
        seed("input", packed.getvalue())
    seed("input", (ROOT / "tests/data/chrome_mixed.json.zst").read_bytes())
    extra = ["-0.5", "1.5e3", "9e-06", "0.0015", '" 1000 "', "007", ".5", "99999999999999999999999", "0e999999999", "9223372036854775.8075"]
    for time in sorted(times | set(extra)):
        seed("times", time.encode())
    for folder in sorted(CORPUS.iterdir()):
        print(folder.name, sum(1 for _ in folder.iterdir()), "seeds")


if __name__ == "__main__":
    main()
