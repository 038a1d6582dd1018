// ---- the loop: one request at a time ----
let busy = false;
async function step(mine) {
  const a = mode === "join" ? await join() : await ask("GET", api);
  if (mine !== epoch) return 0;
  checked = Date.now(); failures = 0;
  lastAnswer = a;
  tellTabs({ answer: a, at: checked });
  show("problem", false);
  if (answer(a)) await turn(a);
  const next = a.poll_after_ms > 0 ? a.poll_after_ms : 5 * SECOND;
  return claimAt && !held ? Math.min(next, claimAt - Date.now()) : next;
}
// failed says when to try again: full jitter, and never before the server's Retry-After.
function failed(e) {
  if (e.status === 401) {
    const state = e.problem.state === "moved" ? "moved" : "expired";
    end(state);
    tellTabs({ ended: state });
    return 0;
  }
  if (e.status === 409) return SECOND + Math.random() * SECOND; // not our turn after all: look again
  failures++;
  const pause = Math.max(e.after || 0, Math.random() * Math.min(15 * SECOND, SECOND * 2 ** failures));
  if (e.after) hold = pause;
  foot();
  if (placed) speak($("checked").textContent);
  return pause;
}
async function tick() {
  clearTimeout(timer);
  if (busy || following || mode === "rest") return;
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
  if (mine === epoch && mode !== "rest" && !following) later(next);
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
  if (document.hidden) return;
  if (following && shares) lead(true);
  else tick();
}, true);
addEventListener("pageshow", (e) => {
  if (!e.persisted) return;
  if (mode === "rest" && !$("turn").hidden) mode = "poll"; // back from the shop
  following = false;
  openTabs();
});
addEventListener("online", tick);
addEventListener("pagehide", () => {
  const leads = !following && !$("waiting").hidden;
  closeTabs();
  if (leads && navigator.sendBeacon) navigator.sendBeacon(`${api}/away`);
});

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
  if (following) lead(true);
  else await tick();
});
press("enter", async () => { write("sessionStorage", wentName, ""); await claim(); });
$("more").addEventListener("click", () => claim(true).catch(() => notice(say("retry"), 10 * SECOND)));
press("leave-form", async () => {
  const before = mode;
  epoch++; mode = "rest";
  clearTimeout(timer);
  if (inflight) inflight.abort();
  try { await ask("DELETE", api); } catch (e) {
    if (e.status !== 401) { mode = before; later(0); throw e; }
  }
  $("leave").open = false;
  const state = inside ? "done" : "left";
  end(state);
  tellTabs({ ended: state });
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
  if (/^(expired|left|done|moved)$/.test(state)) return end(state);
  if (state === "loop") { mode = "rest"; return; }
  key = read("localStorage", keyName);
  if (main.dataset.standing) {
    const a = JSON.parse(main.dataset.standing);
    if (a.state !== "admitted" && a.state !== "active") checked = Date.now();
    answer(a);
    foot();
  } else if (state === "new") { tell("joining"); noticeEnds = Date.now() + MINUTE; }
  openTabs();
}
// A page that the browser renders ahead takes no place until it is opened.
if (document.prerendering) document.addEventListener("prerenderingchange", begin, { once: true });
else begin();
