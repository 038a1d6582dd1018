// Works out a challenge beside the page: the number whose SHA-256 with the salt is the
// challenge. Plain arithmetic, because crypto.subtle is missing on pages without TLS, and
// slower for many short texts.
const K = [], H = [];
for (let n = 2; K.length < 64; n++) {
  let prime = true;
  for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
  if (!prime) continue;
  if (H.length < 8) H.push((Math.sqrt(n) % 1) * 2 ** 32 | 0);
  K.push((Math.cbrt(n) % 1) * 2 ** 32 | 0);
}
const w = new Int32Array(64);

// block mixes 64 bytes, as 16 words in w, into the state.
function block(state) {
  for (let i = 16; i < 64; i++) {
    const a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + ((a >>> 7 | a << 25) ^ (a >>> 18 | a << 14) ^ a >>> 3) + w[i - 7] + ((b >>> 17 | b << 15) ^ (b >>> 19 | b << 13) ^ b >>> 10);
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const t = h + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) + (e & f ^ ~e & g) + K[i] + w[i] | 0;
    const u = ((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) + (a & b ^ a & c ^ b & c) | 0;
    h = g; g = f; f = e; e = d + t | 0; d = c; c = b; b = a; a = t + u | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((v, i) => { state[i] = state[i] + v | 0; });
}

// hash is the SHA-256 of a text of plain ASCII, as eight words.
function hash(text) {
  const state = Int32Array.from(H), blocks = (text.length + 8 >> 6) + 1;
  for (let n = 0; n < blocks; n++) {
    w.fill(0, 0, 16);
    for (let i = 0; i < 64; i++) {
      const at = n * 64 + i, c = at < text.length ? text.charCodeAt(at) : at === text.length ? 128 : 0;
      w[i >> 2] |= c << 24 - 8 * (i & 3);
    }
    if (n === blocks - 1) w[15] = text.length * 8;
    block(state);
  }
  return state;
}

onmessage = ({ data: { algorithm, challenge, salt, maxnumber, signature } }) => {
  const want = challenge.match(/.{8}/g).map((hex) => parseInt(hex, 16) | 0);
  for (let number = 0; number <= maxnumber; number++) {
    if (hash(salt + number).every((v, i) => v === want[i])) {
      postMessage(btoa(JSON.stringify({ algorithm, challenge, number, salt, signature })));
      return;
    }
  }
  postMessage("");
};
