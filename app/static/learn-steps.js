// What each step shows, out of what was recorded: no sentence here but follows from it.
import { capitalise, clamp, countSteps, data, draw, fillRow, find, findNearest } from "./base.js";
import { make, percent, put } from "./base.js";

const { names, methods } = data();

const nameDamage = ({ damage, strength }) =>
  `${names[damage].toLowerCase().replace("jpeg", "JPEG")}, ${strength} of 5`;
const nameCase = (one) => `${capitalise(one.truth)}: ${nameDamage(one)}`;

function showPicture(selector, image, alt) {
  const node = find(selector);
  node.src = image;
  node.alt = alt;
}

/** A slider that calls with its number, now and whenever it moves. */
function follow(selector, change) {
  const input = find(selector);
  const move = () => change(Number(input.value), input);
  input.addEventListener("input", move);
  move();
}

export function showTrouble({ truth, damage, original, strengths }) {
  const name = capitalise(truth);
  showPicture("#trouble-original", original.image, `${name}, undamaged`);
  put(find("#trouble-original-caption"), `${name}: undamaged`);
  follow("#strength", (strength, input) => {
    const reading = strength ? strengths[strength - 1] : original;
    const amount = strength ? `${strength} of 5` : "none";
    put(find("#trouble-strength"), amount);
    const caption = `${name}: ${strength ? nameDamage({ damage, strength }) : "undamaged"}`;
    put(find("#trouble-caption"), caption);
    input.setAttribute("aria-valuetext", amount);
    showPicture("#trouble-picture", reading.image, caption);
    fillRow(find("#trouble-reading"), reading);
    const start = strength ? "With this much noise" : "Undamaged";
    put(
      find("#trouble-words"),
      reading.is_right
        ? `${start}, it sees “${truth}”: right.`
        : `${start}, it ${reading.is_sure ? "sees" : "guesses"} “${reading.label}”. You still see “${truth}”.`,
    );
  });
}

export function showOurs(one) {
  const { original, damaged, plus, truth, found } = one;
  put(find("#ours-original-caption"), `${capitalise(truth)}: undamaged`);
  put(find("#ours-caption"), `${nameCase(one)}, and repaired`);
  showPicture("#ours-picture", original.image, `Undamaged, read as ${original.label}`);
  showPicture("#ours-before", damaged.image, `Damaged, read as ${damaged.label}`);
  showPicture("#ours-after", plus.image, `Repaired, read as ${plus.label}`);
  fillRow(find("#ours-original"), original);
  fillRow(find("#ours-damaged"), damaged);
  fillRow(find("#ours-repaired"), plus);
  const end = plus.is_right ? `it is read as “${truth}” again` : "it is still read wrong";
  put(find("#ours-words"), `Found: ${found}. With it undone, ${end}: ${percent(plus.share)}.`);
  follow("#divider", (at, input) => {
    input.parentElement.style.setProperty("--at", `${at}%`);
    input.setAttribute("aria-valuetext", `${at} % of the picture damaged`);
  });
}

export function showNoise({ depths, confidence, tau, stop, is_crossed, ...one }) {
  const input = find("#depth");
  let place = 0; // where it stops is to be found
  const last = confidence.length - 1; // the slider has the graph's axis
  input.max = last;
  const plot = find("#plot");
  let move = () => {};
  new ResizeObserver(() => {
    // also when this step is opened
    if (!plot.clientWidth) return;
    move = drawCurve(plot, confidence, tau, stop);
    move(depths[place].depth);
  }).observe(plot);
  let isDragged = false;
  input.addEventListener("pointerdown", () => (isDragged = true));
  for (const kind of ["pointerup", "pointercancel"])
    input.addEventListener(kind, () => (isDragged = false));
  const guided = find("#keeps-shapes");
  guided.addEventListener("change", () => input.dispatchEvent(new Event("input")));
  follow("#depth", (value) => {
    const by = value - depths[place].depth;
    const isArrowKey = !isDragged && Math.abs(by) === 1; // one step
    place = isArrowKey ? clamp(place + by, 0, depths.length - 1) : findNearest(depths, value);
    input.value = depths[place].depth;
    const way = guided.checked ? "guided" : "free";
    const { depth, state, [way]: reading } = depths[place];
    put(find("#noise-caption"), `${nameCase(one)}${depth ? ", and noise in" : ""}`);
    put(find("#noise-depth"), `${depth}`);
    input.setAttribute("aria-valuetext", countSteps(depth));
    showPicture("#noise-state", state, `${nameCase(one)}, after ${countSteps(depth)} of noise`);
    showPicture("#noise-rebuilt", reading.image, `Rebuilt from there, read as ${reading.label}`);
    find("#noise-label").replaceChildren(
      depth ? "Rebuilt: " : "As it came: ",
      make("b", {}, reading.label),
      ` ${reading.is_right ? "✓" : "✗"} ${percent(reading.share)}`,
    );
    move(depth);
    const sure = percent(confidence[depth]);
    const how =
      depth < stop
        ? `Not enough: the detector is still ${sure} sure of damage.`
        : depth > stop
          ? `More than the detector asks for: the line fell below the dashes at ${stop} already.`
          : is_crossed
            ? `Here it stops: the line falls below the dashes. This is t*, ${countSteps(stop)}.`
            : `The limit is reached, ${countSteps(stop)}: the detector is still ${sure} sure of damage.`;
    const start = depth ? "Rebuilt from here" : "Without noise";
    const end = `${reading.is_right ? "right" : "wrong"}, ${percent(reading.share)} sure`;
    put(find("#noise-words"), `${how} ${start}, it is read ${end}.`);
  });
}

