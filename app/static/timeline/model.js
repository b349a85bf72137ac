// What is shown: one run as the server tells it, and what follows from it without the server.
const { words, marks } = props;

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

const counted = (forms, n) => fill(forms[n === 1 ? 0 : 1], { n });
const quote = ([label, p]) => `“${label}” ${percent(p)}`;
const clamp = (number, low, high) => Math.min(Math.max(number, low), high);

const whole = (curve) => curve.length > value.steps;
const finished = () => value.curves.length === value.paths && value.curves.every(whole);
const running = () => value.phase === "forward" || value.phase === "reverse";
const limitAt = (depth) => (value.bound ? value.bound[depth] : tau);

const average = (numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length;

function summarise() {
  const first = value.curves[0] ?? [];
  curves = [first.slice(0, shown), ...value.curves.slice(1)].filter((curve) => curve.length);
  const column = (_, depth) => curves.filter((c) => depth < c.length).map((c) => c[depth]);
  const columns = Array.from({ length: curves[0]?.length ?? 0 }, column);
  mean = value.mean?.slice(0, columns.length) ?? columns.map(average);
  lows = columns.map((c) => Math.min(...c));
  highs = columns.map((c) => Math.max(...c));
}

// The server's stops are for tau 0.00, 0.01 ... 1.00 and, last, for the run's own.
const atTau = (stops) => stops.at(tau === value.tau ? -1 : Math.round(100 * tau));

// The stop at tau; null: not decided, or the curve is not drawn that far.
function stopNow() {
  if (!value.stops) return null;
  const [t, crossed] = atTau(value.stops);
  return t < mean.length && (crossed || whole(mean)) ? { t, crossed } : null;
}

// Where each noise path alone would have stopped.
function spread() {
  if (value.alone.length < 2) return "";
  const depths = value.alone.map(atTau).filter((t) => t !== null);
  const known = { low: Math.min(...depths), high: Math.max(...depths) };
  Object.assign(known, { n: depths.length, paths: value.alone.length });
  if (!depths.length) return fill(words.spread_none, known);
  if (depths.length < value.alone.length) return fill(words.spread_some, known);
  return fill(known.low === known.high ? words.spread_same : words.spread, known);
}

const settled = () => ["done", "cancelled", "error"].includes(value.phase);
const moved = (stop) => Boolean(stop) && settled() && "t_star" in value && stop.t !== value.t_star;

// Methods whose depth does not follow t* of the curve.
const ownDepth = (name) => name === "dda" || name === "dga-plus";

// One method's way back, as far as it is known.
const laneOf = (name) => value.lanes.find((lane) => lane.name === name);
const stepsOf = (lane) => lane.strips.reduce((sum, [count]) => sum + count, 0);
const reached = (lane) => lane.visited[stepsOf(lane)];
const allSteps = (lane) => lane.visited.length - 1;
// Steps made when a depth is reached; between two depths the state is still the deeper one's.
const stepAt = (lane, depth) => lane.visited.findLastIndex((k) => k >= depth);
