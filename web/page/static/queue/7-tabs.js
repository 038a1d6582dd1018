// ---- one tab asks for all tabs of this browser ----
// Whoever holds the lock asks; the others are told, and take over when it goes. A tab that
// somebody looks at takes the lock from one that is hidden, whose timers are slow. A browser
// without locks or channels has every tab ask for itself.
const shares = navigator.locks && window.BroadcastChannel;
let following = false, channel = null, release = null, lastAnswer = null, told = 0;

function tellTabs(message) { channel?.postMessage(message); }

// lead waits for the lock, or takes it from whoever has it; until then this tab follows.
function lead(steal) {
  following = true;
  told = Date.now();
  if (!steal) tellTabs({ hello: 1 });
  navigator.locks.request(`${keyName}.asks`, steal ? { steal: true } : {}, () => {
    following = false;
    tick();
    return new Promise((done) => { release = done; });
  }).catch(() => { follow(); }); // another tab took it
}
function follow() {
  release = null;
  if (!channel) return; // this page is left
  clearTimeout(timer);
  lead(false);
}
function openTabs() {
  if (!shares) return tick();
  channel = new BroadcastChannel(`${keyName}.tabs`);
  channel.onmessage = ({ data }) => hear(data);
  navigator.locks.query().then((state) => {
    const taken = state.held.some((l) => l.name === `${keyName}.asks`);
    lead(taken && !document.hidden);
  });
}
function closeTabs() {
  channel?.close();
  channel = null;
  release?.();
  release = null;
}
async function hear(m) {
  if (m.hello && !following && lastAnswer) tellTabs({ answer: lastAnswer, at: checked });
  if (m.held) { held = true; claimAt = 0; }
  if (m.ended && mode !== "rest") end(m.ended);
  if (!m.answer || !following) return;
  told = Date.now();
  checked = m.at; failures = 0;
  const turnNow = answer(m.answer);
  foot();
  if (turnNow && !document.hidden) lead(true); // only a tab that is looked at goes in
}
// A tab that leads and does not speak is frozen.
setInterval(() => {
  if (following && mode !== "rest" && Date.now() - told > MINUTE) lead(true);
}, 10 * SECOND);
