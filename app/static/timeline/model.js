// What is shown: one run as the server tells it, and what follows from it without the server.
const { words, marks } = props;
const find = (selector) => element.querySelector(selector);
const motion = window.matchMedia("(prefers-reduced-motion: reduce)");

let value = props.value;
let tau = value.tau;
let ddaDepth = null; // as the slider stands, until it is released into a run
let shown = 0; // depths of the first noise path that are drawn by now
let frame = 0;
let waiting = false;
let area = null; // see layout()
let curves = []; // one a noise path, as far as they are drawn
let mean = []; // what the rule reads, by depth
let lows = [];
let highs = [];

const fill = (text, known) => text.replace(/\{(\w+)\}/g, (_, name) => known[name]);
const counted = (forms, n) => fill(forms[n === 1 ? 0 : 1], { n });
const percent = (p) => {
  const whole = Math.round(100 * p);
  return `${whole === 100 && p < 0.9995 ? 99 : whole} %`;
};
const quote = ([label, p]) => `“${label}” ${percent(p)}`;
const clamp = (number, low, high) => Math.min(Math.max(number, low), high);
const put = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
};

const whole = (curve) => curve.length > value.steps;
const finished = () => value.curves.length === value.paths && value.curves.every(whole);
const running = () => value.phase === "forward" || value.phase === "reverse";
const limitAt = (depth) => (value.bound ? value.bound[depth] : tau);

// The threshold rule averages confidences, the quantile rule averages logits.
const logit = (c) => Math.log(c / (1 - c));
const average = (numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length;
function together(confidences) {
  if (!value.bound || confidences.length === 1) return average(confidences);
  const z = average(confidences.map((c) => logit(clamp(c, 1e-15, 1 - 1e-15))));
  return 1 / (1 + Math.exp(-z));
}

function summarise() {
  const first = value.curves[0] ?? [];
  curves = [first.slice(0, shown), ...value.curves.slice(1)].filter((curve) => curve.length);
  const column = (_, depth) => curves.filter((c) => depth < c.length).map((c) => c[depth]);
  const columns = Array.from({ length: curves[0]?.length ?? 0 }, column);
  mean = columns.map(together);
  lows = columns.map((c) => Math.min(...c));
  highs = columns.map((c) => Math.max(...c));
}

function qualifies(curve, depth) {
  const next = curve.slice(depth, depth + value.run);
  return next.length === value.run && next.every((c, i) => c < limitAt(depth + i));
}

const qualifiesBy = (curve, horizon) =>
  horizon === null || curve.slice(0, horizon + 1).some((_, depth) => qualifies(curve, depth));

// The rule of dga/stopping.py, on as much of the curve as is known; null: not decided yet.
function choose(curve) {
  const last = Math.min(value.max_depth, curve.length - 1);
  for (let k = 0; k <= last; k++) if (qualifies(curve, k)) return { t: k, crossed: true };
  if (!whole(curve)) return null;
  return { t: qualifiesBy(curve, value.horizon) ? last : 0, crossed: false };
}

// Where each noise path alone would have stopped.
function spread() {
  const complete = curves.filter(whole);
  if (complete.length < 2) return "";
  const depths = complete.map(choose).filter((stop) => stop.crossed).map((stop) => stop.t);
  const known = { low: Math.min(...depths), high: Math.max(...depths) };
  Object.assign(known, { n: depths.length, paths: complete.length });
  if (!depths.length) return fill(words.spread_none, known);
  if (depths.length < complete.length) return fill(words.spread_some, known);
  return fill(known.low === known.high ? words.spread_same : words.spread, known);
}

const settled = () => ["done", "cancelled", "error"].includes(value.phase);
const moved = (stop) => Boolean(stop) && settled() && "t_star" in value && stop.t !== value.t_star;

// One method's way back, as far as it is known.
const laneOf = (name) => value.lanes.find((lane) => lane.name === name);
const stepsOf = (lane) => lane.strips.reduce((sum, [count]) => sum + count, 0);
const reached = (lane) => lane.depth - stepsOf(lane);
