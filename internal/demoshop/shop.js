// Counts the visit down in the words of timeLeft in events.go.
(() => {
  "use strict";
  const left = document.getElementById("left");
  if (!left) return;
  const ends = Date.now() + left.dataset.seconds * 1000;
  const tick = () => {
    const s = Math.max(0, (ends - Date.now()) / 1000), m = Math.round(s / 60);
    const text = s < 60 ? "Less than a minute left" : m === 1 ? "About a minute left" : `About ${m} minutes left`;
    if (s > 0) {
      if (left.textContent !== text) left.textContent = text;
      return;
    }
    clearInterval(timer);
    document.getElementById("inside-text").textContent = "Your visit has ended.";
    for (const way of document.querySelectorAll("form.leave, #done-text")) way.hidden = true;
  };
  const timer = setInterval(tick, 1000);
})();
