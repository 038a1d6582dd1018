// The queue page. The server decides everything: this script asks when it is told to,
// shows the answer, and goes in when it is the visitor's turn.
//
// Its files are joined in the order of their names and run as one function.
const $ = (id) => document.getElementById(id);
const main = $("queue");
if (!main || !window.fetch) return;
const { room, title, target, proof } = main.dataset;
const words = JSON.parse($("words").textContent);
const lang = document.documentElement.lang;
const api = `/v1/rooms/${room}/ticket`;
const SECOND = 1000, MINUTE = 60 * SECOND;

// ---- words ----
const plurals = new Intl.PluralRules(lang);
const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, words._sep);
// say fills a phrase. One that has plural forms goes by the value n, or else by b.
function say(key, values = {}) {
  const phrase = words[key] ?? "";
  const text = phrase.other === undefined ? phrase : phrase[plurals.select(values.n ?? values.b)] ?? phrase.other;
  return text.replace(/\{(\w+)\}/g, (_, name) => Number.isInteger(values[name]) ? number(values[name]) : values[name]);
}
const people = (n) => n ? say("ahead", { n }) : say("ahead_0");
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
  return say(b > 1 && a === 0 ? "wait_up_to" : a >= b || b === 1 ? "wait_n" : "wait_range", { a, b });
}
function ago(ms) {
  if (ms < 10 * SECOND) return say("checked_now");
  const f = new Intl.RelativeTimeFormat(lang, { numeric: "always", numberingSystem: "latn" });
  return say("checked", { ago: ms < MINUTE ? f.format(-Math.floor(ms / 10000) * 10, "second")
    : f.format(-Math.floor(ms / MINUTE), "minute") });
}
// clock writes a time that is left as 1:05 or 2:03:04.
function clock(ms) {
  const s = Math.max(0, Math.ceil(ms / SECOND)), two = (n) => String(n).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}
