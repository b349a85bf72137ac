// The guided walk. Pieces that several widgets are made of.
const { words, steps } = props;

// An element of a class, or with other properties.
function make(tag, has = "", ...inside) {
  const known = typeof has === "string" ? { className: has } : has;
  const node = Object.assign(document.createElement(tag), known);
  node.append(...inside);
  return node;
}

const sentence = () => make("p", { className: "ln-say", ariaLive: "polite" });
const press = (name, className, onclick) => make("button", { type: "button", className, onclick }, name);
const frame = () =>
  make("figure", "ln-frame", make("div", { className: "ln-picture", role: "img" }), make("figcaption"));

// One picture out of a strip, or as it was before it was compressed.
function draw(figure, strip, index, alt, ...caption) {
  const [picture, below] = figure.children;
  const exact = strip.exact?.[index];
  picture.style.backgroundImage = `url("${exact ?? strip.uri}")`;
  picture.style.backgroundSize = `${exact ? 100 : 100 * strip.count}% 100%`;
  picture.style.backgroundPosition = `${(100 * index) / Math.max(strip.count - 1, 1)}% 0`;
  picture.ariaLabel = alt;
  below.replaceChildren(...caption);
  return figure;
}

// A slider with its name and its value in words.
function slider(name, { max, value, show = String }, move) {
  const shown = make("span");
  const input = make("input", { type: "range", max, value, ariaLabel: name });
  input.oninput = () => {
    shown.textContent = input.ariaValueText = show(Number(input.value));
    move(Number(input.value));
  };
  input.oninput();
  return make("label", "ln-slider", make("span", "", name), shown, input);
}

// One of a few.
let choices = 0;
function choice(name, options, chosen, choose) {
  const group = `ln-choice-${choices++}`;
  const labels = options.map((option, i) => {
    const known = { type: "radio", name: group, checked: i === chosen, onchange: () => choose(i) };
    return make("label", "", make("input", known), make("span", "", option));
  });
  choose(chosen);
  return make("fieldset", "choice", make("legend", "", name), make("div", "", ...labels));
}

// A picture's label, with a tick or a cross where the true class is known.
function reading([label, share], truth) {
  const right = label === truth;
  const [ariaLabel, sign] = truth ? (right ? [words.same, "✓"] : [words.other, "✕"]) : ["", ""];
  const kind = { className: right ? "ok" : "bad", role: "img", ariaLabel };
  return [make("span", kind, sign), ` ${label}, ${percent(share)}`];
}

// Values from 0 to 1 against depth. A line is a class and its points, a note stands at a point.
function chart({ last, tick, unit, lines, notes }) {
  const [width, height, left, right, top, bottom] = [436, 260, 40, 16, 12, 46];
  const x = (t) => left + (t / last) * (width - left - right);
  const y = (value) => top + (1 - value) * (height - top - bottom);
  const line = ([kind, points]) => `<polyline class="${kind}" points="${
    points.map(([t, value]) => `${x(t).toFixed(1)},${y(value).toFixed(1)}`).join(" ")}"/>`;
  const text = (at, down, what, anchor) =>
    `<text x="${at}" y="${down}" text-anchor="${anchor}">${what}</text>`;
  const grid = (value) => line(["grid", [[0, value], [last, value]]]) + text(left - 8, y(value) + 5, unit * value, "end");
  const ticks = Array.from({ length: Math.floor(last / tick) + 1 }, (_, i) =>
    text(x(i * tick), height - bottom + 20, i * tick, "middle"));
  const said = notes.map(([t, value, what, anchor = "end"]) =>
    text(x(t) + { start: 8, middle: 0, end: -4 }[anchor], y(value) + 20, what, anchor));
  const axis = text(width - right, height - 4, words.depth_axis, "end");
  const drawn = [...[0, 0.5, 1].map(grid), ...ticks, ...lines.map(line), ...said, axis];
  return `<svg viewBox="0 0 ${width} ${height}" aria-hidden="true">${drawn.join("")}</svg>`;
}
