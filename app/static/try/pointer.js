// Mouse, finger and keys: tau up and down, the two depths along the axis.
const setTau = (next) => { halt(); hand = null; tau = Math.round(100 * clamp(next, 0, 1)) / 100; moved(); };
const setFixed = (next) => { halt(); fixedHandle.classList.remove("glow"); fixed = clamp(next, 1, deepest()); moved(); };
const setDepth = (next) => {
  halt();
  const stop = value.stops && atTau(value.stops);
  const to = clamp(next, 0, Math.min(deepest(), lastJudged()));
  hand = stop && stop[0] === to ? null : to;
  moved();
};
const setOwn = () => { halt(); hand = null; moved(); };
const stepDepth = (by) => { const now = depthNow(); if (now) setDepth(now.t + by); };

let written = 0;
function moved() {
  draw();
  clearTimeout(written);
  written = setTimeout(() => { writeAddress(); demand(); }, 300);
}

keysOf(tauHandle, (by) => setTau(tau + by / 100));
keysOf(fixedHandle, (by) => setFixed(fixed + by));
keysOf(stopHandle, stepDepth);

const within = (event) => {
  const { left, top } = plot.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
};
function dragged(node, move) {
  node.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || empty()) return;
    event.preventDefault();
    node.focus({ preventScroll: true });
    follow(node, event, move);
  });
}
dragged(tauHandle, (event) => setTau(1 - (within(event).y - area.top) / (area.bottom - area.top)));
dragged(fixedHandle, (event) => setFixed(area.depthAt(within(event).x)));
dragged(stopHandle, (event) => setDepth(area.depthAt(within(event).x)));

// On the lanes themselves: along scrubs the depth; up and down scrolls the page.
plot.addEventListener("pointerdown", (event) => {
  const begun = within(event);
  if (event.button !== 0 || event.target.closest("button, select") || !depthNow() || begun.x < area.left - 12 || begun.x > area.right + 12) return;
  const mouse = event.pointerType === "mouse";
  let on = mouse;
  const scrub = (e) => {
    const now = within(e);
    on ||= Math.abs(now.x - begun.x) > Math.max(6, Math.abs(now.y - begun.y));
    if (on) setDepth(area.depthAt(now.x));
  };
  if (mouse) { event.preventDefault(); scrub(event); }
  follow(plot, event, scrub);
});
