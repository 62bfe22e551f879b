#!/usr/bin/env python3
"""Fill a folder (fuzz/corpus) with seeds from the fixtures and from former faults.

Standard library only.

fuzz/seeds.py [FOLDER]
"""

import gzip
import hashlib
import io
import json
import shutil
import struct
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "fuzz" / "corpus"


def seed(target, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


def text(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.name.endswith(".gz") else data


def sample(kind, value, shift, frames):
    """A sample for the check of stacks: labels and value, then its frames."""
    return struct.pack("<BhB", kind, value, shift) + b"\xfe".join(
        frame.encode() for frame in frames
    )


def stacks():
    frames = [
        "train.py(7): <module>",
        "/usr/lib/python3.11/threading.py(1): run",
        "<frozen runpy>(88): _run_code",
        "nn.Module: Linear_0",
        "aten::mm",
    ]
    odd = [
        "",
        " ",
        "a;b",
        "f at 0x7fA1 of x",
        "line\nend",
        "name\x1ffile.py",
        "_Z4gemmIfEvPT_",
        "1 2",
        "(empty)",
        "\ufffe",
        "&<>'\"",
    ]
    seed("stacks", b"title")
    seed(
        "stacks",
        b"\xff".join(
            [b"", sample(8, 5, 0, frames), sample(8, 7, 10, frames[:3]), sample(9, 1, 0, [])]
        ),
    )
    for kind in range(0, 256, 5):
        rows = [
            sample(kind, kind * 3 - 200, kind % 40, frames[: kind % 6]),
            sample(kind ^ 4, 9, kind % 64, odd[: kind % 12]),
        ]
        seed("stacks", b"\xff".join([odd[kind % len(odd)].encode(), *rows, *rows[:1]]))


def varint(raw, at):
    value = shift = 0
    while True:
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def planes(raw):
    """The planes of an XPlane file, without their number and name."""
    at = 0
    while at < len(raw):
        key, at = varint(raw, at)
        length, at = varint(raw, at)
        plane, at = raw[at : at + length], at + length
        if key == 0x0A:
            # The number takes two bytes; the name has less than 128.
            yield plane[4 + plane[3] :]


def main():
    times, names = set(), set()
    stacks()
    for path in sorted((ROOT / "fixtures").glob("*.json*")):
        if "key_averages" in path.name:
            continue
        raw = text(path)
        try:
            document = json.loads(raw)
        except ValueError:
            # Broken on purpose: its pieces are seeds as they are.
            for target in ("framing", "decode", "json", "input"):
                seed(target, raw)
            for line in raw.splitlines():
                seed("decode", line)
                seed("json", line)
            continue
        if isinstance(document, dict) and "traceEvents" not in document:
            seed("input", raw)
            lists = (
                json.dumps(document.get(key, []))[1:-1] for key in ("memory_blobs", "op_blobs")
            )
            seed("perf", "\n".join(lists).encode())
            for key in ("memory_blobs", "op_blobs"):
                line = "" if key == "memory_blobs" else "\n"
                for blob in document.get(key, [])[:8]:
                    seed("perf", (line + json.dumps(blob)).encode())
            continue
        events = document if isinstance(document, list) else document.pop("traceEvents")
        kinds = {}
        for event in events:
            names.add(str(event.get("name")))
            kinds.setdefault(
                (event.get("ph"), event.get("cat"), tuple(sorted(event.get("args") or ()))[:6]),
                event,
            )
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
    for path in sorted((ROOT / "fixtures" / "snapshots").glob("*.pickle*")):
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
        # The check puts the protocol in front of its bytes.
        seed("snapshot", raw[2:])
        seed("input", raw)
    for data in (b"}q\x00(X\x08\x00\x00\x00segments]u.", b"]}a.", b"cos\nsystem\n."):
        seed("snapshot", data)
    for path in sorted((ROOT / "fixtures" / "databases").iterdir()):
        if path.suffix in (".sqlite", ".db", ".rpd"):
            # The check puts the first 16 bytes in front of its bytes.
            seed("database", path.read_bytes()[16:])
            seed("input", path.read_bytes())
    seed("database", b"")
    seed("database", bytes(84))
    raw = json.loads((ROOT / "fixtures" / "databases" / "rocprofv3.json").read_text())
    raw["rocprofiler-sdk-tool"] = raw["rocprofiler-sdk-tool"][:1]
    seed("input", json.dumps(raw).encode())
    for path in sorted((ROOT / "fixtures" / "protobufs").glob("*.p*")):
        raw = path.read_bytes()
        seed("input", raw)
        if path.name.endswith(".pftrace"):
            seed("perfetto", raw)
            # Packets in several orders and numbers.
            seed("perfetto", raw[: len(raw) // 2])
            seed("perfetto", raw[len(raw) // 3 :] + raw)
        else:
            # The check puts a number and a name in front of the plane's other fields.
            for plane in planes(raw):
                seed("xplane", plane)
    for folder in ("flight", "beside"):
        for path in sorted((ROOT / "fixtures" / folder).rglob("*")):
            if path.is_file() and path.suffix != ".tsv":
                seed("beside", text(path))
                seed("input", text(path))
    extra = [
        "-0.5",
        "1.5e3",
        "9e-06",
        "0.0015",
        '" 1000 "',
        "007",
        ".5",
        "99999999999999999999999",
        "0e999999999",
        "9223372036854775.8075",
    ]
    for time in sorted(times | set(extra)):
        seed("times", time.encode())
    names |= {
        "_ZN5aiter24add_rmsnorm_quant_kernelIfLi256ELb0EEEvPT_i.kd",
        "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dF",
        "_Z3fooi3bar",
        "a::operator()<int>(b)",
    }
    names |= {
        "void (anonymous namespace)::f<a<b>, (c)1>(d const*, e&&) [clone .x]",
    }
    names |= set(text(ROOT / "formats" / "src" / "names" / "mangled.txt").decode().split())
    for name in sorted(names):
        seed("names", name.encode())
    rules = (ROOT / "udfs" / "src" / "names" / "name_rules.csv").read_text().splitlines()
    for row in [*rules[1::40], 'kernel,1,"a,b",x,,', '"a""b",-1,"(?i)x\n",,,"open']:
        seed("rules", f"{rules[0]}\n{row}\n".encode())
    for path in sorted((ROOT / "fuzz" / "faults").glob("*/*")):
        (CORPUS / path.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, CORPUS / path.parent.name)
    for folder in sorted(CORPUS.iterdir()):
        print(folder.name, sum(1 for _ in folder.iterdir()), "seeds")


if __name__ == "__main__":
    main()
