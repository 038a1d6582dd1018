// The queue page. The server decides everything: this script asks when it is told to,
// shows the answer, and goes in when it is the visitor's turn.
(() => {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const main = $("queue");
  if (!main || !window.fetch) return;
  const { room, title, target } = main.dataset;
  const words = JSON.parse($("words").textContent);
  const lang = document.documentElement.lang;
  const api = `/v1/rooms/${room}/ticket`;
  const SECOND = 1000, MINUTE = 60 * SECOND;

  let mode = "join";      // what the next step does: join, poll, or rest (nothing)
  let placed = false;     // the server has told us a place
  let epoch = 0;          // answers to requests of an earlier epoch are dropped
  let best = Infinity;    // smallest position of this place: what is shown never rises
  let first = 0;          // most people ahead of this place, where the progress bar begins
  let inside = false;     // the place was one inside when it was told last
  let noticeEnds = 0;     // a notice that no answer brought stays until then
  let claimAt = 0;        // when a hidden page takes its turn up
  let held = false;       // a hidden page took its turn up and waits to be looked at
  let failures = 0, checked = 0, timer = 0, inflight = null;
  let hold = 0, heldAt = 0, due = 0, late = 0, hiddenAt = document.hidden ? Date.now() : 0;

  // ---- words ----
  const say = (key, values) => (words[key] || "").replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const number = (n) => n.toLocaleString(lang);
  const people = (n) => say(n > 1 ? "ahead_n" : `ahead_${n}`, { n: number(n) });
  // The same rounding as waitPhrase in words.go.
  function wait(eta) {
    const low = eta ? eta.low_s : 0, high = eta ? eta.high_s : 0;
    let a = Math.floor(low / 60), b = Math.ceil(high / 60);
    if (b > 20) { a = Math.floor(a / 5) * 5; b = Math.ceil(b / 5) * 5; }
    if (high <= 0) return say("wait_unknown");
    if (low >= 86400) return say("wait_day");
    if (b > 180) {
      a = Math.max(1, Math.floor(low / 3600));
      return say("wait_hours", { a, b: Math.max(a + 1, Math.ceil(high / 3600)) });
    }
    if (high < 60) return say("wait_under");
    return say(b === 1 ? "wait_1" : a === 0 ? "wait_up_to" : a >= b ? "wait_n" : "wait_range", { a, b });
  }
  function ago(ms) {
    if (ms < 10 * SECOND) return say("checked_now");
    const f = new Intl.RelativeTimeFormat(lang, { numeric: "always" });
    return say("checked", { ago: ms < MINUTE ? f.format(-Math.floor(ms / 10000) * 10, "second")
      : f.format(-Math.floor(ms / MINUTE), "minute") });
  }

  // ---- what this browser remembers ----
  // The key makes all tabs of a browser join as one visitor, and a join that is sent again
  // find its place. It lives until that place ends.
  const keyName = `anteroom.${room}.key`, seenName = `anteroom.${room}.seen`, wentName = `anteroom.${room}.went`;
  let key = "";
  const read = (store, name) => { try { return window[store].getItem(name) || ""; } catch { return ""; } };
  const write = (store, name, value) => {
    try { value ? window[store].setItem(name, value) : window[store].removeItem(name); } catch { /* storage is blocked */ }
  };
  async function sharedKey() {
    key = read("localStorage", keyName);
    if (key) return key;
    key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
    write("localStorage", keyName, key);
    if (navigator.locks) return key;
    await new Promise((done) => setTimeout(done, 100)); // without locks the last writer wins
    return key = read("localStorage", keyName) || key;
  }
  // forget drops this tab's key only: another tab may have joined anew already.
  function forget() {
    if (read("localStorage", keyName) === key) write("localStorage", keyName, "");
    write("sessionStorage", seenName, "");
    key = ""; best = Infinity; first = 0; spokenAhead = Infinity;
    $("progress").value = 0;
  }
  // A place is the same as long as the key is. A tab that joined anew changed it.
  function recall() {
    const now = read("localStorage", keyName);
    if (now === key && best !== Infinity) return;
    if (now !== key) { best = Infinity; first = 0; spokenAhead = Infinity; $("progress").value = 0; }
    key = now;
    try {
      const seen = JSON.parse(read("sessionStorage", seenName));
      if (key && seen.key === key) { best = Math.min(best, seen.best); first = Math.max(first, seen.first); }
    } catch { /* nothing remembered */ }
  }

  // ---- showing ----
  const set = (id, text) => { const e = $(id); if (e.textContent.trim() !== text) e.textContent = text; };
  const show = (id, on) => { $(id).hidden = !on; };
  const named = (key, values) => { document.title = `${say(key, values)} · ${title}`; };
  function panel(name) {
    for (const id of ["say", "waiting", "turn"]) show(id, id === name);
    show("leave", placed && name !== "say");
    show("foot", name === "waiting" || placed);
    show("next", name === "waiting");
  }
  // tell shows a state in words; a form to join comes with it when label is given.
  function tell(state, label) {
    panel("say");
    set("say-title", say(`${state}_title`));
    set("say-text", say(`${state}_text`));
    show("join", Boolean(label));
    if (label) set("join-button", say(label));
    show("next", /^(joining|away|trouble)$/.test(state));
    named("room");
  }
  function notice(text, ms) {
    set("notice", text);
    show("notice", Boolean(text));
    noticeEnds = Date.now() + ms;
  }
  function foot() {
    const lost = failures > 0;
    $("foot").classList.toggle("lost", lost);
    if (lost) { show("foot", true); set("checked", say(placed ? "lost" : "lost_new")); }
    else if (checked) set("checked", ago(Date.now() - checked));
  }

  // Only milestones are spoken, at most once a minute: the first place, each half, the next, and
  // any progress after five minutes.
  let spokenAt = -Infinity, spokenAhead = Infinity;
  function speak(text) {
    if (Date.now() - spokenAt < MINUTE) return false;
    spokenAt = Date.now();
    set("spoken", text);
    return true;
  }
  function milestone(ahead, eta) {
    if (ahead === spokenAhead || (ahead > spokenAhead / 2 && Date.now() - spokenAt < 5 * MINUTE)) return;
    if (speak(ahead ? say("speak", { n: number(ahead + 1), wait: wait(eta) }) : say("speak_next"))) spokenAhead = ahead;
  }

  function showWaiting(a) {
    recall();
    best = Math.min(best, a.position || Infinity);
    panel("waiting");
    set("wait", wait(a.eta));
    set("alert", "");
    if (best < Infinity) showPlace(a);
    else { show("position", false); set("ahead", say("ahead_unknown")); named("room"); } // the line re-forms
    claimAt = 0; held = false;
  }
  function showPlace(a) {
    first = Math.max(first, best - 1);
    write("sessionStorage", seenName, JSON.stringify({ key, best, first }));
    const ahead = best - 1, bar = $("progress");
    set("position", number(best));
    show("position", true);
    $("position").classList.toggle("long", best > 99999);
    set("ahead", people(ahead));
    show("progress", first > 0);
    // A little is filled from the beginning, and a little is left for the turn itself.
    bar.value = Math.max(bar.value, 50 + Math.round(910 * (1 - best / (first + 1))));
    named("place_title", { n: number(best) });
    milestone(ahead, a.eta);
  }
  function showTurn() {
    panel("turn");
    set("turn-text", say(document.hidden ? "turn_hidden" : "turn_text"));
    set("alert", say("speak_turn"));
    named("turn_title");
  }
  // answer shows a standing, and says whether it is the visitor's turn.
  function answer(a) {
    if (a.state === "expired" || a.state === "left") { end(a.state); return false; }
    const turn = a.state === "admitted" || a.state === "active";
    placed = turn || a.state === "waiting" || a.state === "away";
    inside = a.state === "active";
    mode = placed ? "poll" : "join";
    if (a.notice && a.notice !== $("notice").textContent) speak(a.notice);
    if (a.notice || Date.now() > noticeEnds) notice(a.notice || "", 0);
    if (a.message !== undefined) { set("message", a.message); show("message", Boolean(a.message)); }
    if (a.state === "waiting") showWaiting(a);
    else if (turn) showTurn();
    else tell(words[`${a.state}_title`] ? a.state : "trouble");
    return turn;
  }
  // end offers a new place. It waits for the visitor: nobody joins twice by accident.
  function end(state) {
    mode = "rest"; placed = false; failures = 0; claimAt = 0; held = false;
    clearTimeout(timer);
    forget();
    notice("", 0);
    set("alert", "");
    tell(state, "join_again");
    foot();
  }

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
        return await ask("POST", api, { "Content-Type": "application/json", "Idempotency-Key": used }, JSON.stringify({ target }));
      } catch (e) {
        if (!again || e.status !== 409) throw e;
        forget(); // the place of this key is used up
      }
    }
  }

  // ---- the turn ----
  // A shop that sends people back at once would make a loop of it.
  const went = () => read("sessionStorage", wentName).split(" ").filter((t) => t && Date.now() - t < MINUTE);
  async function claim() {
    const got = await ask("POST", `${api}/claim`);
    if (document.hidden) { held = true; return; }
    const to = new URL(got.redirect, location.href);
    if (!/^https?:$/.test(to.protocol)) throw { status: 0 };
    mode = "rest"; placed = false;
    write("sessionStorage", wentName, [...went(), Date.now()].join(" "));
    location.replace(to.href);
  }
  // A page that is looked at goes in at once. A hidden one says so in its title and takes
  // the turn up at half of its time at the latest, so that looking away loses nothing; it
  // then stays here until somebody looks. Where timers are slow it does not wait for half.
  async function turn(a) {
    if (!document.hidden) {
      if (went().length < 4) return claim();
      tell("loop");
      show("turn", true);
      mode = "rest";
      return;
    }
    if (held || a.state === "active") return;
    const left = (a.claim_by_s || 0) * SECOND;
    const sluggish = late > 3 * SECOND || Date.now() - hiddenAt > 4 * MINUTE;
    claimAt = claimAt || Date.now() + left / 2;
    if (Date.now() >= claimAt || (sluggish && left < 3 * MINUTE)) await claim();
  }

  // ---- the loop: one request at a time ----
  let busy = false;
  async function step(mine) {
    const a = mode === "join" ? await join() : await ask("GET", api);
    if (mine !== epoch) return 0;
    checked = Date.now(); failures = 0;
    show("problem", false);
    if (answer(a)) await turn(a);
    const next = a.poll_after_ms > 0 ? a.poll_after_ms : 5 * SECOND;
    return claimAt && !held ? Math.min(next, claimAt - Date.now()) : next;
  }
  // failed says when to try again: full jitter, and never before the server's Retry-After.
  function failed(e) {
    if (e.status === 401) { end("expired"); return 0; }
    if (e.status === 409) return SECOND + Math.random() * SECOND; // not our turn after all: look again
    failures++;
    const pause = Math.max(e.after || 0, Math.random() * Math.min(15 * SECOND, SECOND * 2 ** failures));
    if (e.after) hold = pause;
    if (placed) speak(say("lost"));
    return pause;
  }
  async function tick() {
    clearTimeout(timer);
    if (busy || mode === "rest") return;
    const past = Date.now() - heldAt;
    if (past >= 0 && past < hold) return later(hold - past);
    busy = true;
    hold = 500;
    const mine = epoch;
    let next = 0;
    try { next = await step(mine); } catch (e) { if (mine === epoch) next = failed(e); }
    busy = false;
    heldAt = Date.now();
    foot();
    if (mine === epoch && mode !== "rest") later(next);
  }
  function later(ms) {
    ms = Math.max(500, ms);
    due = Date.now() + ms;
    clearTimeout(timer);
    timer = setTimeout(() => { late = Date.now() - due; tick(); }, ms);
  }

  // ---- events ----
  addEventListener("visibilitychange", () => {
    hiddenAt = document.hidden ? Date.now() : 0;
    if (!document.hidden) tick();
  }, true);
  addEventListener("pageshow", (e) => {
    if (!e.persisted) return;
    if (mode === "rest" && !$("turn").hidden) mode = "poll"; // back from the shop
    tick();
  });
  addEventListener("online", tick);
  addEventListener("pagehide", () => { if (!$("waiting").hidden && navigator.sendBeacon) navigator.sendBeacon(`${api}/away`); });

  // A press is answered once; the button works again afterwards, also when it failed.
  function press(form, act) {
    $(form).addEventListener("submit", async (e) => {
      e.preventDefault();
      const button = e.target.querySelector("[type=submit]");
      if (button.disabled) return;
      button.disabled = true;
      notice("", 0);
      try { await act(); } catch (err) {
        if (err.status === 401) end("expired");
        else notice(say("retry"), 10 * SECOND);
      }
      button.disabled = false;
    });
  }
  press("join", async () => {
    mode = "join";
    tell("joining");
    $("say-title").focus();
    await tick();
  });
  press("enter", async () => { write("sessionStorage", wentName, ""); await claim(); });
  press("leave-form", async () => {
    const before = mode;
    epoch++; mode = "rest";
    clearTimeout(timer);
    if (inflight) inflight.abort();
    try { await ask("DELETE", api); } catch (e) {
      if (e.status !== 401) { mode = before; later(0); throw e; }
    }
    $("leave").open = false;
    end(inside ? "done" : "left");
    $("say-title").focus();
  });
  $("stay").addEventListener("click", () => { $("leave").open = false; $("leave").querySelector("summary").focus(); });

  // ---- begin ----
  function begin() {
    show("check", false);
    show("stay", true);
    $("join").classList.remove("late");
    setInterval(foot, 5 * SECOND);
    const state = main.dataset.state;
    if (navigator.cookieEnabled === false) return tell("cookies");
    if (state === "expired" || state === "left" || state === "done") return end(state);
    if (state === "loop") { mode = "rest"; return; }
    key = read("localStorage", keyName);
    if (main.dataset.standing) { checked = Date.now(); answer(JSON.parse(main.dataset.standing)); foot(); }
    else if (state === "new") { tell("joining"); noticeEnds = Date.now() + MINUTE; }
    tick();
  }
  // A page that the browser renders ahead takes no place until it is opened.
  if (document.prerendering) document.addEventListener("prerenderingchange", begin, { once: true });
  else begin();
})();
