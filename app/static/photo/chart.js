// Quality for one depth everywhere; its axis is the slider. Without a truth: how much lies how deep.
const chart = () => at("#ph-chart");
const NS = (tag, told, text = "") =>
  `<${tag} ${Object.entries(told).map(([name, one]) => `${name}="${one}"`).join(" ")}>${text}</${tag}>`;
const line = (x1, y1, x2, y2, kind) => NS("line", { x1, y1, x2, y2, class: kind });
const label = (x, y, text, kind = "", anchor = "middle") => NS("text", { x, y, class: kind, "text-anchor": anchor }, text);
const TOP = 22;
const FOOT = 96;

function curve() {
  const card = chart();
  if (!card) return;
  const svg = card.querySelector(".ph-plot > svg");
  const width = svg.parentElement.clientWidth || 400;
  svg.setAttribute("viewBox", `0 0 ${width} 134`);
  const narrow = width < 330;
  const [left, right] = [44, width - (narrow ? 20 : 116)];
  const ready = done();
  const rated = ready && value.truth && value.own !== null;
  const bars = value.truth === false;
  const deepest = bars && ready ? value.places.shares.length - 1 : 32;
  const x = (k) => left + ((right - left) * k) / deepest;
  const slider = card.querySelector("input");
  Object.assign(slider.style, { left: `${left - 11}px`, width: `${right - left + 22}px` });
  show(card.querySelector("table"), rated);
  show(slider, !bars);
  slider.disabled = !rated;
  if (slider.value !== String(depth)) slider.value = depth;
  const known = Object.entries(value.singles ?? {}).map(([k, q]) => [Number(k), q]).sort((a, b) => a[0] - b[0]);
  const ticks = [0, 8, 16, 24, 32].filter((k) => bars || way === "each" || Math.abs(k - depth) > 2);
  let drawn = ticks.map((k) => label(x(k), 124, k)).join("");
  if (bars && ready) drawn += shares(x, left, right);
  else {
    drawn += line(left, FOOT, right, FOOT, "axis") + (narrow ? "" : label(right + 32, 124, words.depth, "", "start"));
    if (rated) drawn += rating(known, x, left, right, narrow);
    else drawn += label((left + right) / 2, 60, words.later, "soft");
  }
  svg.innerHTML = drawn;
  card.querySelector("tbody").innerHTML = known.map(([k, q]) => `<tr><th>${words.depth} ${k}</th><td>${db(q)}</td></tr>`).join("");
  const [each, one] = card.querySelectorAll("[data-way]");
  press(each, way === "each");
  press(one, way === "one");
  put(each.querySelector("em"), rated ? value.own.toFixed(1) : "");
  const here = value.singles?.[depth];
  put(one.querySelector(".wide"), rated ? `${words.one}: ${depth}` : words.one);
  put(one.querySelector("em"), here === undefined ? (going === depth ? "…" : "") : here.toFixed(1));
  one.disabled = !rated;
  card.querySelector("section").classList.toggle("bars", bars);
  slider.setAttribute("aria-valuetext", `${words.depth} ${depth}${here === undefined ? "" : `, ${db(here)}`}`);
  survey(card, rated, known.length);
}

function rating(known, x, left, right, narrow) {
  const all = [value.own, value.before, ...known.map(([, q]) => q)];
  const high = Math.max(...all);
  const low = Math.min(high - 3, Math.max(Math.min(...all), high - 12));
  const y = (q) => FOOT - 6 - ((Math.max(q, low) - low) / (high - low)) * (FOOT - 6 - TOP);
  const own = y(value.own);
  let drawn = [high, (high + low) / 2, low].map((q) => label(left - 10, y(q) + 5, q.toFixed(0), "", "end")).join("");
  drawn += label(left - 10, 124, "dB", "", "end");
  const path = known.map(([k, q]) => `${x(k)} ${y(q)}`).join("L");
  const there = known.length > 1;
  if (there && value.best !== null) {
    const ends = `L${x(known.at(-1)[0])} ${own}L${x(known[0][0])} ${own}Z`;
    drawn += `<path class="gain" d="M${path}${ends}"/>`;
  }
  if (there) drawn += `<path class="one" d="M${path}"/>`;
  drawn += line(left, own, right, own, "each") + NS("circle", { cx: left, cy: y(value.before), r: 4, class: "came" });
  if (!narrow) drawn += label(right + 8, own + 5, words.for_each, "ink", "start");
  if (there && !narrow) drawn += label(right + 8, Math.max(own + 24, y(known.at(-1)[1]) + 4), words.everywhere, "amber", "start");
  if (value.best !== null && value.best !== undefined) {
    const best = value.singles[value.best];
    const more = value.own - best;
    if (more > 0.05) {
      const [bx, by] = [x(value.best), y(best)];
      if (by - own > 14) drawn += `<path class="up" d="M${bx} ${by - 5}V${own + 6}M${bx - 4} ${own + 10}l4 -5l4 5"/>`;
      drawn += label(bx + 10, own + (by - own > 30 ? 18 : -6), `+${db(more)}`, "better", "start");
    }
  }
  const here = value.singles[depth];
  if (here !== undefined && (way === "one" || value.best !== null)) {
    drawn += line(x(depth), y(here), x(depth), FOOT, "drop");
    drawn += NS("circle", { cx: x(depth), cy: y(here), r: 5, class: "mark" });
  }
  return drawn + (way === "one" ? label(x(depth), 124, depth, "ink") : "");
}

function shares(x, left, right) {
  const counts = value.places.shares;
  const most = Math.max(...counts);
  const bars = counts.map((n, k) => n && NS("rect", {
    x: x(k) - 3, width: 6, height: Math.max(2, (66 * n) / most), y: FOOT - Math.max(2, (66 * n) / most), class: k ? "deep" : "zero",
  }));
  return line(left, FOOT, right, FOOT, "axis") + label(left, 18, words.shares, "ink", "start") + bars.filter(Boolean).join("")
    + label(right + 32, 124, words.depth, "", "start");
}

function survey(card, rated, count) {
  const surveying = wanted.length > 1 || (surveys && going !== null);
  const complete = value.best !== null && value.best !== undefined;
  const box = card.querySelector(".ph-survey");
  show(box, rated && (!complete || surveying));
  show(box.querySelector("[data-survey]"), !surveying && !complete);
  show(box.querySelector("[data-stop]"), surveying);
  const known = props.survey.filter((k) => k in (value.singles ?? {})).length;
  const told = { depth: going ?? depth, done: Math.min(known, count), total: props.survey.length };
  put(box.querySelector("span"), surveying ? fill(words.drawing, told) : "");
}

function chartEvents(card) {
  const slider = card.querySelector("input");
  slider.addEventListener("input", () => {
    depth = Number(slider.value);
    way = "one";
    draw();
  });
  slider.addEventListener("change", () => { clearTimeout(waits); waits = setTimeout(wish, 400); });
  for (const node of card.querySelectorAll("[data-way]")) {
    node.addEventListener("click", () => { way = node.dataset.way; wish(); });
  }
  card.querySelector("[data-survey]").addEventListener("click", () => {
    surveys = true;
    wanted = [...props.survey];
    next();
  });
  card.querySelector("[data-stop]").addEventListener("click", () => { halt(); draw(); });
}
let surveys = false;
let waits = 0;
// The picture at this depth, before others that are still to be asked for.
function wish() {
  if (inOne() && !pictures.has(depth) && going !== depth) wanted = [depth, ...wanted.filter((k) => k !== depth)];
  next();
}