/** Confidence by steps of noise, against the threshold, as wide as its box; returns what moves the
 * mark. */
function drawCurve(plot, confidence, tau, stop) {
  const [height, left, right, top, bottom] = [240, 68, 12, 28, 48];
  const width = (height * plot.clientWidth) / plot.clientHeight;
  const x = (depth) => left + ((width - left - right) * depth) / (confidence.length - 1);
  const y = (share) => height - bottom - (height - top - bottom) * share;
  const place = ([depth, share]) => `${x(depth).toFixed(1)},${y(share).toFixed(1)}`;
  const line = (kind, ...points) =>
    draw("polyline", { class: kind, points: points.map(place).join(" ") });
  const text = (at, down, words, anchor) =>
    draw("text", { x: at, y: down, "text-anchor": anchor }, words);
  const last = confidence.length - 1;
  const svg = draw("svg", {
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label":
      `How sure the detector is of damage: ${percent(confidence[0])} without noise, ` +
      `${percent(confidence[stop])} after ${countSteps(stop)}, ` +
      `${percent(confidence[last])} after ${countSteps(last)}`,
  });
  for (const share of [0, 0.5, 1]) {
    svg.append(line("grid", [0, share], [last, share]));
    svg.append(text(left - 8, y(share) + 6, percent(share), "end"));
  }
  for (let depth = 0; depth <= last; depth += last / 4) {
    svg.append(text(x(depth), height - bottom + 21, depth, "middle"));
  }
  svg.append(text(left, 16, "How sure of damage", "start"));
  svg.append(text(width - right, height - 4, "steps of noise", "end"));
  const mark = draw(
    "g",
    { class: "mark" },
    draw("line", { y1: y(1), y2: y(0) }),
    draw("circle", { r: 7 }),
    draw("text", { y: y(0.2) }),
  );
  const below = confidence[last] > tau ? 20 : -8; // clear of the curve's end
  svg.append(line("tau", [0, tau], [last, tau]));
  svg.append(text(width - right, y(tau) + below, `dashes: ${percent(tau)}`, "end"));
  svg.append(line("curve", ...confidence.entries()), mark);
  svg.append(line("stop", [stop, 0.1], [stop, 0]), text(x(stop) - 6, y(0.04), "stop", "end"));
  plot.replaceChildren(svg);
  return (depth) => {
    mark.style.transform = `translateX(${x(depth)}px)`;
    find("circle", mark).setAttribute("cy", y(confidence[depth]));
    const label = find("text", mark);
    const isLeft = depth > last * 0.75;
    label.setAttribute("x", isLeft ? -8 : 8);
    label.setAttribute("text-anchor", isLeft ? "end" : "start");
    put(label, `you: ${depth}`);
  };
}

/** Radio buttons, one a case; the first is chosen. */
function offer(selector, titles, choose) {
  const makeButton = (title, index) => {
    const attributes = { type: "radio", name: selector, value: index, checked: !index };
    return make("label", { class: "button" }, make("input", attributes), title);
  };
  find(selector).append(...titles.map(makeButton));
  find(selector).addEventListener("change", ({ target }) => choose(Number(target.value)));
  choose(0);
}

function showCase(root, one, parts) {
  for (const part of parts) {
    const reading = one[part];
    const way = methods[part] ?? capitalise(part);
    const words = `${nameCase(one)}. ${way}: read as ${reading.label}`;
    showPicture(`#${root}-${part}`, reading.image, words);
    fillRow(find(`#${root}-${part}-reading`), reading);
    const isAlone = part in methods && reading.image === one.damaged.image;
    const title = find(`figure:has(#${root}-${part}) .title`);
    put(title, isAlone ? `${way}: unchanged` : way);
  }
}

export function showComparison(cases) {
  const ways = Object.keys(methods);
  const right = ways.map((way) => cases.filter((one) => one[way].is_right).length);
  const show = (index) => showCase("compare", cases[index], ["damaged", ...ways]);
  offer("#damages", cases.map(nameCase), show);
  find("#compare-words").replaceChildren(
    `Read right, of these ${cases.length}: our repair ${right[0]}, ` +
      `the paper’s method ${right[1]}, fixed noise ${right[2]}. These are examples; `,
    make("a", { href: "results" }, "Results"),
    " counts many photographs.",
  );
}

export function showFailures(cases) {
  offer("#failures", cases.map(nameCase), (index) => {
    const one = cases[index];
    const { damaged, plus, found } = one;
    showCase("fails", one, ["original", "damaged", "plus"]);
    const end = `${plus.is_right ? "right" : "wrong"}: ${plus.label}, ${percent(plus.share)}.`;
    const isAlone = damaged.image === plus.image;
    const isWorse = damaged.is_right && !plus.is_right;
    const how = isWorse
      ? "Undoing that made it worse: it was read right before, and after it is"
      : "After undoing that it is read";
    put(
      find("#fails-words"),
      isAlone
        ? `Nothing was found that our repair can undo, so it was left alone. It is read ${end}`
        : `Found: ${found}. ${how} ${end}`,
    );
  });
}
