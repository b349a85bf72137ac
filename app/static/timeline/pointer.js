// Mouse and finger: tau is dragged up and down, the playhead along either part.
function setTau(next) {
  tau = Math.round(100 * clamp(next, 0, 1)) / 100;
  draw();
}

const tauKeys = {
  ArrowUp: 0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowLeft: -0.01,
  PageUp: 0.1, PageDown: -0.1, Home: -1, End: 1,
};
handle.addEventListener("keydown", (event) => {
  if (!(event.key in tauKeys)) return;
  event.preventDefault();
  setTau(tau + tauKeys[event.key]);
});

const within = (event) => {
  const { left, top } = plot.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
};

// From press to release; `move` is called with the pointer's place in the plot.
function drag(node, move, done = () => {}) {
  const stop = (event) => {
    node.removeEventListener("pointermove", move);
    node.removeEventListener("pointerup", stop);
    node.removeEventListener("pointercancel", stop);
    done(event);
  };
  node.addEventListener("pointermove", move);
  node.addEventListener("pointerup", stop);
  node.addEventListener("pointercancel", stop);
}

function dragTau(node, accept) {
  node.addEventListener("pointerdown", (event) => {
    if (!accept(event)) return;
    event.preventDefault();
    event.stopPropagation();
    handle.focus({ preventScroll: true });
    node.setPointerCapture(event.pointerId);
    drag(node, (e) => setTau(1 - (within(e).y - area.top) / (area.bottom - area.top)));
  });
}
dragTau(handle, (event) => event.button === 0);
dragTau(line, (event) => event.button === 0 && event.pointerType === "mouse");

function nearestLane(y) {
  const open = area.lanes.filter((p) => laneOf(p.name) && goesBack(laneOf(p.name)));
  const away = (p) => Math.abs(p.middle - y);
  return open.sort((a, b) => away(a) - away(b))[0]?.name;
}

// Where a pointer means to go; a drag stays in the part it began in.
function target({ x, y }, part = y > area.rail + 12 ? "reverse" : "forward", lane = nearestLane(y)) {
  if (part === "reverse" && !lane) return null;
  return { part, depth: area.depthAt(x), ...(part === "reverse" ? { lane } : {}) };
}

plot.addEventListener("pointerdown", (event) => {
  const begun = within(event);
  if (event.button !== 0 || !mean.length || event.target.closest("button")) return;
  if (begun.x < area.left - 12 || begun.y < area.top - 8) return;
  const first = event.target.closest(".tl-now") ? at : target(begun);
  if (!first) return;
  pause();
  const mouse = event.pointerType === "mouse";
  let held = mouse;
  const scrub = (e) => {
    const now = within(e);
    const [dx, dy] = [Math.abs(now.x - begun.x), Math.abs(now.y - begun.y)];
    held ||= e.type === "pointerup" || dx > Math.max(6, dy);
    if (held) takeHold(() => place(target(now, first.part, first.lane)));
  };
  if (mouse) {
    event.preventDefault();
    head.focus({ preventScroll: true });
    if (!event.target.closest(".tl-now")) scrub(event);
  }
  // A finger that has not moved yet may be about to scroll the page: the browser says which.
  plot.setPointerCapture(event.pointerId);
  drag(plot, scrub, (e) => e.type === "pointerup" && !mouse && scrub(e));
});

function hover(event) {
  const point = within(event);
  const busy = event.buttons || event.target.closest("button, .tl-tau");
  const to = !busy && point.x > area.left - 6 && point.y > area.top ? target(point) : null;
  const text = to && readout(to);
  read.hidden = !text;
  if (!text) return;
  put(read, text);
  const half = read.offsetWidth / 2;
  const back = to.part === "reverse";
  const y = back ? area.lanes.find((p) => p.name === to.lane).y : area.y(mean[to.depth]);
  read.style.left = `${clamp(area.x(to.depth), half, area.width - half)}px`;
  read.style.top = `${y}px`;
}

function readout({ part, depth, lane }) {
  if (part === "forward") {
    const known = { depth, confidence: mean[depth]?.toFixed(2) };
    return depth < mean.length ? fill(words.read_forward, known) : "";
  }
  const way = laneOf(lane);
  if (depth >= way.depth || depth < reached(way)) return "";
  const step = clamp(stepAt(way, depth), 1, stepsOf(way));
  const known = { depth: way.visited[step], step, steps: allSteps(way) };
  return fill(words.read_reverse, { method: words.methods[lane], ...known });
}
plot.addEventListener("pointermove", hover);
plot.addEventListener("pointerleave", () => (read.hidden = true));
