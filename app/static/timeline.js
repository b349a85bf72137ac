const words = props.words;
const find = (selector) => element.querySelector(selector);
const plot = find(".tl-plot");
plot.innerHTML = `
  <svg aria-hidden="true"></svg>
  <div class="tl-line"></div>
  <div class="tl-pill" hidden></div>
  <div class="tl-read" hidden></div>
  <div class="tl-tau" role="slider" tabindex="0" aria-label="${words.tau}"
       aria-valuemin="0" aria-valuemax="1" aria-orientation="vertical"></div>`;
const [svg, line, pill, read, handle] = plot.children;
const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;

let value = props.value;
let tau = value.tau;
let ddaDepth = null;
let shown = 0;
let frame = 0;
let waiting = false;
let area = null;

const fill = (text, known) => text.replace(/\{(\w+)\}/g, (_, name) => known[name]);
const percent = (p) => {
  const whole = Math.round(100 * p);
  return `${whole === 100 && p < 0.9995 ? 99 : whole} %`;
};
const quote = ([label, p]) => `“${label}” ${percent(p)}`;
const finished = () => value.curve.length > value.steps;

function qualifies(curve, k) {
  const next = curve.slice(k, k + value.run);
  return next.length === value.run && next.every((c) => c < tau);
}

const qualifiesBy = (curve, horizon) =>
  horizon === null || curve.slice(0, horizon + 1).some((_, k) => qualifies(curve, k));

// The rule of dga/stopping.py, on as much of the curve as is known; null: not decided yet.
function choose(curve) {
  const last = Math.min(value.max_depth, curve.length - 1);
  for (let k = 0; k <= last; k++) if (qualifies(curve, k)) return { t: k, crossed: true };
  if (curve.length <= value.steps) return null;
  return { t: qualifiesBy(curve, value.horizon) ? last : 0, crossed: false };
}

function sentence(stop) {
  const { phase } = value;
  if (phase === "empty" || (phase === "error" && !finished())) return words.empty;
  if (phase === "cancelled" && !value.after && !finished()) return words.cancelled;
  if (phase === "forward" || !stop) return words.forward;
  const known = { t: stop.t, steps: value.steps, tau: tau.toFixed(2) };
  const moved = "t_star" in value && stop.t !== value.t_star;
  const left = !stop.crossed && stop.t === 0;
  const kind = left ? "_left" : !stop.crossed ? "_never" : stop.t === 0 ? "_zero" : "";
  known.horizon = value.horizon;
  if (moved) return fill(words["moved" + kind], known);
  if (!value.after) return fill(words["reverse" + kind], known);
  const same = value.before[0] === value.after[0];
  known.before = quote(value.before);
  known.after = same ? `so at ${percent(value.after[1])}` : quote(value.after);
  known.verb = same ? words.verb_same : words.verb_other;
  if (kind === "_zero") return fill(words.zero, known);
  if (kind === "_left") return fill(words.left, known);
  if (kind === "_never") return fill(words.never, known);
  return fill(same ? words.stayed : words.became, known);
}

const put = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
};

function status() {
  const { progress, phase } = value;
  const track = find(".tl-track");
  const running = progress && !waiting;
  track.hidden = !running && !waiting;
  track.classList.toggle("waiting", waiting);
  let text = phase === "empty" || finished() ? words.tau_help : "";
  if (waiting) text = words.waiting;
  if (running) {
    text = `${progress.name} ${progress.done} of ${progress.total}`;
    const share = (100 * progress.done) / progress.total;
    track.setAttribute("aria-valuenow", Math.round(share));
    track.firstElementChild.style.width = `${share}%`;
  }
  put(find(".tl-words"), text);
  put(find(".tl-error"), waiting ? "" : value.error);
  find(".tl-status").hidden = Boolean(value.error) && !waiting;
  plot.classList.toggle("dim", phase === "error" && !waiting);
}

function pale(name, note) {
  const card = document.getElementById(`card-${name}`);
  if (!card) return;
  card.classList.toggle("stale", Boolean(note));
  if (note) card.dataset.again = note;
}

function markStale(stop) {
  const settled = "t_star" in value && ["done", "cancelled", "error"].includes(value.phase);
  const moved = settled && stop && stop.t !== value.t_star;
  const note = moved ? fill(words.again, { t: stop.t }) : "";
  for (const name of ["x_t_star", "dga", "dga-guided"]) pale(name, note);
  const deeper = settled && ddaDepth !== null && ddaDepth !== value.dda_depth;
  pale("dda", deeper ? fill(words.again_depth, { t: ddaDepth }) : "");
}

