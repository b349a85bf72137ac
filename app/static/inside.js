// The paper's mechanism on the same record: confidence by depth, where it stops, what comes out.
import { all, clamp, countSteps, describeReading, draw, find, findNearest } from "./base.js";
import { make, nameReading, percent, put, putImage, setAttributes } from "./base.js";

const HEIGHT = 290;
const LEFT = 52;
const TOP = 50;
const BOTTOM = 260;

// On a phone one scene is swiped to at a time; their names say which, and lead there.
const story = find(".story");
const scenes = all(".scene");
const tabs = all(".scenes button");
tabs.forEach((tab, n) =>
  tab.addEventListener("click", () => story.scrollTo({ left: scenes[n].offsetLeft })),
);
story.addEventListener("scroll", () => {
  const seen = Math.round(story.scrollLeft / story.clientWidth);
  tabs.forEach((tab, n) => tab.setAttribute("aria-current", String(n === seen)));
  scenes.forEach((scene, n) => scene.classList.toggle("is-seen", n === seen));
});

let chart = null;
let last = "";
const figures = all("#noised > *, #rebuilt > *");

/** As the server decides it: the first depth below tau, at most the limit; with a horizon 0, where
 * none is below by then. */
function findStop({ confidence }, tau, limit, page) {
  const first = confidence.findIndex((share) => share < tau);
  const isLeftAlone = Boolean(page.horizon) && (first < 0 || first > page.horizon);
  const depth = isLeftAlone ? 0 : Math.min(first < 0 ? limit : first, limit);
  const share = confidence[depth];
  const isCrossed = share < tau;
  const name = isCrossed || isLeftAlone ? "t*" : "limit";
  return { depth, tau, limit, isLeftAlone, isCrossed, name, share, first };
}

/** Whether what was computed ends where other settings would have it end, too. */
export function keepsStop({ curve, stop }, { tau, max_depth }, page) {
  if (!curve?.is_done || !stop) return false;
  const { depth, isCrossed } = findStop(curve, tau ?? page.tau, max_depth ?? page.cap, page);
  return depth === stop.depth && isCrossed === stop.is_crossed;
}

export function drawInside(record, settings, change, page, isRunning) {
  chart ??= makeChart(change, page);
  const rows = [record.film, record.depths, record.mended_depths];
  const lengths = rows.map((row) => row?.length);
  const isRead = lengths[0] && lengths.every((length) => length === lengths[0]);
  const ends = [rows[0]?.at(-1)?.image.length, ...rows.slice(1).map((row) => row?.at(-1)?.reading)];
  const key = JSON.stringify([isRunning && !isRead, ...lengths, ...ends]);
  if (key !== last) showFilm(record, isRunning);
  last = key;
  const { width, height } = record.original ?? {};
  const isWhole = width === page.side && height === page.side;
  chart.update(record, settings, isRunning);
  const view = width === height ? "the photo" : "the middle square of the photo";
  const note = `All of this looks at ${view} as the classifier sees it, ${page.side} × ${page.side}.`;
  put(find("#square-note"), width && !isWhole ? note : "");
  put(find("#draws"), settings.seed ? (record.headline ?? "") : ""); // of the draw that is seen
}

