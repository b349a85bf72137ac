// The timeline on one axis: the curve, chances by depth, the film. Everything in it is SVG.
const plot = find(".plot");
plot.innerHTML = `<canvas aria-hidden="true"></canvas><svg aria-hidden="true"></svg>
  <button type="button" class="tau" role="slider" aria-label="${words.tau}" aria-orientation="vertical"
    aria-valuemin="0"><span></span></button>
  <button type="button" class="stop" role="slider" aria-label="${words.stop}" aria-valuemin="0"></button>
  <button type="button" class="fixed" role="slider" aria-label="${words.fixed}" aria-valuemin="1">${marks.dda}<span></span></button>
  <p class="beside"></p><button type="button" class="back" hidden></button>
  <button type="button" class="compute" hidden></button>`;
const [reel, svg] = plot.children;
const [tauHandle, stopHandle, fixedHandle] = plot.querySelectorAll("[role=slider]");

const label = (x, y, text, anchor = "start", css = "") =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" class="${css}">${text}</text>`;
const stroke = (x1, y1, x2, y2, css) => `<path d="M${x1} ${y1}L${x2} ${y2}" class="${css}"/>`;
const box = (x, y, w, h, css) => `<rect x="${x}" y="${y}" width="${Math.max(w, 0)}" height="${h}" class="${css}"/>`;
const dot = (x, y, r, css) => `<circle cx="${x}" cy="${y}" r="${r}" class="${css}"/>`;
const trace = (b, list, y, from = 0) =>
  list.map((c, i) => (c === null ? "" : `${i && list[i - 1] !== null ? "L" : "M"}${b.x(from + i).toFixed(1)} ${y(c).toFixed(1)}`)).join("");
const markAt = (name, x, y, size = 12) =>
  `<g class="of-${name}">${marks[name].replace("<svg ", `<svg x="${x - size / 2}" y="${y - size / 2}" width="${size}" height="${size}" `)}</g>`;

let area = null;
let measured = 0; // how wide the plot is; 0: to be measured
function layout() {
  const width = (measured ||= plot.clientWidth);
  const narrow = width < 860;
  const b = { width, narrow };
  if (presenting) {
    Object.assign(b, { left: 208, right: width - 200, top: 26, bottom: plot.clientHeight - 100 });
    b.foot = b.bottom + 12;
  } else if (narrow) {
    Object.assign(b, { left: 36, right: width - 22, top: 76, bottom: 186, fixed: 222, film: 246 });
    if (detail) Object.assign(b, { fixed: 236, top2: 250, bottom2: 358, film: 368 });
    Object.assign(b, { foot: b.film + 56, height: b.film + (detail ? 132 : 108) + (missingLine(chosen) ? 48 : 0) });
  } else {
    const bottom = 176 + clamp(window.innerHeight - (width > 1344 ? 980 : 910), 0, 120); // of a screen all is used
    Object.assign(b, { left: 238, right: width - 146, top: 66, bottom, fixed: bottom + 26, film: bottom + 46 });
    if (detail) Object.assign(b, { fixed: bottom + 14, top2: bottom + 26, bottom2: bottom + 126, film: bottom + 138 });
    Object.assign(b, { foot: b.film + 62, height: b.film + 90 });
  }
  const pitch = (b.right - b.left) / deepest();
  b.pitch = pitch;
  b.x = (k) => b.left + k * pitch;
  b.y = (c) => b.top + (1 - c) * (b.bottom - b.top);
  b.y2 = (c) => b.top2 + (1 - c) * (b.bottom2 - b.top2);
  b.depthAt = (x) => clamp(Math.round((x - b.left) / pitch), 0, deepest());
  return b;
}

let mean = [];
let lows = [];
let highs = [];
function summarise() {
  const curves = value.curves.filter((curve) => curve.length);
  const columns = (curves[0] ?? []).map((_, k) => curves.filter((c) => k < c.length).map((c) => c[k]));
  mean = value.mean ?? columns.map((c) => c.reduce((a, n) => a + n, 0) / c.length);
  lows = columns.map((c) => Math.min(...c));
  highs = columns.map((c) => Math.max(...c));
}

