// Strokes are drawn here and travel as points; the server makes noise, blur or darkness of them.
import { find, clamp, drag, make, makeRadioGroup } from "./base.js";

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const MOST_POINTS = 60;
const PREVIEWS = { blur: "rgb(160 165 180 / 60%)", dark: "rgb(0 0 0 / 75%)" };

/** A tile of random colours; the photo below is hardly seen. */
function drawNoise() {
  const tile = make("canvas", { width: 64, height: 64 });
  const pixels = new ImageData(64, 64);
  pixels.data.forEach((_, n) => {
    pixels.data[n] = n % 4 === 3 ? 210 : 256 * Math.random();
  });
  tile.getContext("2d").putImageData(pixels, 0, 0);
  return tile;
}

/** A brush on `canvas`, over `picture`; `paint` gets all strokes after each. */
export function makeBrush(canvas, picture, most, paint) {
  const pen = canvas.getContext("2d");
  const noise = pen.createPattern(drawNoise(), "repeat");
  let strokes = [];
  let pending = []; // strokes that no damaged picture shows yet
  let kind = "noise";
  let spot = [0.5, 0.5];
  makeRadioGroup(find("#brush-kinds"), (chosen) => {
    kind = chosen;
  });
  const size = () => Number(find("#brush-size").value) / 100;
  const radius = () => (size() * Math.max(canvas.width, canvas.height)) / 2;

  /** The photo's own rectangle within the square that it is shown in. */
  function area() {
    const photo = find("#before");
    const [width, height] = [photo.naturalWidth || 1, photo.naturalHeight || 1];
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
    const scale = canvas.width / box.width; // where full screen enlarges the page
    return [
      clamp(((event.clientX - box.left) * scale - left) / width, 0, 1),
      clamp(((event.clientY - box.top) * scale - top) / height, 0, 1),
    ];
  }
  function add(points) {
    if (strokes.length >= most) return;
    const every = Math.ceil(points.length / MOST_POINTS);
    const kept = points.filter((_, n) => n % every === 0 || n === points.length - 1);
    const stroke = { kind, size: size(), points: kept };
    strokes = [...strokes, stroke];
    pending.push(stroke);
    paint(strokes);
  }
  function drawPending(...more) {
    pen.clearRect(0, 0, canvas.width, canvas.height);
    [...pending, ...more].forEach(drawStroke);
  }
  function drawStroke({ kind, size, points }) {
    const { left, top, width, height } = area();
    const lineWidth = size * Math.max(width, height);
    const strokeStyle = PREVIEWS[kind] ?? noise;
    Object.assign(pen, { lineWidth, lineCap: "round", lineJoin: "round", strokeStyle });
    pen.beginPath();
    for (const [x, y] of [points[0], ...points]) pen.lineTo(left + x * width, top + y * height);
    pen.stroke();
  }
  function drawRing() {
    const { left, top, width, height } = area();
    drawPending();
    for (const [color, line] of [
      ["#161a23", 4],
      ["#fff", 2],
    ]) {
      Object.assign(pen, { lineWidth: line, strokeStyle: color });
      pen.beginPath();
      pen.arc(left + spot[0] * width, top + spot[1] * height, radius(), 0, 2 * Math.PI);
      pen.stroke();
    }
  }
  canvas.addEventListener("pointerdown", (event) => {
    event.stopPropagation();
    find("#draw-here").hidden = true;
    const points = [pointOf(event)];
    const drawLine = () => drawPending({ kind, size: size(), points });
    drawLine();
    const move = (moved) => {
      points.push(pointOf(moved));
      drawLine();
    };
    drag(canvas, event, move, (isKept) => {
      drawPending();
      if (isKept) add(points);
    });
  });
  canvas.addEventListener("keydown", (event) => {
    const by = event.shiftKey ? 0.1 : 0.02;
    if (event.key === " " || event.key === "Enter") add([spot]);
    else if (MOVES[event.key]) {
      spot = spot.map((share, n) => clamp(share + by * MOVES[event.key][n], 0, 1));
    } else return;
    event.preventDefault();
    drawRing();
  });
  canvas.addEventListener("focus", drawRing);
  canvas.addEventListener("blur", () => drawPending());
  find("#undo").addEventListener("click", () => {
    if (!strokes.length) return;
    strokes = strokes.slice(0, -1);
    pending.pop();
    paint(strokes);
  });
  canvas.tabIndex = 0;
  canvas.setAttribute("aria-label", "Paint damage: arrows move the brush, space paints");
  canvas.setAttribute("role", "application");
  return {
    toggle(on, known) {
      strokes = known;
      if (!strokes.length) pending = [];
      canvas.hidden = !on;
      if (on) Object.assign(canvas, { width: picture.clientWidth, height: picture.clientHeight });
      drawPending();
    },
    forgetPreview() {
      pending = [];
      drawPending();
    },
  };
}
