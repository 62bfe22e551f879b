// Events of the server. A browser opens only a few connections to one host, so one tab reads the
// stream and hands the events to the others.

const LOCK = "tracesql-events";
/** A stream that ended is asked for again after this time in milliseconds, then after twice it. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** So many findings are kept for tabs that open later. */
const MAX_FINDINGS = 1000;

const channel = new BroadcastChannel(LOCK);
const listeners = new Set();
const latest = new Map();
const findings = [];
let isLeader = false;
let isStarted = false;

channel.addEventListener("message", ({ data }) => {
  if (data.hello) {
    if (isLeader) known().forEach(([name, value]) => channel.postMessage({ name, value }));
  } else deliver(data.name, data.value);
});

/** Calls `onEvent(name, data)`; `open()` resolves to the response of the stream. */
export function listen(onEvent, open) {
  const heard = (name, value) => onEvent(name, value);
  listeners.add(heard);
  known().forEach(([name, value]) => heard(name, value));
  if (!isStarted) start(open);
  return () => listeners.delete(heard);
}

function start(open) {
  isStarted = true;
  channel.postMessage({ hello: true });
  const lead = () => {
    isLeader = true;
    return read(open);
  };
  if (navigator.locks) navigator.locks.request(LOCK, lead);
  else lead();
}

function known() {
  return [...latest.entries(), ...findings.map((value) => ["finding", value])];
}

function deliver(name, value) {
  if (name !== "finding") latest.set(name, value);
  else if (findings.length < MAX_FINDINGS && !isKnown(value)) findings.push(value);
  listeners.forEach((heard) => heard(name, value));
}

function isKnown(value) {
  const text = JSON.stringify(value);
  return findings.some((finding) => JSON.stringify(finding) === text);
}

// Reads the stream until the page ends; a server that refuses is not asked again.
async function read(open) {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      const response = await open();
      wait = FIRST_WAIT_MS;
      await messages(response.body);
    } catch (error) {
      if (error.status >= 400 && error.status < 500) return;
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

async function messages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (text + value.replaceAll("\r", "")).split("\n\n");
    text = parts.pop();
    parts.forEach(take);
  }
}

function take(block) {
  const fields = block.split("\n").map((line) => /^(event|data): ?(.*)$/.exec(line));
  const texts = (kind) => fields.filter((f) => f && f[1] === kind).map((f) => f[2]);
  const data = texts("data").join("\n");
  if (!data) return;
  const [name, value] = [texts("event")[0] || "message", JSON.parse(data)];
  channel.postMessage({ name, value });
  deliver(name, value);
}
