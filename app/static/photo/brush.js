// Strokes are painted here and travel as points; the server makes noise, blur or darkness of them.
const canvas = find(".ph-canvas");
const ring = find(".ph-ring");
const knob = (name) => Number(at(`#ph-rail [name=${name}]`).value);
const across = () => (knob("size") / 688) * Math.max(frame.clientWidth, frame.clientHeight);
const point = ({ clientX, clientY }) => {
  const { left, top, width, height } = frame.getBoundingClientRect();
  const inside = (share) => Math.round(1e4 * clamp(share, 0, 1)) / 1e4;
  return [inside((clientX - left) / width), inside((clientY - top) / height)];
};
function arm(kind) {
  brush = working() ? "" : kind;
  for (const node of document.querySelectorAll("[data-brush]")) press(node, node.dataset.brush === brush);
  frame.classList.toggle("armed", Boolean(brush));
  frame.tabIndex = brush ? 0 : -1;
  show(ring, false);
}
function paint(event) {
  event.preventDefault();
  const { strokes, kind } = value.damage;
  const before = kind === "strokes" ? strokes : [];
  if (before.length >= props.most.strokes) return;
  Object.assign(canvas, { width: frame.clientWidth, height: frame.clientHeight });
  show(canvas, true);
  const pen = canvas.getContext("2d");
  Object.assign(pen, { lineWidth: across(), lineCap: "round", lineJoin: "round", strokeStyle: "rgb(255 255 255 / 60%)" });
  const points = [point(event)];
  const draft = () => {
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.beginPath();
    for (const [x, y] of [points[0], ...points]) pen.lineTo(x * canvas.width, y * canvas.height);
    pen.stroke();
  };
  draft();
  follow(frame, event, (moved) => { moveRing(moved); points.push(point(moved)); draft(); }, () => {
    const every = Math.ceil(points.length / (props.most.points - 1));
    const kept = points.filter((_, i) => i % every === 0 || i === points.length - 1);
    add(kept);
  });
}
function add(points) {
  const { strokes, kind } = value.damage;
  const stroke = { kind: brush || "noise", size: knob("size"), strength: knob("strength"), points };
  choose({}, { kind: "strokes", strokes: [...(kind === "strokes" ? strokes : []), stroke] });
}
function undo() {
  const { strokes, kind } = value.damage;
  if (kind === "strokes" && strokes.length && !working()) choose({}, { strokes: strokes.slice(0, -1) });
}
function moveRing(event) {
  const [x, y] = point(event);
  const size = `${across()}px`;
  show(ring, Boolean(brush));
  Object.assign(ring.style, { left: `${100 * x}%`, top: `${100 * y}%`, width: size, height: size });
}
frame.addEventListener("pointermove", (event) => brush && moveRing(event));
frame.addEventListener("pointerleave", () => show(ring, false));

// By keys: arrows move the ring, Space paints where it is.
let spot = [0.5, 0.5];
frame.addEventListener("keydown", (event) => {
  if (!brush || event.target !== frame) return;
  const by = event.shiftKey ? 0.1 : 0.02;
  const move = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] }[event.key];
  if (!move && event.key !== " ") return;
  event.preventDefault();
  if (!move) return add([spot]);
  spot = spot.map((one, i) => Math.round(1e4 * clamp(one + move[i], 0, 1)) / 1e4);
  const { left, top, width, height } = frame.getBoundingClientRect();
  moveRing({ clientX: left + spot[0] * width, clientY: top + spot[1] * height });
});
