// Requests to the server of the page. Every request carries the token; nothing is asked of any
// other host.
import { listen } from "./server_events.js";
import { askForToken, forgetToken, isSqlLeftOut, token } from "./token.js";

const NO_TOKEN =
  "This tab has no key to the server. Open the address that `tracesql ui` printed, with its " +
  "part after #.";
const NO_SERVER = "The server does not answer. It may have been stopped.";

const FOREIGN =
  "A page of another origin led here, so the SQL of its link was not run. To run it, open the " +
  "address yourself.";

const troubles = [];
let lastTrouble = isSqlLeftOut ? FOREIGN : null;

/** An answer of the server that says why it could not do what was asked. */
export class ApiError extends Error {
  /** `details` may hold line, column, start, end (UTF-16 positions in the SQL) and help. */
  constructor(status, details) {
    super(details.message || `The server answered ${status}.`);
    this.name = "ApiError";
    this.status = status;
    for (const key of ["line", "column", "start", "end", "help"]) this[key] = details[key];
  }
}

/**
 * Asks the server: GET without a body, else POST. `path` is `/api/NAME` or just `NAME`. Resolves to
 * the answer as JSON, or with `as: "response"` to the response itself. Rejects with an ApiError, or
 * with an AbortError if `signal` fired.
 */
export async function api(path, body, { signal, as = "json" } = {}) {
  await hasToken;
  const response = await send(path, body, signal, token());
  if (!response.ok) throw await failure(response);
  return as === "response" ? response : response.json();
}

function send(path, body, signal, key) {
  const headers = { Authorization: `Bearer ${key}` };
  const request = { headers, signal, cache: "no-store" };
  if (body !== undefined) {
    request.method = "POST";
    request.body = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  const address = path.startsWith("/") ? path : `/api/${path}`;
  return fetch(address, request).catch((error) => {
    if (error.name === "AbortError") throw error;
    report(NO_SERVER);
    throw new ApiError(0, { message: NO_SERVER });
  });
}

async function failure(response) {
  if (response.status === 401) {
    forgetToken();
    report(NO_TOKEN);
  }
  const answer = await response.json().catch(() => ({}));
  return new ApiError(response.status, answer.error || {});
}

/** Calls `listener(message)` when the page cannot reach the server, also if that was before. */
export function onTrouble(listener) {
  troubles.push(listener);
  if (lastTrouble) listener(lastTrouble);
}

function report(message) {
  lastTrouble = message;
  troubles.forEach((listener) => listener(message));
}

/**
 * Calls `onEvent(name, data)` for each event of the server: `state`, `progress`, `index`,
 * `finding`. Returns a function that ends it.
 */
export function events(onEvent) {
  return listen(onEvent, () => api("/api/events", undefined, { as: "response" }));
}

const isGood = async (key) => (await send("/api/state", undefined, undefined, key)).ok;

// Requests wait here until there is a token; without one they wait for ever, and the page says why.
const hasToken = new Promise((resolve) => {
  if (token() !== null) resolve();
  else
    askForToken(isGood)
      .catch(() => false)
      .then((isFound) => (isFound ? resolve() : report(NO_TOKEN)));
});

/** The answer of GET /api/state, once there is a token. */
export const ready = api("/api/state");
ready.catch(() => {
  // Said to the listeners of trouble, and to those who wait for the promise.
});
