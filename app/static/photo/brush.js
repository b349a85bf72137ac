// Strokes are painted here and travel as points; the server makes noise, blur or darkness of them.
const canvas = find(".ph-canvas");
const ring = find(".ph-ring");
let spot = [0.5, 0.5]; // of the ring, in shares of the photo's sides
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const knob = (name) => Number(at(`#ph-rail [name=${name}]`).value);
const across = () => (knob("size") / 688) * Math.max(frame.clientWidth, frame.clientHeight);
const painted = () => (value.damage.kind === "strokes" ? value.damage.strokes : []);
// Painted by the visitor, other than what the page opens with.
const isOwn = () => {
  const usual = JSON.stringify(opening.damage.strokes);
  return value.damage.kind === "strokes" && JSON.stringify(value.damage.strokes) !== usual;
};
function arm(kind) {
  brush = kind;
  frame.classList.toggle("armed", Boolean(brush));
  frame.tabIndex = brush ? 0 : -1;
  show(ring, false);
  rail();
  if (brush) at(":popover-open")?.hidePopover();
}
function moveRing(to) {
  spot = to;
  show(ring, Boolean(brush));
  const [left, top] = spot.map((share) => `${100 * share}%`);
  Object.assign(ring.style, { left, top, width: `${across()}px`, height: `${across()}px` });
}
function add(points) {
  if (painted().length >= props.most.strokes) return;
  const stroke = { kind: brush, size: knob("size"), strength: knob("strength"), points };
  choose({}, { kind: "strokes", strokes: [...painted(), stroke] });
}
function undo() {
  if (painted().length) choose({}, { strokes: painted().slice(0, -1) });
}
function paint(event) {
  event.preventDefault();
  Object.assign(canvas, { width: frame.clientWidth, height: frame.clientHeight });
  show(canvas, true);
  const pen = canvas.getContext("2d");
  const strokeStyle = "rgb(255 255 255 / 60%)";
  Object.assign(pen, { lineWidth: across(), lineCap: "round", lineJoin: "round", strokeStyle });
  const points = [];
  const draft = (moved) => {
    points.push(point(moved));
    moveRing(points.at(-1));
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.beginPath();
    for (const [x, y] of [points[0], ...points]) pen.lineTo(x * canvas.width, y * canvas.height);
    pen.stroke();
  };
  draft(event);
  follow(frame, event, draft, (lifted) => {
    const every = Math.ceil(points.length / (props.most.points - 1));
    const kept = points.filter((_, i) => i % every === 0 || i === points.length - 1);
    if (lifted) add(kept);
    show(canvas, lifted); // a new one stays marked until it is repaired
  });
}
frame.addEventListener("pointermove", (event) => brush && moveRing(point(event)));
frame.addEventListener("pointerleave", () => show(ring, false));
// By keys: arrows move the ring, Space paints where it is.
frame.addEventListener("keydown", (event) => {
  if (!brush || event.target !== frame) return;
  const by = event.shiftKey ? 0.1 : 0.02;
  const move = MOVES[event.key];
  if (!move && event.key !== " ") return;
  event.preventDefault();
  if (move) moveRing(spot.map((share, i) => clamp(share + by * move[i], 0, 1)));
  else add([spot]);
});
