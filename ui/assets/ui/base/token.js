// The token that lets a page ask the server. It arrives in the fragment of the printed address,
// moves into the storage of the tab, and is handed to other tabs of the same origin on demand.
import { format, parse } from "./address.js";

const KEY = "tracesql-token";
const CHANNEL = "tracesql-token";
/** How long other tabs may take to answer, in milliseconds. */
const PATIENCE_MS = 600;

/** Keys of addresses that make a page run SQL. */
const RUNS = ["run", "track_sql", "stack_sql"];

const channel = new BroadcastChannel(CHANNEL);
let own = taken();
/** Whether SQL of the address was left out, because a page of another origin linked to it. */
export const isSqlLeftOut = own === null && isForeign() && dropped();
own ??= stored();

// Takes the token out of the address, so that a copied address or the history does not hold it.
function taken() {
  const { token, ...rest } = parse(location.hash);
  if (token === undefined) return null;
  const fragment = format(rest);
  history.replaceState(null, "", `${location.pathname}${fragment ? `#${fragment}` : ""}`);
  store(token);
  return token;
}

function isForeign() {
  const [entry] = performance.getEntriesByType("navigation");
  return (entry?.serverTiming ?? []).some(({ name }) => name === "foreign");
}

// Takes what runs SQL out of the address. Only the printed address, which has the token, may have it.
function dropped() {
  const values = parse(location.hash);
  const keys = RUNS.filter((key) => key in values);
  if (values.find_mode === "sql") keys.push("find");
  for (const key of keys) delete values[key];
  if (keys.length) history.replaceState(null, "", `${location.pathname}#${format(values)}`);
  return keys.length > 0;
}

function stored() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function store(token) {
  try {
    if (token === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, token);
  } catch {
    // Without storage, the token lasts as long as the page.
  }
}

channel.addEventListener("message", ({ data }) => {
  if (data.kind === "ask" && own !== null) channel.postMessage({ kind: "token", token: own });
});

/** The token, or null if there is none. */
export const token = () => own;

/** Forgets the token, because the server refused it. */
export function forgetToken() {
  own = null;
  store(null);
}

/**
 * Asks other tabs for a token and keeps the first one for which `isGood` resolves to true. Resolves
 * to whether there was one.
 */
export function askForToken(isGood) {
  return new Promise((resolve) => {
    const tried = new Set();
    const end = (found) => {
      channel.removeEventListener("message", listen);
      clearTimeout(timer);
      resolve(found);
    };
    async function listen({ data }) {
      if (data.kind !== "token" || tried.has(data.token)) return;
      tried.add(data.token);
      if (!(await isGood(data.token)) || own !== null) return;
      own = data.token;
      store(own);
      end(true);
    }
    const timer = setTimeout(() => end(false), PATIENCE_MS);
    channel.addEventListener("message", listen);
    channel.postMessage({ kind: "ask" });
  });
}
