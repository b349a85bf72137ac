// The guided walk. Pieces that several widgets are made of.
const { words, steps } = props;

function make(tag, className = "", ...inside) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...inside);
  return node;
}

function frame() {
  const picture = make("div", "ln-picture");
  picture.setAttribute("role", "img");
  return make("figure", "ln-frame", picture, make("figcaption"));
}

// One picture out of a strip, or as it was before it was compressed.
function draw(figure, strip, index, alt, caption = "") {
  const [picture, below] = figure.children;
  const exact = strip.exact?.[index];
  picture.style.backgroundImage = `url("${exact ?? strip.uri}")`;
  picture.style.backgroundSize = `${exact ? 100 : 100 * strip.count}% 100%`;
  picture.style.backgroundPosition = `${(100 * index) / Math.max(strip.count - 1, 1)}% 0`;
  picture.setAttribute("aria-label", alt);
  below.textContent = caption;
}

// A slider with its name and its value in words.
function slider(name, { max, value, show = String }, move) {
  const shown = make("span");
  const input = make("input");
  Object.assign(input, { type: "range", max, value, ariaLabel: name });
  const moved = () => {
    shown.textContent = show(Number(input.value));
    input.setAttribute("aria-valuetext", shown.textContent);
    move(Number(input.value));
  };
  input.addEventListener("input", moved);
  moved();
  return make("label", "ln-slider", make("span", "", name), shown, input);
}

// One of a few.
let choices = 0;
function choice(name, options, chosen, choose) {
  const group = `ln-choice-${choices++}`;
  const labels = options.map((option, i) => {
    const input = make("input");
    Object.assign(input, { type: "radio", name: group, checked: i === chosen });
    input.addEventListener("change", () => choose(i));
    return make("label", "", input, make("span", "", option));
  });
  choose(chosen);
  return make("fieldset", "choice", make("legend", "", name), make("div", "", ...labels));
}

function sentence() {
  const node = make("p", "ln-say");
  node.setAttribute("aria-live", "polite");
  return node;
}

// A picture's label, with a tick or a cross where the true class is known.
function reading([label, share], truth) {
  const right = label === truth;
  const sign = make("span", right ? "ok" : "bad", truth ? (right ? "✓" : "✕") : "");
  sign.setAttribute("role", "img");
  sign.setAttribute("aria-label", truth ? (right ? words.same : words.other) : "");
  return [sign, ` ${label}, ${percent(share)}`];
}

// Values from 0 to 1 against depth. A line is a class and its points, a note stands at a point.
function chart({ last, tick, unit, lines, dots = [], notes }) {
  const [width, height, left, right, top, bottom] = [436, 260, 40, 16, 12, 46];
  const x = (t) => left + (t / last) * (width - left - right);
  const y = (value) => top + (1 - value) * (height - top - bottom);
  const line = ([kind, points]) => `<polyline class="${kind}" points="${
    points.map(([t, value]) => `${x(t).toFixed(1)},${y(value).toFixed(1)}`).join(" ")}"/>`;
  const text = (at, down, what, anchor) =>
    `<text x="${at}" y="${down}" text-anchor="${anchor}">${what}</text>`;
  const rows = [0, 0.5, 1].map((value) => line(["grid", [[0, value], [last, value]]]) +
    text(left - 8, y(value) + 5, unit * value, "end"));
  const ticks = Array.from({ length: Math.floor(last / tick) + 1 }, (_, i) =>
    text(x(i * tick), height - bottom + 20, i * tick, "middle"));
  const points = dots.map(([t, value]) => `<circle cx="${x(t)}" cy="${y(value)}" r="6"/>`);
  const said = notes.map(([t, value, what, anchor = "end"]) =>
    text(x(t) + (anchor === "end" ? -4 : 8), y(value) + 20, what, anchor));
  return `<svg viewBox="0 0 ${width} ${height}" aria-hidden="true">${rows.join("")}` +
    `${ticks.join("")}${lines.map(line).join("")}${points.join("")}${said.join("")}` +
    `${text(width - right, height - 4, words.depth_axis, "end")}</svg>`;
}
