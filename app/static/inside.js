// The paper's mechanism on the same record: confidence by depth, where it stops, what comes out.
import { find, put, percent, nameReading, drag, draw, make, clamp } from "./base.js";

const HEIGHT = 336;
const LEFT = 52;
const TOP = 50;
const BOTTOM = 260;
const FRAMES = 9; // of the film

let chart = null;
let last = "";
let shownStop = null; // the depth whose frame of the film was brought into sight
const centre = (node) => node.getBoundingClientRect().left + node.offsetWidth / 2;

/** As the server decides it: the first depth below tau, at most the cap; with a horizon 0, where none is below by then. */
function findStop({ confidence }, tau, page) {
  const first = confidence.findIndex((share) => share < tau);
  const isLeftAlone = Boolean(page.horizon) && (first < 0 || first > page.horizon);
  const depth = isLeftAlone ? 0 : Math.min(first < 0 ? page.cap : first, page.cap);
  return { depth, tau, isLeftAlone, isCrossed: confidence[depth] < tau, share: confidence[depth] };
}

export function drawInside(record, settings, change, page, isRunning) {
  chart ??= makeChart(change, page);
  const isRead = record.film && record.depths?.length === record.film.length;
  const key = JSON.stringify([isRunning && !isRead, record.film?.length, record.depths?.length, record.film?.at(-1)?.image.length, record.depths?.at(-1)?.reading]);
  if (key !== last) showFilm(record, isRunning);
  last = key;
  showRebuilt(record, isRunning);
  chart.update(record, settings, isRunning);
  const { width, height } = record.original ?? {};
  const isWhole = width === page.side && height === page.side;
  put(find("#square-note"), width && !isWhole ? `All of this is a second look: at ${width === height ? "the photo" : "the middle square of the photo"} as the classifier sees it, ${page.side} × ${page.side}. Above, our repair looks at the whole photo, and may find something else.` : "");
  showDiagnosis(record, page);
  put(find("#draws"), record.draws ? `Of ${record.draws.count} draws of this noise ${record.draws.hidden} hid it, and ${record.draws.repaired} were read right after the repair.` : "");
}

