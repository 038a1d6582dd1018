let mode = "join";      // what the next step does: join, poll, or rest (nothing)
let placed = false;     // the server has told us a place
let epoch = 0;          // answers to requests of an earlier epoch are dropped
let best = Infinity;    // smallest position of this place: what is shown never rises
let first = 0;          // most people ahead of this place, where the progress bar begins
let inside = false;     // the place was one inside when it was told last
let noticeEnds = 0;     // a notice that no answer brought stays until then
let claimAt = 0;        // when a page that does not go in by itself takes its turn up
let held = false;       // the turn was taken up, and the visitor is still here
let keep = 0;           // for how long the place is kept in silence
let failures = 0, checked = 0, timer = 0, inflight = null;
let hold = 0, heldAt = 0, due = 0, late = 0, hiddenAt = document.hidden ? Date.now() : 0;

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
function anew() {
  best = Infinity; first = 0; spokenAhead = Infinity; alerted = false; claimAt = 0; held = false;
  $("progress").value = 0;
}
// forget drops this tab's key only: another tab may have joined anew already.
function forget() {
  if (read("localStorage", keyName) === key) write("localStorage", keyName, "");
  write("sessionStorage", seenName, "");
  key = "";
  anew();
}
// A place is the same as long as the key is. A tab that joined anew changed it.
function recall() {
  const now = read("localStorage", keyName);
  if (now === key && best !== Infinity) return;
  if (now !== key) anew();
  key = now;
  try {
    const seen = JSON.parse(read("sessionStorage", seenName));
    if (key && seen.key === key) { best = Math.min(best, seen.best); first = Math.max(first, seen.first); }
  } catch { /* nothing remembered */ }
}
