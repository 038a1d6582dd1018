// The queue page: joins, polls when it is told to, and enters when it is the visitor's
// turn. The server decides everything; this script only shows it.
(() => {
  "use strict";
  const main = document.getElementById("queue");
  if (!main) return;
  const { room, title, target } = main.dataset;
  const api = `/v1/rooms/${room}/ticket`;
  const keyName = `anteroom.${room}.key`;
  const $ = (id) => document.getElementById(id);
  const MINUTE = 60000;

  let state = main.dataset.state; // new, waiting, admitted, active, ended
  let best = Infinity;            // the smallest position shown: it never rises
  let first = 0;                  // people ahead when this page began, for the progress bar
  let checked = Date.now();
  let claimTotal = 0;             // the claim window as first seen, seconds
  let timer = 0, busy = false, failures = 0, lastSpoken = 0, spokenAhead = Infinity;

  // ---- words ----
  const number = (n) => n.toLocaleString("en");
  const people = (n) => n === 0 ? "You are next."
    : n === 1 ? "One person is ahead of you." : `${number(n)} people are ahead of you.`;
  const wait = (low, high) => {
    if (high < 60) return "less than a minute";
    const a = Math.max(1, Math.floor(low / 60)), b = Math.ceil(high / 60);
    if (b > 180) {
      const h = Math.max(1, Math.floor(low / 3600));
      return `about ${h} to ${Math.max(h + 1, Math.ceil(high / 3600))} hours`;
    }
    if (a >= b) return b === 1 ? "about a minute" : `about ${b} minutes`;
    return `about ${a} to ${b} minutes`;
  };
  const ago = (ms) => ms < 15000 ? "just now"
    : ms < MINUTE ? "less than a minute ago"
    : ms < 2 * MINUTE ? "a minute ago" : `${Math.floor(ms / MINUTE)} minutes ago`;

  // ---- showing ----
  const set = (id, text) => { const e = $(id); if (e.textContent.trim() !== text) e.textContent = text; };
  const notice = (text) => { $("notice").hidden = !text; set("notice", text); };
  const panel = (name) => {
    for (const id of ["new", "waiting", "ready"]) $(id).hidden = id !== name;
    $("leave").hidden = name === "new";
  };
  const speak = (ahead) => {
    const now = Date.now();
    const milestone = ahead === 0 || ahead <= spokenAhead / 2;
    if (!milestone || now - lastSpoken < MINUTE) return;
    if (spokenAhead !== Infinity) set("milestone", people(ahead));
    lastSpoken = now;
    spokenAhead = ahead;
  };

  function show(s) {
    state = s.state;
    checked = Date.now();
    if (s.message !== undefined) { set("message", s.message); $("message").hidden = !s.message; }
    if (state === "waiting") {
      panel("waiting");
      best = Math.min(best, s.position);
      first = Math.max(first, s.ahead);
      set("position", number(best));
      set("ahead", people(best - 1));
      set("wait", wait(s.eta.low_s, s.eta.high_s));
      const bar = $("progress");
      bar.value = Math.max(bar.value, Math.round(1000 * (1 - (best - 1) / Math.max(1, first))));
      document.title = `${number(best)} in line · ${title}`;
      speak(best - 1);
    } else if (state === "admitted" || state === "active") {
      panel("ready");
      set("turn", "It is your turn.");
      set("claimby", s.claim_by_s ? `Your turn is kept for ${s.claim_by_s} seconds.` : "");
      document.title = `Your turn! · ${title}`;
    } else {
      end(s.state === "left" ? "You have left the line." : "Your place has expired.");
    }
  }

  // end shows how to begin again; a new place needs a new key.
  function end(text) {
    state = "ended";
    best = Infinity; first = 0; spokenAhead = Infinity;
    $("progress").value = 0;
    forget();
    panel("new");
    notice(text);
    document.title = `Waiting room · ${title}`;
  }

  // ---- the join key, one for all tabs of this browser ----
  const makeKey = () => {
    const b = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(b, (x) => x.toString(16).padStart(2, "0")).join("");
  };
  const forget = () => { try { localStorage.removeItem(keyName); } catch { /* storage is blocked */ } };
  const getKey = () => {
    try {
      let k = localStorage.getItem(keyName);
      if (!k) localStorage.setItem(keyName, k = makeKey());
      return k;
    } catch { return makeKey(); }
  };
  const sharedKey = () => navigator.locks
    ? navigator.locks.request(keyName, getKey) : Promise.resolve(getKey());

  // ---- the wire ----
  // call resolves to {status, body}; anything that is not our JSON is an error.
  async function call(method, path, body, headers) {
    const abort = new AbortController();
    const late = setTimeout(() => abort.abort(), 10000);
    try {
      const r = await fetch(path, {
        method, body, signal: abort.signal, credentials: "same-origin", cache: "no-store",
        headers: { Accept: "application/json", ...headers },
      });
      const type = r.headers.get("Content-Type") || "";
      if (!type.includes("json")) throw Object.assign(new Error("not our answer"), { status: r.status });
      const json = await r.json();
      if (r.status >= 500 || r.status === 429) {
        throw Object.assign(new Error(json.title), { status: r.status, after: Number(r.headers.get("Retry-After")) || 0 });
      }
      return { status: r.status, body: json };
    } finally { clearTimeout(late); }
  }

  async function join() {
    const key = await sharedKey();
    const r = await call("POST", api, JSON.stringify({ target }),
      { "Content-Type": "application/json", "Idempotency-Key": key });
    if (r.status === 409) { forget(); return join(); }
    if (r.status >= 400) throw new Error(r.body.title);
    return r.body;
  }

  async function claim() {
    const r = await call("POST", `${api}/claim`);
    if (r.status === 200) {
      forget();
      state = "entering";
      location.replace(r.body.redirect);
      return;
    }
    if (r.status === 401) end("Your place has expired.");
    else if (r.status === 409) state = "waiting";
  }

  // step asks once, and says when to ask again.
  async function step() {
    let s;
    if (state === "new") s = await join();
    else {
      const r = await call("GET", api);
      if (r.status === 401) { end("Your place has expired."); return 0; }
      if (r.status !== 200) throw new Error(r.body.title);
      s = r.body;
    }
    show(s);
    if (state === "admitted" || state === "active") {
      claimTotal = Math.max(claimTotal, s.claim_by_s || 0);
      // A hidden page claims too, at half of its time: looking away does not lose the turn.
      if (!document.hidden || (s.claim_by_s || 0) <= claimTotal / 2) await claim();
    }
    return s.poll_after_ms || 2000;
  }

  async function tick() {
    clearTimeout(timer);
    if (busy || state === "ended" || state === "entering") return;
    busy = true;
    let next = 0;
    try {
      next = await step();
      failures = 0;
      if (state !== "ended") notice("");
    } catch (e) {
      failures++;
      next = Math.max((e.after || 0) * 1000, Math.random() * Math.min(15000, 1000 * 2 ** failures));
      notice(state === "new" ? "We cannot reach the waiting room just now. Trying again…"
        : "Connection lost. Your place is kept. Trying again…");
    } finally { busy = false; }
    if (state !== "ended" && state !== "entering") timer = setTimeout(tick, Math.max(500, next));
  }

  // ---- what the visitor does ----
  const soon = () => { if (!document.hidden) tick(); };
  document.addEventListener("visibilitychange", soon);
  addEventListener("pageshow", (e) => { if (e.persisted) { if (state === "entering") state = "waiting"; soon(); } });
  addEventListener("online", soon);
  addEventListener("pagehide", () => {
    if (state === "waiting") navigator.sendBeacon(`${api}/away`);
  });
  const submit = (id, act) => $(id).addEventListener("submit", async (e) => {
    e.preventDefault();
    const button = e.target.querySelector("button");
    button.disabled = true;
    try { await act(); } catch { notice("That did not work. Please try again."); } finally { button.disabled = false; }
  });
  submit("join", async () => { notice(""); state = "new"; await tick(); });
  submit("enter", claim);
  submit("leaveform", async () => {
    clearTimeout(timer);
    await call("DELETE", api);
    $("leave").open = false;
    end("You have left the line.");
  });

  setInterval(() => { if (state === "waiting") set("checked", ago(Date.now() - checked)); }, 5000);
  $("lead").textContent = "Finding your place…";
  if (main.dataset.standing) {
    show(JSON.parse(main.dataset.standing));
  }
  tick();
})();