function curveLane(b, now) {
  const [stop, crossed] = (value.stops && atTau(value.stops)) || [Infinity]; // the detector's own
  const turn = Math.min(stop || crossed ? stop : Infinity, mean.length - 1, scene?.reach ?? Infinity);
  let out = "";
  for (const c of [0, 0.5, 1]) {
    out += stroke(b.left, b.y(c), b.right, b.y(c), "grid");
    if (!presenting) out += label(b.left - (b.narrow ? 6 : 12), b.y(c) + 5, c, "end");
  }
  const kept = (list) => list.slice(0, Math.min(deepest(), scene?.reach ?? Infinity) + 1);
  if (value.curves.length > 1 && mean.length) {
    const back = kept(lows).map((c, k) => `L${b.x(k).toFixed(1)} ${b.y(c).toFixed(1)}`).reverse();
    out += `<path d="${trace(b, kept(highs), b.y)}${back.join("")}Z" class="band"/>`;
  }
  out += `<path d="${trace(b, kept(mean).slice(Math.max(turn, 0)), b.y, turn)}" class="after"/>`;
  out += `<path d="${trace(b, kept(mean).slice(0, turn + 1), b.y)}" class="curve"/>`;
  out += stroke(b.left, b.y(tau), b.right + 8, b.y(tau), "at-tau");
  if (running() && mean.length && !now && mean.length <= deepest() + 1) out += dot(b.x(mean.length - 1), b.y(mean.at(-1)), 5, "tip");
  out += axisWords(b, now);
  if (presenting) {
    words.lane1_lines.forEach((text, i) => (out += label(0, b.top + 18 + 28 * i, text, "start", "strong")));
    return out + label(b.right + 14, b.y(tau) + 8, `τ ${tau.toFixed(2)}`, "start", "strong");
  }
  if (b.narrow) return out + label(14, 18, words.lane1_lines.join(" "), "start", "strong");
  const [one, two] = words.lane1_lines_desk;
  out += label(16, 72, one, "start", "strong") + label(16, 92, two, "start", "strong");
  if (scene || !mean.length) return out;
  const told = [words.dashed, turn < mean.length - 1 && words.dotted, value.curves.length > 1 && fill(words.band, { n: value.curves.length })];
  return out + told.filter(Boolean).map((text, i) => label(16, 116 + 19 * i, text)).join("");
}

// What the curve's heights mean: at the edge beside tau, on a phone beside the line at t*.
function axisWords(b, now) {
  const [at, line, end, scale] = [b.y(tau), now ? b.x(now.t) : 0, b.right - 70, presenting ? 1.5 : 1];
  const x = line > end - 120 && line < end + 8 ? line - 8 : end;
  return [[1, words.high], [0.5, words.cannot], [0, words.low]].map(([c, text]) => {
    const y = b.y(c);
    if (b.narrow && !presenting) return label(x, y + (c === 0.5 ? 16 : -6), text, "end");
    const below = c < 1 ? y >= at && at + 29 * scale <= b.bottom + 16 : at < b.top + 4; // there, beside the button
    return label(b.right + 15, Math.abs(y - at) > 22 * scale ? y + 5 * scale : at + scale * (below ? 30 : c === 1 ? -18 : -20), text);
  }).join("");
}

function rightDepths(probs) {
  const runs = [];
  probs.slice(0, deepest() + 1).forEach((p, k) => {
    if (verdict(p) !== "right") return;
    if (runs.at(-1)?.[1] === k - 1) runs.at(-1)[1] = k;
    else runs.push([k, k]);
  });
  return runs;
}

