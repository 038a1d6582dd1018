// ---- what the visitor asked for when the turn comes ----
let alerted = false, sounds = null;
const wish = (id) => $(id)?.checked;
const asks = () => wish("ask");

// A browser lets a page sound only after somebody touched it: the box is that touch.
function listen() {
  sounds ??= new (window.AudioContext || window.webkitAudioContext)();
  sounds.resume();
}
function ring() {
  [0, .22, .44].forEach((at, i) => {
    const tone = sounds.createOscillator(), level = sounds.createGain(), from = sounds.currentTime + at;
    tone.frequency.value = [523, 659, 784][i];
    level.gain.setValueAtTime(.25, from);
    level.gain.exponentialRampToValueAtTime(.001, from + .5);
    tone.connect(level).connect(sounds.destination);
    tone.start(from);
    tone.stop(from + .5);
  });
}
function alertOnce() {
  if (alerted || following) return;
  alerted = true;
  try {
    if (wish("sound") && sounds) ring();
    if (wish("notify") && document.hidden) {
      const n = new Notification(say("turn"), { body: title, tag: room });
      n.onclick = () => { focus(); n.close(); };
    }
  } catch { /* a browser without them */ }
}
function remembers(id, act) {
  const box = $(id), name = `anteroom.${id}`;
  if (!box) return;
  box.checked = id === "ask" && read("localStorage", name) === "1"; // sound and notifications need a touch
  box.addEventListener("change", async () => {
    if (act && box.checked) box.checked = (await act()) !== false;
    write("localStorage", name, box.checked ? "1" : "");
  });
}
remembers("sound", listen);
remembers("notify", async () => {
  const may = window.Notification ? await Notification.requestPermission() : "denied";
  if (may !== "granted") notice(say("notify_no"), 10 * SECOND);
  return may === "granted";
});
remembers("ask");