function layout() {
  const width = plot.clientWidth;
  const narrow = width < 640;
  const box = { width, narrow, left: narrow ? 8 : 128, right: width - (narrow ? 8 : 24) };
  box.top = 48;
  box.bottom = narrow ? 236 : 308;
  box.height = box.bottom + 32;
  box.x = (depth) => box.left + (depth / value.steps) * (box.right - box.left);
  box.y = (c) => box.top + (1 - c) * (box.bottom - box.top);
  return box;
}

const label = (x, y, text, anchor = "middle", kind = "") =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" class="${kind}">${text}</text>`;

function axes(b) {
  let out = "";
  for (const c of [0, 0.5, 1]) {
    out += `<line x1="${b.left}" x2="${b.right}" y1="${b.y(c)}" y2="${b.y(c)}" class="grid"/>`;
    if (!b.narrow) out += label(b.left - 10, b.y(c) + 4, c.toFixed(1), "end");
  }
  for (let d = 0; d <= value.steps; d += b.narrow ? 20 : 10) {
    const anchor = !b.narrow ? "middle" : d === 0 ? "start" : d === value.steps ? "end" : "middle";
    out += `<line x1="${b.x(d)}" x2="${b.x(d)}" y1="${b.bottom}" y2="${b.bottom + 5}" class="tick"/>`;
    out += label(b.x(d), b.bottom + 20, b.narrow && d === 0 ? `${words.depth} 0` : d, anchor);
  }
  if (!b.narrow) {
    out += label(0, b.top + 4, words.axis, "start", "strong");
    words.axis_more.forEach((text, i) => (out += label(0, b.top + 21 + 16 * i, text, "start")));
    out += label(b.left - 10, b.bottom + 20, words.depth, "end");
  }
  return out;
}

function limits(b, stop) {
  const at = b.x(value.max_depth);
  const end = b.right - (b.narrow ? 6 : 92); // beside the handle of tau
  const text = !stop || stop.crossed || !stop.t ? fill(words.max, { max: value.max_depth }) : "";
  return (
    `<rect x="${at}" y="${b.top}" width="${b.right - at}" height="${b.bottom - b.top}" class="beyond"/>` +
    `<line x1="${at}" x2="${at}" y1="${b.top}" y2="${b.bottom}" class="limit"/>` +
    label(at + 6, b.bottom - 8, text, "start") +
    label(end, b.top + 16, (b.narrow ? "1.0 " : "") + words.high, "end") +
    label(end, b.bottom - (b.narrow ? 24 : 8), (b.narrow ? "0.0 " : "") + words.low, "end")
  );
}

const trace = (b, points, from = 0) =>
  points.map((c, i) => `${i ? "L" : "M"}${b.x(from + i).toFixed(1)} ${b.y(c).toFixed(1)}`).join("");

function curves(b, curve, stop) {
  if (!curve.length) {
    if (value.phase !== "empty") return "";
    const sample = Array.from({ length: 101 }, (_, d) => 0.42 + 0.5 / (1 + Math.exp((d - 24) / 6)));
    const at = b.narrow ? b.x(30) : b.x(22);
    return `<path d="${trace(b, sample)}" class="sample"/>` +
      label(at, b.y(0.25), words.example, b.narrow ? "start" : "start");
  }
  const turn = stop ? stop.t : curve.length - 1;
  let out = `<path d="${trace(b, curve.slice(turn), turn)}" class="after"/>`;
  out += `<path d="${trace(b, curve.slice(0, turn + 1))}" class="curve"/>`;
  const tip = curve.length - 1;
  if (!finished() || shown <= value.steps) {
    out += `<circle cx="${b.x(tip)}" cy="${b.y(curve[tip])}" r="4" class="tip"/>`;
  }
  if (stop && !b.narrow && shown > value.steps && stop.t < value.steps - 30) {
    const at = Math.min(Math.max(stop.t + 16, 40), value.steps - 14);
    const beside = curve.slice(at - 10, at + 10);  // depths that the words span
    const low = Math.min(...beside);
    const y = low > 0.2 ? b.y(low) + 20 : b.y(Math.max(...beside)) - 12;
    out += label(b.x(at), y, words.later);
  }
  return out;
}

function stopMark(b, curve, stop) {
  pill.hidden = !stop;
  if (!stop) return "";
  const at = b.x(stop.t);
  const never = stop.t ? words.max : words.pill_left;
  put(pill, stop.crossed ? `t* = ${stop.t}` : fill(never, { max: stop.t }));
  pill.classList.toggle("hollow", !stop.crossed);
  const half = pill.offsetWidth / 2;
  pill.style.left = `${Math.min(Math.max(at, half), b.width - half)}px`;
  const kind = stop.crossed ? "stop" : "stop never";
  return (
    `<line x1="${at}" x2="${at}" y1="32" y2="${b.bottom}" class="${kind}"/>` +
    `<circle cx="${at}" cy="${b.y(curve[stop.t])}" r="5" class="ring"/>`
  );
}