// Under the film: from which depths the chosen method is read right.
function rightLane(b) {
  const known = value.truth != null && !scene && value.every?.[lineOf(chosen)];
  const runs = known ? rightDepths(known.probs) : [];
  let out = stroke(b.left, b.film + 44, b.right, b.film + 44, "grid");
  for (const [from, to] of runs) {
    const [x1, x2] = [Math.max(b.x(from - 0.5), b.left - 6), Math.min(b.x(to + 0.5), b.right + 6)];
    out += box(x1, b.film + 38, x2 - x1, 12, "good");
  }
  const said = runs.length ? words.right_here : known ? words.never_right : "";
  if (said && b.narrow) out += markAt(chosen, 20, b.foot + 36) + label(33, b.foot + 41, said);
  else if (said) out += markAt(chosen, 22, b.film + 44) + label(34, b.film + 49, said);
  const fix = scene || empty() || fixed > deepest() ? "" : stroke(b.x(fixed), b.fixed, b.x(fixed), b.film + 50, "fix");
  return out + fix;
}

function chanceLane(b, now) {
  let out = "";
  for (const c of [0, 0.5, 1]) {
    out += stroke(b.left, b.y2(c), b.right, b.y2(c), "grid") + label(b.left - (b.narrow ? 6 : 12), b.y2(c) + 5, 100 * c, "end");
  }
  const title = empty() ? "" : fill(words.chance, { kind: value.classes[kind()] });
  if (b.narrow) out += label(14, 212, `${title}${words.from_here}`, "start", "strong");
  else out += label(16, b.top2 + 14, title, "start", "strong") + label(16, b.top2 + 34, words.from_this, "start", "strong");
  const lines = scene ? [] : METHODS.filter((name) => value.every?.[name] && shown().map(lineOf).includes(name));
  const order = (list) => [...list].sort((a, c) => (a === chosen) - (c === chosen));
  for (const name of order(lines)) {
    const chances = value.every[name].probs.slice(0, deepest() + 1).map(chanceAt);
    const css = `line of-${name}${lineOf(chosen) === name ? " bold" : ""}`;
    out += `<path d="${trace(b, chances, b.y2)}" class="${css}"/>`;
  }
  return out + legend(b, lines) + (scene ? "" : stops(b, now));
}

// Names at the lines' ends, no two in one place.
function legend(b, lines) {
  if (b.narrow) {
    let x = 14;
    return METHODS.filter((name) => shown().includes(name) || lines.includes(name)).map((name) => {
      const at = x;
      x += 28 + 7.6 * words.short[name].length;
      return markAt(name, at + 6, b.foot + 61) + label(at + 19, b.foot + 66, words.short[name]);
    }).join("");
  }
  const ends = lines.map((name) => {
    const probs = value.every[name].probs;
    return { name, y: b.y2(chanceAt(probs[Math.min(deepest(), probs.length - 1)])) };
  }).sort((a, c) => a.y - c.y);
  ends.forEach((end, i) => (end.y = Math.max(end.y, i ? ends[i - 1].y + 19 : b.top2 + 8)));
  for (let i = ends.length - 1, most = b.bottom2; i >= 0; i--, most -= 19) ends[i].y = Math.min(ends[i].y, most);
  const both = lines.filter((name) => OWN.includes(name)).length > 1; // with and without guidance
  return ends.map(({ name, y }) => markAt(name, b.right + 22, y) +
    label(b.right + 34, y + 5, (both && words.lines[name]) || words.short[name], "start", name === chosen ? "strong" : "ink")).join("");
}

// Each method's mark where it really stopped; ▲ where the fixed depth is tried.
function stops(b, now) {
  let out = "";
  for (const name of METHODS) {
    const found = outcome(name, now);
    const chance = chanceAt(found.probs);
    if (chance === null || found.depth === null || found.depth > deepest() || (running() && found.state !== "done")) continue;
    const [x, y] = [b.x(found.depth), b.y2(chance)];
    if (shown().includes(name)) out += dot(x, y, name === "dda" ? 13 : 11, `knob of-${name}`) + markAt(name, x, y);
  }
  return out;
}

