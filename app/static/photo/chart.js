// Quality for one depth everywhere, whose axis is the slider; without a truth, what lies how deep.
const card = find(".ph-chart");
const slider = card.querySelector("input");
const [each, single] = card.querySelectorAll("[data-way]");
const [TOP, FOOT] = [22, 96];
const node = (tag, told, text = "") => {
  const attributes = Object.entries(told).map(([name, is]) => `${name}="${is}"`);
  return `<${tag} ${attributes.join(" ")}>${text}</${tag}>`;
};
const line = (x1, y1, x2, y2, kind) => node("line", { x1, y1, x2, y2, class: kind });
const text = (x, y, said, kind = "", anchor = "start") =>
  node("text", { x, y, class: kind, "text-anchor": anchor }, said);
const dot = (cx, cy, r, kind) => node("circle", { cx, cy, r, class: kind });

function chart() {
  const plot = card.querySelector("svg[role=img]");
  const width = plot.parentElement.clientWidth || 400;
  const wide = width >= 330;
  const [left, right] = [44, width - (wide ? 116 : 20)];
  const bars = !value.truth;
  const empty = bars && !(done() && value.shares.some((n, k) => n && k));
  show(card, !empty);
  if (empty) return;
  const deepest = bars ? value.shares.length - 1 : slider.max;
  const x = (k) => left + ((right - left) * k) / deepest;
  const here = value.singles[depth];
  const ticks = [0, 8, 16, 24, 32].filter((k) => !inOne() || Math.abs(k - depth) > 2);
  let drawn = line(left, FOOT, right, FOOT, "axis");
  if (wide) drawn += text(right + 32, 124, words.depth);
  for (const k of ticks) drawn += text(x(k), 124, k, "", "middle");
  if (!done()) drawn += text(width / 2, 66, words.later, "", "middle");
  else drawn += bars ? shares(x) : quality(x, wide);
  plot.setAttribute("viewBox", `0 0 ${width} 134`);
  plot.setAttribute("aria-label", bars ? words.shares : words.chart);
  plot.innerHTML = drawn;
  Object.assign(slider.style, { left: `${left - 11}px`, width: `${right - left + 22}px` });
  slider.disabled = single.disabled = !rated();
  slider.value = depth;
  const rating = here === undefined ? "" : `, ${db(here)}`;
  slider.setAttribute("aria-valuetext", `${words.depth} ${depth}${rating}`);
  show(slider, !bars);
  card.classList.toggle("bars", bars);
  press(each, !inOne());
  press(single, inOne());
  put(each.querySelector("em"), rated() ? value.own.toFixed(1) : "");
  put(single.querySelector(".wide"), rated() ? `${words.one}: ${depth}` : words.one);
  put(single.querySelector("em"), here?.toFixed(1) ?? (going === depth ? "…" : ""));
  table(bars);
  survey();
}

function table(bars) {
  const rows = done() ? Object.entries(bars ? value.shares : value.singles) : [];
  const told = rows.filter(([, n]) => n).map(([k, n]) => [k, bars ? n : db(n)]);
  put(card.querySelector("caption"), bars ? words.shares : words.chart);
  card.querySelector("tbody").innerHTML = told.map(([k, said]) =>
    `<tr><th>${words.depth} ${k}</th><td>${said}</td></tr>`).join("");
}

function quality(x, wide) {
  const known = Object.entries(value.singles).map(([k, q]) => [Number(k), q]);
  const all = [value.own, value.before, ...known.map(([, q]) => q)];
  const high = Math.max(...all);
  const low = Math.min(high - 3, Math.max(Math.min(...all), high - 12));
  const y = (q) => FOOT - 6 - ((Math.max(q, low) - low) / (high - low)) * (FOOT - 6 - TOP);
  const own = y(value.own);
  const [left, right] = [x(0), x(slider.max)];
  const path = `M${known.map(([k, q]) => `${x(k)} ${y(q)}`).join("L")}`;
  const best = value.singles[value.best];
  const here = value.singles[depth];
  let drawn = text(left - 10, 124, "dB", "", "end");
  for (const q of [high, (high + low) / 2, low]) {
    drawn += text(left - 10, y(q) + 5, q.toFixed(0), "", "end");
  }
  const gain = `${path}L${right} ${own}L${left} ${own}Z`;
  if (best !== undefined) drawn += node("path", { class: "gain", d: gain });
  if (known.length > 1) drawn += node("path", { class: "one", d: path });
  drawn += line(left, own, right, own, "each") + dot(left, y(value.before), 4, "came");
  if (wide) drawn += text(right + 8, own + 5, words.for_each, "ink");
  if (wide && known.length > 1) {
    drawn += text(right + 8, Math.max(own + 24, y(known.at(-1)[1]) + 4), words.everywhere, "amber");
  }
  const gained = (Math.round(10 * value.own) - Math.round(10 * best)) / 10; // of what is shown
  if (gained > 0) {
    const [bx, gap] = [x(value.best), y(best) - own];
    const arrow = `M${bx} ${y(best) - 5}V${own + 6}M${bx - 4} ${own + 10}l4 -5l4 5`;
    if (gap > 14) drawn += node("path", { class: "up", d: arrow });
    drawn += text(bx + 10, own + (gap > 30 ? 18 : -6), `+${db(gained)}`, "better");
  }
  if (here !== undefined && (one || best !== undefined)) {
    drawn += line(x(depth), y(here), x(depth), FOOT, "drop") + dot(x(depth), y(here), 5, "mark");
  }
  return drawn + (one ? text(x(depth), 124, depth, "ink", "middle") : "");
}

function shares(x) {
  const most = Math.max(...value.shares);
  return text(x(0), 18, words.shares, "ink") + value.shares.map((n, k) => {
    const height = Math.max(2, (66 * n) / most);
    const told = { x: x(k) - 3, y: FOOT - height, width: 6, height, class: k ? "deep" : "zero" };
    return n ? node("rect", told) : "";
  }).join("");
}

function survey() {
  const [find_best, said, stop] = card.querySelector(".ph-survey").children;
  const known = props.survey.filter((k) => k in value.singles).length;
  show(card.querySelector(".ph-survey"), rated() && (value.best === null || surveys));
  show(find_best, !surveys && !open());
  show(stop, surveys);
  const told = { depth: going ?? depth, done: known, total: props.survey.length };
  put(said, surveys ? fill(words.drawing, told) : "");
}

let waits = 0;
slider.addEventListener("input", () => {
  [depth, one] = [Number(slider.value), true];
  draw();
});
slider.addEventListener("change", () => { clearTimeout(waits); waits = setTimeout(next, 400); });
each.addEventListener("click", () => look(true));
single.addEventListener("click", () => look(false));
function lookForBest() {
  [surveys, wanted] = [true, [...props.survey]];
  next();
}
card.querySelector("[data-survey]").addEventListener("click", lookForBest);
card.querySelector("[data-stop]").addEventListener("click", () => { halt(); draw(); });
new ResizeObserver(chart).observe(slider.parentElement);
