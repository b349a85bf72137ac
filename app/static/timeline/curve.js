// The curve: axes, limits, threshold, band and t*. All are strings of SVG.
const label = (x, y, text, anchor = "middle", kind = "") =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" class="${kind}">${text}</text>`;
const stroke = (x1, y1, x2, y2, kind) =>
  `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" class="${kind}"/>`;
const box = (x, y, width, height, kind) =>
  `<rect x="${x}" y="${y}" width="${Math.max(width, 0)}" height="${height}" class="${kind}"/>`;
const dot = (x, y, r, kind) => `<circle cx="${x}" cy="${y}" r="${r}" class="${kind}"/>`;
const trace = (b, points, from = 0) =>
  points.map((c, i) => `${i ? "L" : "M"}${b.x(from + i).toFixed(1)} ${b.y(c).toFixed(1)}`).join("");

function axes(b) {
  let out = "";
  for (const c of [0, 0.5, 1]) {
    out += stroke(b.left, b.y(c), b.right, b.y(c), "grid");
    if (!b.narrow) out += label(b.left - 10, b.y(c) + 4, c.toFixed(1), "end");
  }
  for (let k = 0; k <= value.steps; k += b.narrow ? 20 : 10) {
    const anchor = !b.narrow || (k && k < value.steps) ? "middle" : k ? "end" : "start";
    out += stroke(b.x(k), b.bottom, b.x(k), b.bottom + 5, "tick");
    out += label(b.x(k), b.bottom + 20, b.narrow && k === 0 ? `${words.depth} 0` : k, anchor);
  }
  if (b.narrow) return out;
  out += label(0, b.top + 4, words.axis, "start", "strong");
  words.axis_more.forEach((text, i) => (out += label(0, b.top + 21 + 16 * i, text, "start")));
  return out + label(b.left - 10, b.bottom + 20, words.depth, "end");
}

function limits(b, stop) {
  const at = b.x(value.max_depth);
  const [top, bottom] = [b.top, b.bottom];
  const end = b.right - 8;
  let out = box(at, top, b.right - at, bottom - top, "beyond") + stroke(at, top, at, bottom, "limit");
  if (!stop || stop.crossed || !stop.t) {
    out += label(at + 6, bottom - 8, fill(words.max, { max: value.max_depth }), "start");
  }
  if (stop && !stop.crossed && !stop.t && value.horizon > value.max_depth) {
    const last = b.x(value.horizon);
    out += stroke(last, top, last, bottom, "limit");
    out += label(last + 6, bottom - 8, fill(words.horizon, { horizon: value.horizon }), "start");
  }
  out += label(end, top + 16, (b.narrow ? "1.0 " : "") + words.high, "end");
  return out + label(end, bottom - (b.narrow ? 24 : 8), (b.narrow ? "0.0 " : "") + words.low, "end");
}

function threshold(b) {
  if (!value.bound) return stroke(b.left, b.y(tau), b.right, b.y(tau), "tau");
  const at = Math.max(value.bound.findIndex((c) => c > 0.4), 0);
  const name = label(b.x(at) + 10, b.y(value.bound[at]) + 18, words.bound_line, "start");
  return `<path d="${trace(b, value.bound)}" class="tau bound"/>` + name;
}

function example(b) {
  if (value.phase !== "empty") return "";
  const points = Array.from({ length: value.steps + 1 }, (_, k) =>
    0.42 + 0.5 / (1 + Math.exp((k - 24) / 6)));
  const path = `<path d="${trace(b, points)}" class="sample"/>`;
  return path + label(b.x(b.narrow ? 30 : 28), b.y(0.25), words.example, "start");
}

function band(b) {
  const count = curves.length;
  if (count < 2) return "";
  const back = lows.map((c, k) => `L${b.x(k).toFixed(1)} ${b.y(c).toFixed(1)}`).reverse();
  return `<path d="${trace(b, highs)}${back.join("")}Z" class="band"/>`;
}

// Words beside the curve, where nothing else is written: the first place that is free.
function remarks(b, stop) {
  if (b.narrow || !stop || shown <= value.steps) return "";
  const later = [stop.t + 26, 46, 60, 74].filter((k) =>
    k > stop.t + 14 && k < value.steps - 22 && Math.abs(k - value.max_depth) > 11);
  const near = (list, k) => list.slice(k - 12, k + 13);
  const free = ([k, y]) =>
    Math.abs(y - 4 - b.y(limitAt(k))) > 12 && y > b.top + 22 && y < b.bottom - 22;
  const below = later.map((k) => [k, b.y(Math.min(...near(lows, k))) + 18]).find(free);
  const above = [...later].reverse()
    .map((k) => [k, b.y(Math.max(...near(highs, k))) - 10]).find(free);
  const say = (place, text) => (place ? label(b.x(place[0]), place[1], text) : "");
  if (curves.length < 2) return say(below ?? above, words.later);
  return say(above, fill(words.band, { paths: curves.length })) + say(below, words.later);
}

function curve(b, stop) {
  if (!mean.length) return example(b);
  const turn = stop ? stop.t : mean.length - 1;
  const tip = Math.min(curves.at(-1).length, mean.length) - 1; // the first may still be growing
  const growing = !finished() || shown <= value.steps;
  return (
    band(b) + `<path d="${trace(b, mean.slice(turn), turn)}" class="after"/>` +
    `<path d="${trace(b, mean.slice(0, turn + 1))}" class="curve"/>` +
    (growing ? dot(b.x(tip), b.y(mean[tip]), 4, "tip") : "") + remarks(b, stop)
  );
}

// Right of the pill where the words fit, else on the roomier side, in two lines if need be.
function placeAside(before, after, width) {
  aside.style.maxWidth = "";
  const fits = after + aside.offsetWidth <= width;
  const right = fits || width - after >= before;
  aside.style.maxWidth = `${right ? width - after : before}px`;
  aside.style.left = `${right ? after : before - aside.offsetWidth}px`;
}

function stopMark(b, stop) {
  pill.hidden = !stop;
  aside.hidden = !stop;
  if (!stop) return "";
  const at = b.x(stop.t);
  const never = stop.t ? fill(words.max, { max: stop.t }) : words.pill_left;
  put(pill, stop.crossed ? `t* = ${stop.t}` : never);
  pill.classList.toggle("hollow", !stop.crossed);
  const half = pill.offsetWidth / 2;
  const middle = clamp(at, half, b.width - half);
  pill.style.left = `${middle}px`;
  put(aside, spread());
  placeAside(middle - half - 10, middle + half + 10, b.width);
  const kind = stop.crossed ? "stop" : "stop never";
  const foot = stop.t ? b.rail : b.bottom;
  return stroke(at, 32, at, foot, kind) + dot(at, b.y(mean[stop.t]), 5, "ring");
}

function curveSvg(b, stop) {
  const searched = stop ? stop.t : Math.min(Math.max(mean.length - 1, 0), value.max_depth);
  return (
    box(b.left, b.top, b.x(searched) - b.left, b.bottom - b.top, "searched") +
    limits(b, stop) + axes(b) + threshold(b) + curve(b, stop) + stopMark(b, stop)
  );
}
