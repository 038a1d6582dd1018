// ---- showing ----
const set = (id, text) => { const e = $(id); if (e.textContent.trim() !== text) e.textContent = text; };
const show = (id, on) => { const e = $(id); if (e) e.hidden = !on; };
const named = (key, values) => { document.title = `${say(key, values)} · ${title}`; };
function panel(name) {
  for (const id of ["say", "waiting", "turn"]) show(id, id === name);
  show("leave", placed && name !== "say");
  show("resume", placed && name !== "say");
  show("foot", name === "waiting" || placed);
  show("next", name === "waiting");
  show("alerts", name !== "say");
  if (name !== "turn") countdown("claimleft", "", 0);
  if (name !== "say") countdown("opens", "", 0);
}
// tell shows a state in words; a form to join comes with it when label is given.
function tell(state, label) {
  panel("say");
  set("say-title", say(`${state}_title`));
  set("say-text", state === "joining" && proof ? say("proof_text") : say(`${state}_text`));
  show("join", Boolean(label));
  if (label) set("join-button", say(label));
  show("next", /^(joining|away|trouble)$/.test(state));
  show("foot", /^(closed|full|not_open|paused|away|trouble)$/.test(state));
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
  if (lost) {
    const until = new Date(checked + keep).toLocaleTimeString(`${lang}-u-nu-latn`, { hour: "numeric", minute: "2-digit" });
    show("foot", true);
    set("checked", placed && keep ? say("lost", { time: until }) : say("lost_new"));
  } else if (following && checked) set("checked", say("tabs"));
  else if (checked) set("checked", ago(Date.now() - checked));
}

// Countdowns run by the clock that never jumps, from durations that the server told.
const counts = {};
function countdown(id, phrase, ms) {
  counts[id] = ms > 0 ? { phrase, ends: performance.now() + ms } : null;
  count(id);
}
function count(id) {
  const c = counts[id], left = c ? c.ends - performance.now() : 0;
  show(id, left > 0);
  if (left > 0) set(id, say(c.phrase, { time: clock(left) }));
}
setInterval(() => { for (const id in counts) if (counts[id]) count(id); }, SECOND);

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
  if (speak(ahead ? say("speak", { n: ahead + 1, wait: wait(eta) }) : say("speak_next"))) spokenAhead = ahead;
}

function showWaiting(a) {
  recall();
  best = Math.min(best, a.position || Infinity);
  panel("waiting");
  set("wait", a.state === "waiting" ? wait(a.eta) : say(`wait_${a.state}`));
  set("alert", "");
  if (best < Infinity) showPlace(a);
  else { show("position", false); set("ahead", say("ahead_unknown")); named("room"); } // the line re-forms
  show("near", a.near && best < Infinity);
  claimAt = 0; held = false; alerted = false;
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
  named("place_title", { n: best });
  milestone(ahead, a.eta);
}
function showTurn(a) {
  panel("turn");
  set("turn-text", say(document.hidden ? "turn_hidden" : asks() ? "turn_ask" : "turn_text"));
  if (a.claim_by_s) countdown("claimleft", "turn_kept", a.claim_by_s * SECOND);
  else if (a.expires_in_s) countdown("claimleft", "turn_claimed", a.expires_in_s * SECOND);
  show("more", !held && Boolean(a.claim_by_s));
  set("alert", say("speak_turn"));
  named("turn_title");
  alertOnce();
}
// answer shows a standing, and says whether it is the visitor's turn.
function answer(a) {
  if (a.state === "expired" || a.state === "left" || a.state === "moved") { end(a.state); return false; }
  const turn = a.state === "admitted" || a.state === "active";
  const inLine = a.state === "waiting" || a.position > 0;
  placed = turn || inLine || a.state === "away";
  inside = a.state === "active";
  keep = (a.keep_s || 0) * SECOND || keep;
  mode = placed ? "poll" : "join";
  const news = a.reforming ? say("reforming") : a.notice || "";
  if (news && news !== $("notice").textContent) speak(news);
  if (news || Date.now() > noticeEnds) notice(news, 0);
  if (a.message !== undefined) { set("message", a.message); show("message", Boolean(a.message)); }
  if (inLine) showWaiting(a);
  else if (turn) showTurn(a);
  else tell(words[`${a.state}_title`] ? a.state : "trouble");
  if (a.opens_in_s) countdown("opens", "opens_in", a.opens_in_s * SECOND);
  return turn;
}
// end offers a new place. It waits for the visitor: nobody joins twice by accident.
function end(state) {
  mode = "rest"; placed = false; failures = 0;
  clearTimeout(timer);
  forget();
  notice("", 0);
  set("alert", "");
  tell(state, state === "moved" ? "" : "join_again");
  foot();
}