function makeChart(change, page) {
  const box = find("#chart");
  let width = box.clientWidth || 1280;
  let right = 0; // where the curve ends
  const x = (depth) => LEFT + ((right - LEFT) * depth) / page.deepest;
  const y = (share) => BOTTOM - (BOTTOM - TOP) * share;
  const title = "Confidence that the photo is damaged, by steps of noise";
  const svg = draw("svg", { height: HEIGHT, role: "img", "aria-label": title });
  const axes = draw("g");
  const curve = draw("path", { class: "curve" });
  const stop = draw(
    "g",
    {},
    draw("line", { class: "stop", y1: TOP - 6, y2: BOTTOM }),
    draw("text", { y: TOP - 12, "text-anchor": "middle" }),
  );
  const bar = draw("line", { class: "tau" });
  const label = draw("text");
  const slider = find("#tau");
  svg.append(axes, curve, stop, bar, label);
  box.prepend(svg);

  function placeAxes() {
    right = width < 700 ? width - 16 : width - 110;
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    box.style.setProperty("--right", `${width - right}px`);
    const text = (at, down, anchor, words) =>
      draw("text", { x: at, y: down, "text-anchor": anchor }, words);
    const lines = [0, 0.5, 1].flatMap((share) => [
      draw("line", { class: "grid", x1: LEFT, x2: right, y1: y(share), y2: y(share) }),
      text(LEFT - 8, y(share) + 5, "end", `${100 * share} %`),
    ]);
    const [step, unit] = width < 700 ? [16, "steps"] : [8, "steps of noise"];
    const room = width < 360 ? 84 : 0; // for the last, where they would collide
    for (let depth = 0; depth <= page.deepest - step && x(depth) < right - room; depth += step) {
      lines.push(text(x(depth), BOTTOM + 22, "middle", `${depth}`));
    }
    lines.push(text(right, BOTTOM + 22, "end", `${page.deepest} ${unit}`));
    lines.push(draw("text", { x: 0, y: 12 }, "How sure of damage"));
    axes.replaceChildren(...lines);
  }

  const shown = { tau: page.tau };
  function placeTau(value) {
    shown.tau = value;
    const height = y(value);
    setAttributes(bar, { x1: LEFT, x2: right, y1: height, y2: height });
    const isNarrow = right > width - 50; // the label stands above the chart, where no curve is
    setAttributes(
      label,
      isNarrow
        ? { x: width, y: 12, "text-anchor": "end" }
        : { x: right + 16, y: height + 5, "text-anchor": "start" },
    );
    put(label, `τ ${percent(value)}, drag`);
    slider.setAttribute("aria-valuetext", percent(value));
    placeStop();
    const isOther = value !== (shown.settings.tau ?? page.tau); // than what was rebuilt
    for (const figure of figures.slice(0, 3)) figure.classList.toggle("is-other", isOther);
  }
  function placeStop() {
    const { curve, film } = shown.record;
    const limit = shown.settings.max_depth ?? page.cap;
    const chosen = curve?.is_done ? findStop(curve, shown.tau, limit, page) : null;
    describeStop(chosen, curve, page, shown.isRunning);
    find("#lift").hidden = chosen?.limit !== page.cap || chosen.name !== "limit";
    ringFrame(chosen, film);
    stop.style.display = chosen ? "" : "none";
    if (!chosen) return;
    const { depth, name } = chosen;
    const [line, text] = stop.children;
    setAttributes(line, { x1: x(depth), x2: x(depth) });
    put(text, `${name} = ${depth}`);
    const half = text.getComputedTextLength() / 2;
    text.setAttribute("x", clamp(x(depth), half, Math.max(half, width - half)));
  }
  slider.addEventListener("input", () => placeTau(Number(slider.value)));
  slider.addEventListener("change", () => change({ tau: Number(slider.value) }, 300));
  const point = (share, depth) =>
    `${depth ? "L" : "M"}${x(depth).toFixed(1)} ${y(share).toFixed(1)}`;
  function update(record, settings, isRunning) {
    Object.assign(shown, { record, settings, isRunning });
    showRebuilt(record, isRunning);
    const seen = (record.curve?.confidence ?? []).slice(0, page.deepest + 1);
    curve.setAttribute("d", seen.map(point).join(""));
    if (!slider.matches(":active")) slider.value = settings.tau ?? page.tau;
    placeTau(Number(slider.value));
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

/** A share that is not below another, where both look alike. */
const sayAtLeast = (share, least) =>
  percent(share) === percent(least) ? `at least ${percent(share)}` : percent(share);

function describeStop(stop, curve, page, isRunning) {
  const isGrowing = curve && !curve.is_done && !curve.is_old;
  const steps = isGrowing ? `: ${curve.confidence.length - 1} of ${page.deepest} steps of noise` : "";
  const isLooking = isRunning && !stop;
  put(find("#counting"), isLooking ? `The detector is looking${steps} …` : ""); // not said aloud
  const rules = [];
  if (stop && stop.tau !== page.tau) rules.push(`your τ of ${percent(stop.tau)}`);
  if (stop && stop.limit !== page.cap) rules.push(`at most ${page.deepest} steps`);
  const text = stop ? nameStop(stop, page) : "";
  const sentence = `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
  put(find("#stop"), rules.length ? `With ${rules.join(" and ")}: ${sentence}` : text);
}

function nameStop({ tau, depth, share, first, isLeftAlone, isCrossed }, page) {
  const sure = `${percent(tau)} sure of damage`;
  const steps = `${countSteps(depth)} of noise`;
  if (isLeftAlone)
    return `Even after ${page.horizon} steps of noise, as far as we look, the detector is at least ${sure}: the curve is not below the dashes. So no noise is added, t*\u00a0=\u00a00, and the photo is left alone.`;
  if (!depth)
    return `Already without noise the detector is less than ${sure}. So none is added, t*\u00a0=\u00a00, and the photo is left alone.`;
  if (isCrossed)
    return `After ${steps} the detector is less than ${sure}: there it stops, t*\u00a0=\u00a0${depth}.`;
  const rest = first < 0 ? "" : ` By its own rule it would stop after ${first}.`;
  return `After ${steps}, the limit, the detector is still ${sayAtLeast(share, tau)} sure of damage, but our limit stops it.${rest}`;
}

const nameDepth = (depth) => (depth ? `${depth} steps` : "as it came");

/** The frame of the film that is nearest to the stop. */
function ringFrame(stop, film = []) {
  const near = stop ? findNearest(film, stop.depth) : -1;
  const box = find("#film");
  film.forEach(({ depth }, n) => {
    box.children[n].classList.toggle("is-stop", n === near);
    const isClose = Math.abs(depth - stop?.depth) <= 3;
    const sign = depth === stop?.depth ? `= ${stop.name}` : isClose ? `≈ ${stop.name}` : "";
    put(
      find("figcaption", box.children[n]),
      `${nameDepth(depth)} ${n === near ? sign : ""}`.trim(),
    );
  });
}

/** What is not there yet has its room already: "…" while it is computed. */
function showFilm({ film = [], depths = [], mended_depths = [] }, isRunning) {
  const rows = mended_depths.length || isRunning ? [depths, mended_depths] : [depths];
  const room = () => make("span", { class: "room" }, isRunning ? "…" : "");
  const picture = (src, alt) => make("img", { src, alt, loading: "lazy", width: 112, height: 112 });
  const frames = film.map(({ depth, image }) => {
    const caption = nameDepth(depth);
    const rebuilt = rows.flatMap((row, n) => {
      const entry = row.find((one) => one.depth === depth);
      const words = `${n ? "Mended" : "Rebuilt"} from ${depth} steps`;
      return [
        entry ? picture(entry.image, words) : room(),
        make("span", { class: "reading" }, entry ? nameReading(entry.reading) : ""),
      ];
    });
    return make(
      "figure",
      {},
      picture(image, depth ? `After ${caption}` : "As it came"),
      make("figcaption", {}, caption),
      ...rebuilt,
    );
  });
  const heads = ["With noise", "Rebuilt by the paper’s method", "Rebuilt by our repair’s network"];
  const names = heads.slice(0, rows.length + 1).map((head) => make("span", {}, head));
  const first = make("div", { class: "heads", "aria-hidden": "true" }, ...names); // each picture's alt says it
  find("#film").replaceChildren(...frames, first);
}

function showRebuilt(record, isRunning) {
  const { stop, paper, guided, fixed, repaired } = record;
  const rest = stop?.has_given_up ? "Left alone" : "Nothing to do";
  const limit = stop && !stop.is_crossed ? ", our limit" : "";
  const noised = stop ? `After ${countSteps(stop.depth)} of noise${limit}` : "With noise";
  const coarse = "Rebuilt, coarse shapes kept";
  const plus = repaired?.is_unchanged ? "Left alone" : "Repaired";
  const theirs = fixed ? `After ${countSteps(fixed.depth)}, shapes kept` : "The same for all";
  const entries = [
    [stop && { image: stop.image }, stop?.depth === 0 ? rest : noised],
    [paper, paper?.depth === 0 ? rest : "Rebuilt freely"],
    [guided, guided?.depth === 0 ? rest : coarse],
    [fixed, theirs],
    [repaired, plus],
  ];
  entries.forEach(([part, name], n) => {
    const figure = figures[n];
    const [image, title, , reading] = figure.children;
    image.classList.toggle("is-old", !part);
    putImage(image, part?.image);
    const isEmpty = !image.hasAttribute("src") && !isRunning; // its room stays
    figure.classList.toggle("is-empty", isEmpty);
    image.alt = image.hasAttribute("src") ? name : "";
    put(title, name);
    const words = part?.reading ? describeReading(part.reading) : "";
    put(reading, !part && isRunning ? "being computed …" : words);
  });
}
