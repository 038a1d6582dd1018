// ---- the wire ----
// ask resolves to the JSON of a 2xx. All else is an error, HTML of a proxy included.
async function ask(method, path, headers, body) {
  const abort = inflight = new AbortController();
  const slow = setTimeout(() => abort.abort(), 10 * SECOND);
  try {
    const r = await fetch(path, {
      method, body, signal: abort.signal, credentials: "same-origin", cache: "no-store", redirect: "error",
      headers: { Accept: "application/json", ...headers },
    });
    const json = /\bjson\b|\+json/.test(r.headers.get("Content-Type") || "") ? await r.json() : null;
    if (r.ok && json) return json;
    throw { status: json ? r.status : 0, problem: json || {}, after: retryAfter(r.headers.get("Retry-After")) };
  } finally { clearTimeout(slow); }
}
// retryAfter reads seconds or a date, as milliseconds up to 5 minutes.
function retryAfter(text) {
  const ms = text ? (/^\d+$/.test(text) ? text * SECOND : Date.parse(text) - Date.now()) : 0;
  return Math.min(5 * MINUTE, Math.max(0, ms || 0));
}

// Tabs join one after the other: tabs are separate processes, and what one writes to
// localStorage reaches the others a little late. The cookie of the first answer does not.
const join = () => navigator.locks ? navigator.locks.request(keyName, joinAlone) : joinAlone();
async function joinAlone() {
  for (let again = true; ; again = false) {
    const used = await sharedKey();
    try {
      const body = { target };
      if (proof) body.proof = await solve();
      return await ask("POST", api, { "Content-Type": "application/json", "Idempotency-Key": used }, JSON.stringify(body));
    } catch (e) {
      if (!again || e.status !== 409) throw e;
      forget(); // the place of this key is used up
    }
  }
}
// solve has a challenge worked out beside the page, which stays alive.
async function solve() {
  const challenge = await ask("GET", `/v1/rooms/${room}/challenge`);
  const worker = new Worker(proof);
  try {
    return await new Promise((done, failed) => {
      worker.onmessage = (e) => e.data ? done(e.data) : failed({ status: 0 });
      worker.onerror = () => failed({ status: 0 });
      worker.postMessage(challenge);
    });
  } finally { worker.terminate(); }
}
