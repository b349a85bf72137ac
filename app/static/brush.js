// The brush. Strokes are drawn here as the server draws them, from the same damaged photos, and
// travel as text: app/runs/strokes.py says how.
import { clamp, drag, find, make } from "./base.js";

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
const [VERSION, GRID, FARTHEST, SIZES] = ["1", 255, 31, 128];

/** A stroke as text; `kind` and `size` are digits, points lie on a grid. */
function write({ kind, size, points: [first, ...rest] }) {
  const numbers = [kind, size, ...first.flatMap((place) => [place >> 6, place & 63])];
  let last = first;
  for (const point of rest) {
    numbers.push(...point.map((place, n) => place - last[n] + FARTHEST));
    last = point;
  }
  return numbers.map((number) => DIGITS[number]).join("");
}

function read(text) {
  const [kind, size, x, x2, y, y2, ...steps] = [...text].map((digit) => DIGITS.indexOf(digit));
  const points = [[64 * x + x2, 64 * y + y2]];
  for (let n = 0; n < steps.length; n += 2)
    points.push(points.at(-1).map((place, axis) => place + steps[n + axis] - FARTHEST));
  return { kind, size, points };
}

/** All strokes as text, and from it: the server has checked what a link says. */
const writeStrokes = (strokes) =>
  strokes.length ? [VERSION, ...strokes.map(write)].join(".") : "";
const readStrokes = (text) => text.split(".").slice(1).map(read);

/**
 * A brush on `canvas`, over `picture`. `onPiece` gets all strokes as text while one is drawn,
 * `onStroke` after it, `onCancel` where it comes to nothing, `onFull` where it would be too much.
 */