// One frame a depth; where depths lie close, one for two or four.
function film(b, now) {
  const scale = window.devicePixelRatio || 1;
  reel.width = b.width * scale;
  reel.height = 40 * scale;
  reel.style.cssText = `width:${b.width}px;height:40px;top:${b.film}px`;
  if (presenting || !b.film) return;
  const context = reel.getContext("2d");
  context.scale(scale, scale);
  context.imageSmoothingEnabled = false; // else noise is averaged away
  const every = [1, 2, 4, 8].find((n) => n * b.pitch >= 28) ?? 8;
  const width = Math.max(every * b.pitch, 30);
  for (let k = 0; k <= deepest(); k += every) {
    const frame = noised(k);
    if (!frame || (running() && k > lastJudged())) continue;
    context.globalAlpha = stale ? 0.3 : k > (scene?.reach ?? now?.t ?? k) ? 0.45 : 1;
    const x = every === 1 ? b.x(k) - width / 2 : b.x(k) - b.pitch / 2;
    const [w, cut] = [Math.min(width, b.right + 15 - x), (frame.side * (1 - 30 / width)) / 2];
    context.drawImage(frame.image, frame.x, frame.y + cut, (frame.side * w) / width, frame.side - 2 * cut, x, 0, w, 30);
  }
}

function filmLane(b, now) {
  const side = Math.max(b.pitch, 16);
  let out = "";
  const diagnosed = chosen === "dga-plus" && !scene && ownNoise() && needsNoise() ? value.found.t_star : null;
  for (const [depth, css] of [[now?.t, "here"], [scene ? null : value.every?.[lineOf("dda")] || value.results?.dda ? fixed : null, "there"], [diagnosed, "plus"]]) {
    if (depth != null && depth <= deepest()) out += box(b.x(depth) - side / 2, b.film, side, 30, `frame ${css}`);
  }
  const every = (b.narrow ? 8 : 4) * Math.ceil(deepest() / 40);
  for (let k = 0; k <= deepest(); k += every) out += label(b.x(k), b.foot + 16, k, "middle");
  if (!b.narrow) out += label(16, b.film + 20, words.noise_in, "start", "strong") + label(16, b.foot + 16, words.depth_is);
  if (running() || value.phase !== "cancelled" || !mean.length) return out;
  return out + box(b.x(mean.length - 1), b.film, b.right - b.x(mean.length - 1), 30, "hatched");
}

// The two depths' pills take the room of other figures; DGA+ has a depth of its own.
function presentAxis(b) {
  const axis = label(0, b.foot + 70, words.depth) + [0, 8, 16, 24, 32].map((k) => label(b.x(k), b.foot + 70, k, "middle")).join("");
  const lines = axis + stroke(b.x(fixed), b.top, b.x(fixed), b.foot, "fix");
  if (!ownNoise() || !needsNoise()) return lines;
  const x = b.x(value.found.t_star);
  return lines + stroke(x, b.top, x, b.foot, "own") + markAt("dga-plus", x, b.bottom - 20, 24);
}

const HATCH = `<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"
  patternTransform="rotate(45)"><path d="M0 0V6"/></pattern></defs>`;
function lanes(now) {
  if (scene && now && scene.reach < now.t) now = null;
  const b = (area = layout());
  if (!b.width) return;
  plot.style.height = presenting ? "" : `${b.height}px`;
  const height = presenting ? plot.clientHeight : b.height;
  svg.setAttribute("width", b.width);
  svg.setAttribute("height", height);
  svg.setAttribute("viewBox", `0 0 ${b.width} ${height}`);
  const down = presenting ? b.foot : b.film + 30;
  const css = `stopped${now?.crossed ? "" : " never"}`;
  const parts = presenting ? [[b.top, down]] : b.narrow ? [[b.top, b.bottom], [b.top2 ?? b.film, down]] : [[40, down]]; // not through words
  const line = now && now.t <= deepest() ? parts.map(([y1, y2]) => stroke(b.x(now.t), y1, b.x(now.t), y2, css)).join("") : "";
  const head = playing ? stroke(b.x(playing.depth), b.top, b.x(playing.depth), down, "playhead") : "";
  const ring = now && mean[now.t] !== undefined && now.t <= deepest() ? dot(b.x(now.t), b.y(mean[now.t]), scene?.ring ? 20 : presenting ? 9 : 5.5, "ring") : "";
  svg.innerHTML = HATCH + curveLane(b, now) + (presenting ? presentAxis(b) + line : filmLane(b, now) + rightLane(b) + line + (detail ? chanceLane(b, now) : "")) + ring + head;
  film(b, now);
  handles(b, now);
}