function makeChart(change, page) {
  const box = find("#chart");
  let width = box.clientWidth || 1280;
  let right = 0; // where the curve ends
  const x = (depth) => LEFT + ((right - LEFT) * depth) / page.deepest;
  const y = (share) => BOTTOM - (BOTTOM - TOP) * share;
  const svg = draw("svg", { height: HEIGHT, role: "group", "aria-label": "Confidence that the photo is damaged, by steps of noise" });
  const axes = draw("g");
  const places = draw("g");
  const curve = draw("path", { class: "curve" });
  const stop = draw("g", {}, draw("line", { class: "stop", y1: TOP - 6, y2: BOTTOM }), draw("text", { y: TOP - 12, "text-anchor": "middle" }));
  const fixed = slider("f", "The rival's depth", "fixed");
  const tau = slider("t", "Threshold", "tau");
  svg.append(axes, places, curve, stop, fixed.node, tau.node);
  box.append(svg);

  function placeAxes() {
    right = width < 700 ? width - 16 : width - 110;
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const lines = [0, 0.5, 1].flatMap((share) => [draw("line", { class: "grid", x1: LEFT, x2: right, y1: y(share), y2: y(share) }), draw("text", { x: LEFT - 8, y: y(share) + 5, "text-anchor": "end" }, `${100 * share} %`)]);
    const step = width < 700 ? 16 : 8;
    for (let depth = 0; depth <= page.deepest - step; depth += step) lines.push(draw("text", { x: x(depth), y: BOTTOM + 22, "text-anchor": "middle" }, `${depth}`));
    lines.push(draw("text", { x: right, y: BOTTOM + 22, "text-anchor": "end" }, `${page.deepest} steps${width < 700 ? "" : " of noise"}`));
    lines.push(draw("text", { x: 0, y: 12 }, "How sure of damage"));
    axes.replaceChildren(...lines);
  }

  function slider(letter, label, line) {
    const node = draw("g", { role: "slider", tabindex: "0", "aria-label": label });
    const grip = draw("rect", { class: "grip" });
    const bar = draw("line", { class: line });
    const handle = draw("circle", { class: `handle ${letter}`, r: 9 });
    const text = draw("text", {});
    node.append(grip, bar, handle, text);
    return { node, grip, bar, handle, text };
  }
  function at(event) {
    const box = svg.getBoundingClientRect(); // larger than the drawing where full screen enlarges it
    return [((event.clientX - box.left) * width) / box.width, ((event.clientY - box.top) * HEIGHT) / box.height];
  }
  let held = null; // the slider that is dragged: no report moves it
  function follow(part, set, done) {
    part.node.addEventListener("pointerdown", (event) => {
      part.node.focus();
      held = part;
      drag(part.node, event, (moved) => set(at(moved)), () => {
        held = null;
        done();
      });
    });
  }
  const shown = { tau: page.tau, depth: page.fixedDepth, record: {}, settings: {}, isRunning: false };
  /** What was made with another threshold or depth than the chart shows is dimmed. */
  function dimRebuilt() {
    const { tau, fixed_depth } = shown.settings;
    const isOther = [shown.tau !== (tau ?? page.tau), shown.depth !== (fixed_depth ?? page.fixedDepth)];
    [...find("#rebuilt").children].forEach((figure, n) => figure.classList.toggle("is-other", n < 3 ? isOther[0] : n === 3 && isOther[1]));
  }
  const asTau = (value) => Math.round(100 * clamp(value, 0, 1)) / 100;
  const asDepth = (value) => clamp(Math.round(value), 1, page.deepest);
  function placeTau(value) {
    shown.tau = value;
    for (const [name, number] of [["x1", LEFT], ["x2", right], ["y1", y(value)], ["y2", y(value)]]) tau.bar.setAttribute(name, number);
    for (const [name, number] of [["x", LEFT], ["y", y(value) - 12], ["width", width - LEFT], ["height", 24]]) tau.grip.setAttribute(name, number);
    tau.handle.setAttribute("cx", right); tau.handle.setAttribute("cy", y(value));
    const isNarrow = right > width - 50; // there the label stands above the chart, where no curve is
    tau.text.setAttribute("x", isNarrow ? width : right + 16); tau.text.setAttribute("y", isNarrow ? 12 : y(value) + 5);
    tau.text.setAttribute("text-anchor", isNarrow ? "end" : "start");
    put(tau.text, `τ ${percent(value)}, drag`);
    const { node } = tau;
    node.setAttribute("aria-valuemin", 0); node.setAttribute("aria-valuemax", 1); node.setAttribute("aria-valuenow", value);
    node.setAttribute("aria-valuetext", percent(value)); node.setAttribute("aria-orientation", "vertical");
    placeStop();
    dimRebuilt();
  }
  function placeFixed(depth) {
    shown.depth = depth;
    for (const [name, number] of [["x1", x(depth)], ["x2", x(depth)], ["y1", TOP], ["y2", BOTTOM]]) fixed.bar.setAttribute(name, number);
    for (const [name, number] of [["x", x(depth) - 12], ["y", TOP - 6], ["width", 24], ["height", BOTTOM - TOP + 40]]) fixed.grip.setAttribute(name, number);
    fixed.handle.setAttribute("cx", x(depth)); fixed.handle.setAttribute("cy", BOTTOM);
    fixed.text.setAttribute("x", clamp(x(depth), LEFT + 50, width - 100)); fixed.text.setAttribute("y", BOTTOM + 44);
    fixed.text.setAttribute("text-anchor", "middle");
    put(fixed.text, `${depth}: the same for all, drag`);
    const { node } = fixed;
    node.setAttribute("aria-valuemin", 1); node.setAttribute("aria-valuemax", page.deepest); node.setAttribute("aria-valuenow", depth);
    node.setAttribute("aria-valuetext", `${depth} steps of noise`);
    dimRebuilt();
  }
  function placeStop() {
    const { record: { curve, film }, isRunning } = shown;
    const chosen = curve?.is_done ? findStop(curve, shown.tau, page) : null;
    describeStop(chosen, curve, page, isRunning);
    ringFrame(chosen, film);
    stop.style.display = chosen ? "" : "none";
    if (!chosen) return;
    const { depth } = chosen;
    const [line, text] = stop.children;
    line.setAttribute("x1", x(depth)); line.setAttribute("x2", x(depth));
    put(text, curve.confidence[0] < shown.tau ? `t* = 0: ${width < 700 ? "" : "already below the dashes without noise, "}nothing to do` : !depth ? "t* = 0: left alone" : chosen.isCrossed ? `t* = ${depth}: stopped here` : `t* = ${depth}: the limit, still ${percent(chosen.share)} sure`);
    const half = text.getComputedTextLength() / 2;
    text.setAttribute("x", clamp(x(depth), half, Math.max(half, width - half)));
  }
  follow(tau, ([, vertical]) => placeTau(asTau((BOTTOM - vertical) / (BOTTOM - TOP))), () => change({ tau: shown.tau }));
  follow(fixed, ([across]) => placeFixed(asDepth(((across - LEFT) / (right - LEFT)) * page.deepest)), () => change({ fixed_depth: shown.depth }));
  const BY = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5, Home: -100, End: 100 };
  for (const [part, step] of [[tau, (by) => { placeTau(asTau(shown.tau + by / 50)); change({ tau: shown.tau }, 500); }], [fixed, (by) => { placeFixed(asDepth(shown.depth + by)); change({ fixed_depth: shown.depth }, 500); }]]) {
    part.node.addEventListener("keydown", (event) => {
      if (!BY[event.key]) return;
      event.preventDefault();
      step(BY[event.key]);
    });
  }
  const path = (values) => values.map((share, depth) => `${depth ? "L" : "M"}${x(depth).toFixed(1)} ${y(share).toFixed(1)}`).join("");
  function update(record, settings, isRunning) {
    Object.assign(shown, { record, settings, isRunning });
    const seen = (record.curve?.confidence ?? []).slice(0, page.deepest + 1);
    curve.setAttribute("d", seen.length ? path(seen) : "");
    const rows = (record.curve?.places ?? []).slice(0, page.deepest + 1);
    const legend = [draw("path", { class: "place", d: `M0 ${HEIGHT - 11}h24` }), draw("text", { x: 32, y: HEIGHT - 6 }, "thin lines: places in the photo")];
    places.replaceChildren(...(rows[0] ?? []).map((_, place) => draw("path", { class: "place", d: path(rows.map((row) => row[place])) })), ...(rows.length ? legend : []));
    placeFixed(held === fixed ? shown.depth : settings.fixed_depth ?? page.fixedDepth);
    placeTau(held === tau ? shown.tau : settings.tau ?? page.tau);
  }
  placeAxes();
  new ResizeObserver(() => {
    if (box.clientWidth === width || !box.clientWidth) return;
    width = box.clientWidth;
    placeAxes();
    update(shown.record, shown.settings, shown.isRunning);
  }).observe(box);
  return { update };
}