export function makeBrush(canvas, picture, rules, { onPiece, onStroke, onCancel, onFull }) {
  const pen = canvas.getContext("2d");
  let strokes = [];
  let kind = 0;
  let spot = [0.5, 0.5];
  let photo = ""; // whose damaged copies these are
  let copies = [];
  let drawn = null; // the stroke that is not yet at its end
  let isShown = false; // whether strokes are, and not what the server made of them
  find("#brush-kinds").addEventListener("change", ({ target }) => {
    kind = rules.kinds.indexOf(target.value);
  });
  const size = () => Number(find("#brush-size").value);
  const widthOf = (digit) => ((digit + 1) / SIZES) * Math.max(area().width, area().height);

  /** The photo's own rectangle within the square that it is shown in. */
  function area() {
    const shown = find("#before");
    const [width, height] = [shown.naturalWidth || 1, shown.naturalHeight || 1];
    const scale = Math.min(canvas.width / width, canvas.height / height);
    return {
      left: (canvas.width - width * scale) / 2,
      top: (canvas.height - height * scale) / 2,
      width: width * scale,
      height: height * scale,
    };
  }
  function pointOf(event) {
    const box = canvas.getBoundingClientRect();
    const { left, top, width, height } = area();
    const scale = canvas.width / box.width; // where a large window enlarges the page
    return [
      clamp(((event.clientX - box.left) * scale - left) / width, 0, 1),
      clamp(((event.clientY - box.top) * scale - top) / height, 0, 1),
    ].map((share) => Math.round(GRID * share));
  }
  /** Points that are near to one another are one; a longer way is gone in steps. */
  function extend({ points, size }, to, isEnd) {
    const [x, y] = points.at(-1);
    const [dx, dy] = [to[0] - x, to[1] - y];
    const far = Math.max(Math.abs(dx), Math.abs(dy));
    if (!far || (!isEnd && far < 2 + size / 8)) return;
    const steps = Math.ceil(far / FARTHEST);
    for (let n = 1; n <= steps; n++)
      points.push([x + Math.round((dx * n) / steps), y + Math.round((dy * n) / steps)]);
  }
  function add(stroke) {
    const text = writeStrokes([...strokes, stroke]);
    if (text.length > rules.mostLetters) {
      onCancel();
      onFull();
    } else {
      strokes = [...strokes, stroke];
      onStroke(text);
    }
  }
  function ink(number) {
    const { left, top, width, height } = area();
    const copy = copies[number];
    if (!copy?.complete || !copy.naturalWidth) return "rgb(120 125 140 / 70%)"; // it has not come yet
    if (copy.drawnFor !== `${canvas.width} ${width} ${height}`) {
      const sheet = make("canvas", { width: canvas.width, height: canvas.height });
      sheet.getContext("2d").drawImage(copy, left, top, width, height);
      copy.pattern = pen.createPattern(sheet, "no-repeat");
      copy.drawnFor = `${canvas.width} ${width} ${height}`;
    }
    return copy.pattern;
  }
  function drawStroke({ kind, size, points }, from = 0) {
    const { left, top, width, height } = area();
    Object.assign(pen, { lineCap: "round", lineJoin: "round" });
    Object.assign(pen, { lineWidth: widthOf(size), strokeStyle: ink(kind) });
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width, height);
    pen.clip();
    pen.beginPath();
    for (const [x, y] of [points[from], ...points.slice(from)])
      pen.lineTo(left + (x / GRID) * width, top + (y / GRID) * height);
    pen.stroke();
    pen.restore();
  }
  function drawAll() {
    pen.clearRect(0, 0, canvas.width, canvas.height);
    if (isShown) for (const stroke of [...strokes, ...(drawn ? [drawn] : [])]) drawStroke(stroke);
    if (canvas.matches(":focus-visible")) drawRing();
  }
  function drawRing() {
    const { left, top, width, height } = area();
    const [x, y] = [left + spot[0] * width, top + spot[1] * height];
    pen.beginPath();
    pen.arc(x, y, widthOf(size()) / 2, 0, 2 * Math.PI);
    for (const [strokeStyle, lineWidth] of Object.entries({ "#161a23": 4, "#fff": 2 })) {
      Object.assign(pen, { strokeStyle, lineWidth });
      pen.stroke();
    }
  }
  const show = (shown) => {
    isShown = shown;
    drawAll();
  };
  canvas.addEventListener("pointerdown", (event) => {
    event.stopPropagation();
    if (event.button) return;
    find("#draw-here").hidden = true;
    const stroke = { kind, size: size(), points: [pointOf(event)] };
    const tell = () => onPiece(writeStrokes([...strokes, stroke]));
    drawn = stroke;
    show(true);
    tell();
    const move = (moved) => {
      const count = stroke.points.length;
      for (const each of moved.getCoalescedEvents?.() ?? [moved]) extend(stroke, pointOf(each));
      if (stroke.points.length === count) return;
      drawStroke(stroke, count - 1);
      tell();
    };
    let last = event;
    canvas.addEventListener("pointerup", (up) => (last = up), { once: true, capture: true });
    drag(canvas, event, move, (isKept) => {
      drawn = null;
      if (!isKept) return onCancel();
      extend(stroke, pointOf(last), true);
      add(stroke);
    });
  });
  canvas.addEventListener("keydown", (event) => {
    const by = event.shiftKey ? 0.1 : 0.02;
    if (event.key === " " || event.key === "Enter") {
      const points = [spot.map((share) => Math.round(GRID * share))];
      add({ kind, size: size(), points });
    } else if (MOVES[event.key]) {
      spot = spot.map((share, n) => clamp(share + by * MOVES[event.key][n], 0, 1));
    } else return;
    event.preventDefault();
    drawAll();
  });
  canvas.addEventListener("focus", drawAll);
  canvas.addEventListener("blur", drawAll);
  for (const [name, keep] of Object.entries({ "#undo": -1, "#clear": 0 })) {
    find(name).addEventListener("click", () => {
      if (!strokes.length) return;
      strokes = strokes.slice(0, keep);
      onStroke(writeStrokes(strokes));
    });
  }
  function fit() {
    if (canvas.hidden) return;
    Object.assign(canvas, { width: picture.clientWidth, height: picture.clientHeight });
    drawAll();
  }
  addEventListener("resize", fit);
  return {
    show,
    isDrawing: () => drawn !== null,
    /** For strokes on a photo, by its key. */
    toggle(on, key, text) {
      if (on && photo !== key) {
        photo = key;
        copies = rules.kinds.map((name) => {
          const src = `brushes/${encodeURIComponent(key)}/${name}`;
          return make("img", { src, alt: "", load: drawAll });
        });
      }
      if (text !== writeStrokes(strokes)) strokes = readStrokes(text);
      const isNew = canvas.hidden && on;
      canvas.hidden = !on;
      if (isNew) fit();
      else drawAll();
    },
  };
}