function draw() {
  const b = (area = layout());
  if (!b.width) return;
  const curve = value.curve.slice(0, shown);
  const stop = choose(curve);
  const searched = stop ? stop.t : Math.min(Math.max(curve.length - 1, 0), value.max_depth);
  plot.style.height = `${b.height}px`;
  svg.setAttribute("width", b.width);
  svg.setAttribute("height", b.height);
  svg.innerHTML =
    `<rect x="${b.left}" y="${b.top}" width="${b.x(searched) - b.left}" height="${b.bottom - b.top}" class="searched"/>` +
    limits(b, stop) + axes(b) +
    `<line x1="${b.left}" x2="${b.right}" y1="${b.y(tau)}" y2="${b.y(tau)}" class="tau"/>` +
    curves(b, curve, stop) + stopMark(b, curve, stop);
  for (const node of [line, handle]) node.style.top = `${b.y(tau)}px`;
  put(handle, `τ ${tau.toFixed(2)}`);
  handle.setAttribute("aria-valuenow", tau.toFixed(2));
  const where = stop ? `, t* = ${stop.t}` : "";
  handle.setAttribute("aria-valuetext", `${tau.toFixed(2)}${where}`);
  plot.dataset.phase = value.phase;
  plot.dataset.tStar = stop ? stop.t : "";
  put(find(".tl-sentence"), sentence(stop));
  status();
  markStale(stop);
}

function grow() {
  frame = 0;
  shown = calm ? value.curve.length : Math.min(shown + 3, value.curve.length);
  draw();
  if (shown < value.curve.length) frame = requestAnimationFrame(grow);
}

function receive() {
  value = props.value;
  waiting = false;
  if (value.curve.length < shown) shown = 0;
  if (shown < value.curve.length && !frame) frame = requestAnimationFrame(grow);
  draw();
}

function setTau(next) {
  tau = Math.round(100 * Math.min(Math.max(next, 0), 1)) / 100;
  draw();
}

const keys = {
  ArrowUp: 0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowLeft: -0.01,
  PageUp: 0.1, PageDown: -0.1, Home: -1, End: 1,
};
handle.addEventListener("keydown", (event) => {
  if (!(event.key in keys)) return;
  event.preventDefault();
  setTau(tau + keys[event.key]);
});

function drag(node, accept) {
  node.addEventListener("pointerdown", (event) => {
    if (!accept(event)) return;
    event.preventDefault();
    handle.focus({ preventScroll: true });
    node.setPointerCapture(event.pointerId);
    const move = (e) => {
      const y = e.clientY - plot.getBoundingClientRect().top;
      setTau(1 - (y - area.top) / (area.bottom - area.top));
    };
    const stop = () => {
      node.removeEventListener("pointermove", move);
      node.removeEventListener("pointerup", stop);
      node.removeEventListener("pointercancel", stop);
    };
    node.addEventListener("pointermove", move);
    node.addEventListener("pointerup", stop);
    node.addEventListener("pointercancel", stop);
  });
}
drag(handle, (event) => event.button === 0);
drag(line, (event) => event.button === 0 && event.pointerType === "mouse");

plot.addEventListener("pointermove", (event) => {
  const x = event.clientX - plot.getBoundingClientRect().left;
  const depth = Math.round(((x - area.left) / (area.right - area.left)) * value.steps);
  const c = value.curve[depth];
  read.hidden = c === undefined || depth >= shown;
  if (read.hidden) return;
  put(read, `depth ${depth}: ${c.toFixed(2)}`);
  const half = read.offsetWidth / 2;
  read.style.left = `${Math.min(Math.max(area.x(depth), half), area.width - half)}px`;
  read.style.top = `${area.y(c)}px`;
});
plot.addEventListener("pointerleave", () => (read.hidden = true));

window.dga = {
  tau: () => tau,
  depth: (next) => { ddaDepth = next; draw(); },
  idle: () => { waiting = false; draw(); },
  waiting: () => {
    waiting = true;
    draw();
    const card = document.getElementById("result");
    const top = card ? card.getBoundingClientRect().top : 0;
    if (top > window.innerHeight - 240) {
      card.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
    }
  },
};
new ResizeObserver(draw).observe(plot);
watch("value", receive);
receive();