function place(handle, x, y, at, most, said) {
  Object.assign(handle.style, { left: `${x}px`, top: `${y}px` });
  Object.assign(handle, { ariaValueMax: most, ariaValueNow: at, ariaValueText: said });
}

// Measured once a text: to measure has the whole page laid out.
const widths = new Map();
function widthOf(node) {
  const key = [node.className, node.textContent, presenting, area.narrow, document.fonts.status].join();
  if (!widths.has(key)) widths.set(key, node.offsetWidth);
  return widths.get(key);
}

function handles(b, now) {
  const level = tau.toFixed(2);
  put(tauHandle.firstElementChild, `τ ${level}`);
  place(tauHandle, b.narrow ? b.right - 78 : b.right + 8, b.y(tau), level, 1, `${level}${now ? `, ${fill(words.at_depth, { depth: now.t })}` : ""}`);
  const by = byHand(null, now);
  const pill = value.pills ? atTau(value.pills) : null;
  stopHandle.hidden = !now;
  if (now) {
    put(stopHandle, by ? fill(words.at_depth, { depth: now.t }) : pill[0]);
    stopHandle.classList.toggle("hollow", by || !now.crossed || !OWN.includes(chosen));
    const half = widthOf(stopHandle) / 2;
    const aside = b.narrow || presenting ? 4 : 214; // buttons stand at both ends
    const middle = clamp(b.x(Math.min(now.t, deepest())), half + aside, b.width - half - aside);
    place(stopHandle, middle, presenting ? b.foot + 20 : b.narrow ? 42 : 27, now.t, deepest(), stopHandle.textContent);
    stopHandle.title = by || !pill ? "" : pill[2];
    const [text, back] = [find(".beside"), find(".back")];
    const beside = by ? back : text;
    back.hidden = !by || !pill || presenting;
    put(back, pill ? fill(words.back, { pill: pill[0] }) : "");
    put(text, b.narrow || presenting || !pill || by ? "" : pill[1]);
    back.style.top = b.narrow ? "24px" : "9px";
    const right = middle + half + 10;
    const fits = right + widthOf(beside) < b.width - 250;
    beside.style.left = `${fits ? right : Math.max(middle - half - 10 - widthOf(beside), 200)}px`;
  } else put(find(".beside"), "");
  fixedHandle.hidden = Boolean(scene) || empty() || fixed > deepest();
  put(fixedHandle.lastElementChild, fill(presenting || b.narrow ? words.fixed_short : words.fixed_at, { depth: fixed }));
  const half = fixedHandle.hidden ? 0 : widthOf(fixedHandle) / 2;
  let middle = clamp(b.x(fixed), b.left + half + (b.narrow ? 0 : 14), b.right + 4 - half); // beside the axis and DGA+ at 0
  if (presenting && now) {
    const [taken, apart] = [stopHandle.offsetLeft, half + widthOf(stopHandle) / 2 + 10];
    if (Math.abs(middle - taken) < apart) middle = taken + (fixed < now.t || taken + apart + half > b.right + 4 ? -apart : apart);
  }
  place(fixedHandle, middle, presenting ? b.foot + 20 : b.fixed, fixed, deepest(), fixedHandle.textContent);
  const compute = find(".compute");
  const line = missingLine(chosen);
  compute.hidden = presenting || !line;
  put(compute, words.compute);
  compute.dataset.line = line;
  compute.style.top = `${b.narrow ? b.height - 54 : b.film + 34}px`;
}
find(".back").addEventListener("click", () => { setOwn(); stopHandle.focus(); });
find(".compute").addEventListener("click", (event) => trigger("expand", { every: event.target.dataset.line }));
