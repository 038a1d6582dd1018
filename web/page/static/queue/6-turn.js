// ---- the turn ----
// A shop that sends people back at once would make a loop of it.
const went = () => read("sessionStorage", wentName).split(" ").filter((t) => t && Date.now() - t < MINUTE);
// claim takes the turn up and goes in, or stays: then the slot is the visitor's all the same.
async function claim(stay) {
  const got = await ask("POST", `${api}/claim`);
  if (stay || document.hidden) {
    held = true;
    tellTabs({ held });
    countdown("claimleft", "turn_claimed", got.expires_in_s * SECOND);
    show("more", false);
    return;
  }
  const to = new URL(got.redirect, location.href);
  if (!/^https?:$/.test(to.protocol)) throw { status: 0 };
  mode = "rest"; placed = false;
  write("sessionStorage", wentName, [...went(), Date.now()].join(" "));
  location.replace(to.href);
}
// A page that is looked at goes in at once, unless it shall ask first. Any other says so in
// its title and takes the turn up at half of its time at the latest, so that looking away
// loses nothing; it then stays here. Where timers are slow it does not wait for half.
async function turn(a) {
  if (!document.hidden && !asks()) {
    if (went().length < 4) return claim();
    tell("loop");
    show("turn", true);
    mode = "rest";
    return;
  }
  if (held || a.state === "active") return;
  const left = (a.claim_by_s || 0) * SECOND;
  const sluggish = document.hidden && (late > 3 * SECOND || Date.now() - hiddenAt > 4 * MINUTE);
  claimAt = claimAt || Date.now() + left / 2;
  if (Date.now() >= claimAt || (sluggish && left < 3 * MINUTE)) await claim(true);
}