function describeStop(stop, curve, page, isRunning) {
  let text = isRunning ? "The detector is looking …" : "";
  if (curve && !curve.is_done && !curve.is_old && isRunning) text = `The detector is looking: noise so far: ${curve.confidence.length - 1} of ${page.deepest} steps.`;
  if (stop) {
    const sure = percent(stop.tau);
    if (stop.isLeftAlone && !stop.tau) text = "No detector is less than 0\u00a0% sure, so no noise is enough: the photo is left alone.";
    else if (stop.isLeftAlone) text = `Even after ${page.horizon} steps of noise the detector is at least ${sure} sure of damage: the photo is left alone.`;
    else if (!stop.depth) text = `The detector is less than ${sure} sure of damage from the start: the paper’s method leaves it alone.`;
    else if (stop.isCrossed) text = `After ${stop.depth} steps of noise the detector is less than ${sure} sure of damage: there it stops, t*\u00a0=\u00a0${stop.depth}.`;
    else text = `The limit is reached: after ${stop.depth} steps, as much noise as it may add, the detector is still ${percent(stop.share)} sure of damage. There it stops, t*\u00a0=\u00a0${stop.depth}.`;
  }
  const isYours = stop && stop.tau !== page.tau;
  put(find("#stop"), isYours ? `With your τ of ${percent(stop.tau)}: ${text[0].toLowerCase()}${text.slice(1)}` : text);
}

/** The frame of the film that is nearest to the stop. */
function ringFrame(stop, film = []) {
  const distance = ({ depth }) => Math.abs(depth - stop.depth);
  const near = stop && film.length ? film.reduce((best, frame, n) => (distance(frame) < distance(film[best]) ? n : best), 0) : -1;
  const box = find("#film");
  [...box.children].forEach((frame, n) => frame.classList.toggle("is-stop", n === near));
  const frame = box.children[near]; // where the film is wider than the screen, this is in sight
  if (frame && near !== shownStop) box.scrollLeft += centre(frame) - centre(box);
  shownStop = near;
}

