// Strokes are drawn here and travel as points; the server makes noise, blur or darkness of them.
import { find, clamp, drag, makeRadioGroup } from "./base.js";

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const MOST_POINTS = 60;

/** A brush on `canvas`, over `picture`; `paint` gets all strokes after each. */
export function makeBrush(canvas, picture, most, paint) {
  const pen = canvas.getContext("2d");
  let strokes = [];
  let kind = "noise";
  let spot = [0.5, 0.5];
  makeRadioGroup(find("#brush-kinds"), (chosen) => { kind = chosen; });
  const size = () => Number(find("#brush-size").value) / 100;
  const radius = () => (size() * Math.max(canvas.width, canvas.height)) / 2;

  /** The photo's own rectangle within the square that it is shown in. */
  function area() {
    const photo = find("#before");
    const [width, height] = [photo.naturalWidth || 1, photo.naturalHeight || 1];
    const scale = Math.min(canvas.width / width, canvas.height / height);
    return { left: (canvas.width - width * scale) / 2, top: (canvas.height - height * scale) / 2, width: width * scale, height: height * scale };
  }
  function pointOf(event) {
    const box = canvas.getBoundingClientRect();
    const { left, top, width, height } = area();
    const scale = canvas.width / box.width; // where full screen enlarges the page
    return [clamp(((event.clientX - box.left) * scale - left) / width, 0, 1), clamp(((event.clientY - box.top) * scale - top) / height, 0, 1)];
  }
  function add(points) {
    if (strokes.length >= most) return;
    const every = Math.ceil(points.length / MOST_POINTS);
    strokes = [...strokes, { kind, size: size(), points: points.filter((_, n) => n % every === 0 || n === points.length - 1) }];
    paint(strokes);
  }
  function drawLine(points) {
    const { left, top, width, height } = area();
    pen.clearRect(0, 0, canvas.width, canvas.height);
    Object.assign(pen, { lineWidth: 2 * radius(), lineCap: "round", lineJoin: "round", strokeStyle: "rgb(255 255 255 / 55%)" });
    pen.beginPath();
    for (const [x, y] of [points[0], ...points]) pen.lineTo(left + x * width, top + y * height);
    pen.stroke();
  }
  function drawRing() {
    const { left, top, width, height } = area();
    pen.clearRect(0, 0, canvas.width, canvas.height);
    for (const [color, line] of [["#161a23", 4], ["#fff", 2]]) {
      Object.assign(pen, { lineWidth: line, strokeStyle: color });
      pen.beginPath();
      pen.arc(left + spot[0] * width, top + spot[1] * height, radius(), 0, 2 * Math.PI);
      pen.stroke();
    }
  }
  canvas.addEventListener("pointerdown", (event) => {
    event.stopPropagation();
    const points = [pointOf(event)];
    drawLine(points);
    const move = (moved) => { points.push(pointOf(moved)); drawLine(points); };
    drag(canvas, event, move, (isKept) => {
      pen.clearRect(0, 0, canvas.width, canvas.height);
      if (isKept) add(points);
    });
  });
  canvas.addEventListener("keydown", (event) => {
    const by = event.shiftKey ? 0.1 : 0.02;
    if (event.key === " " || event.key === "Enter") add([spot]);
    else if (MOVES[event.key]) spot = spot.map((share, n) => clamp(share + by * MOVES[event.key][n], 0, 1));
    else return;
    event.preventDefault();
    drawRing();
  });
  canvas.addEventListener("focus", drawRing);
  canvas.addEventListener("blur", () => pen.clearRect(0, 0, canvas.width, canvas.height));
  find("#undo").addEventListener("click", () => { if (strokes.length) paint((strokes = strokes.slice(0, -1))); });
  canvas.tabIndex = 0;
  canvas.setAttribute("aria-label", "Paint damage: arrows move the brush, space paints");
  canvas.setAttribute("role", "application");
  return {
    toggle(on, known) {
      strokes = known;
      canvas.hidden = !on;
      if (on) Object.assign(canvas, { width: picture.clientWidth, height: picture.clientHeight });
    },
  };
}