/** What is not there yet has its room already: "…" while it is computed. */
function showFilm({ film = [], depths = [] }, isRunning) {
  const readings = new Map(depths.map((entry) => [entry.depth, entry]));
  const room = () => make("span", { class: "room" }, isRunning ? "…" : "");
  const empty = () => make("div", { "aria-hidden": "true" }, room(), make("div", {}, "\u00a0"), room(), make("span", { class: "reading" }));
  const frames = film.map(({ depth, image }) => {
    const entry = readings.get(depth);
    const rebuilt = entry ? make("img", { src: entry.image, alt: `Rebuilt from ${depth} steps`, loading: "lazy", width: 112, height: 112 }) : room();
    const caption = depth ? `${depth} steps` : "as it came";
    return make("figure", { role: "listitem" }, make("img", { src: image, alt: depth ? `After ${caption}` : "As it came", loading: "lazy", width: 112, height: 112 }), make("figcaption", {}, caption), rebuilt, make("span", { class: "reading" }, entry ? nameReading(entry.reading) : ""));
  });
  find("#film").replaceChildren(...(frames.length ? frames : Array.from({ length: FRAMES }, empty)));
}

function showRebuilt(record, isRunning) {
  const { stop, paper, guided, fixed, diagnosis } = record;
  const rest = stop?.has_given_up ? "Left alone" : "Nothing to do";
  const entries = [
    [stop && { image: stop.image }, stop?.depth === 0 ? rest : `Noised to t*${stop ? ` = ${stop.depth}${stop.is_crossed ? "" : ", the limit"}` : ""}`, ""],
    [paper, paper?.depth === 0 ? rest : "Rebuilt freely", "the paper’s method, DGA"],
    [guided, guided?.depth === 0 ? rest : "Rebuilt, coarse shapes kept", "the paper’s method, DGA + G"],
    [fixed, fixed ? `Rebuilt from depth ${fixed.depth}` : "The same for all", "the rival, DDA"],
    [diagnosis, !diagnosis ? "Our repair" : diagnosis.is_unchanged ? "Left alone" : "Found and undone first", "our repair, DGA+"],
  ];
  const box = find("#rebuilt");
  if (!box.children.length) {
    box.append(...entries.map(([, , method]) => make("figure", {}, make("img", { width: 224, height: 224, loading: "lazy" }), make("b", {}), make("span", {}, method), make("div", { class: "reading" }))));
  }
  entries.forEach(([part, name], n) => {
    const [image, title, , reading] = box.children[n].children;
    image.classList.toggle("is-old", !part);
    if (part && image.src !== part.image) image.src = part.image;
    box.children[n].classList.toggle("is-empty", !image.hasAttribute("src") && !isRunning); // its room stays
    image.alt = image.hasAttribute("src") ? name : "";
    put(title, name);
    put(reading, !part && isRunning ? "being computed …" : part?.reading ? `${nameReading(part.reading)} ${percent(part.reading.share)}` : "");
  });
}

function showDiagnosis({ diagnosis, curve, repaired }, page) {
  let text = "";
  if (diagnosis && curve?.confidence.length) {
    const start = percent(curve.confidence[0]);
    if (diagnosis.is_unchanged) text = `Our repair leaves this picture alone${curve.confidence[0] < page.tau ? "" : `, though this detector is ${start} sure of damage`}.`;
    else if (diagnosis.entry) text = `What the diagnosis changes: the photo already holds as much noise as ${diagnosis.entry} steps add. So our repair adds little or none, and takes all of it out.`;
    else if (Math.round(100 * diagnosis.before) < Math.round(100 * curve.confidence[0])) text = `What the diagnosis changes: once what our repair found is undone, the detector is ${percent(diagnosis.before)} sure of damage instead of ${start}, before any noise.`;
    else text = `Our repair undid something here that does not convince the detector: before any noise it is still ${percent(diagnosis.before)} sure of damage.`;
    const isCalm = !diagnosis.is_unchanged && diagnosis.before < page.tau;
    if (isCalm && diagnosis.reading.is_right === false) text += ` To the detector it no longer looks damaged; the classifier’s best guess is wrong: ${diagnosis.reading.label}.`;
    if (repaired && repaired.is_unchanged !== diagnosis.is_unchanged) text += ` Above, on the whole photo, our repair ${repaired.is_unchanged ? "left it alone" : "changed it"}.`;
  }
  put(find("#diagnosis"), text);
}
