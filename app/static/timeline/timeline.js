// All parts together: what is drawn when a value comes, when something moves, when sizes change.
function draw() {
  const b = (area = layout());
  if (!b.width) return;
  const stop = stopNow();
  plot.style.height = `${b.height}px`;
  svg.setAttribute("width", b.width);
  svg.setAttribute("height", b.height);
  svg.innerHTML = `${HATCH}${curveSvg(b, stop)}${filmSvg(b, stop)}`;
  film(b, stop);
  tauHandle(b, stop);
  lanes(b, stop);
  playhead(b);
  panel(stop);
  plot.dataset.phase = value.phase;
  plot.dataset.key = value.key;
  plot.dataset.tStar = stop ? stop.t : "";
  put(find(".tl-sentence"), sentence(stop));
  status(stop);
  markStale(stop);
}

function tauHandle(b, stop) {
  line.hidden = handle.hidden = Boolean(value.bound);
  for (const node of [line, handle]) node.style.top = `${b.y(tau)}px`;
  put(handle, `τ ${tau.toFixed(2)}`);
  handle.setAttribute("aria-valuenow", tau.toFixed(2));
  const where = stop ? `, t* = ${stop.t}` : "";
  handle.setAttribute("aria-valuetext", `${tau.toFixed(2)}${where}`);
}

let asked = 0;
function soon() {
  asked ||= requestAnimationFrame(() => {
    asked = 0;
    draw();
  });
}

function grow() {
  frame = 0;
  const known = value.curves[0]?.length ?? 0;
  shown = motion.matches || value.recorded ? known : Math.min(shown + 3, known);
  refresh();
  if (shown < known) frame = requestAnimationFrame(grow);
}

function refresh() {
  summarise();
  follow();
  draw();
}

// Another run: nothing of the last one stays but tau, which the visitor may be holding.
function begin(before) {
  pause();
  pictures.clear();
  wipe();
  shown = 0;
  following = true;
  at = { part: "forward", depth: 0, lane: "dga-guided" };
  if (value.recorded || value.linked || !before) tau = value.tau;
  ddaDepth = null;
  chosen(value.key);
}

function chosen(name) {
  for (const button of document.querySelectorAll("#presets button")) {
    button.setAttribute("aria-pressed", button.dataset.name === name);
  }
}

function receive() {
  const before = value.key;
  value = props.value;
  waiting = false;
  if (value.key !== before) begin(before);
  const known = value.curves[0]?.length ?? 0;
  if (value.recorded) shown = known;
  if (shown < known && !frame) frame = requestAnimationFrame(grow);
  refresh();
}

window.dga = {
  tau: () => tau,
  chosen,
  depth: (next) => { ddaDepth = next; draw(); },
  idle: () => { waiting = false; draw(); },
  waiting: () => {
    waiting = true;
    draw();
    const card = document.getElementById("result");
    const top = card ? card.getBoundingClientRect().top : 0;
    if (top > window.innerHeight - 240) {
      card.scrollIntoView({ behavior: motion.matches ? "auto" : "smooth", block: "start" });
    }
  },
};
motion.addEventListener("change", () => { pause(); draw(); });
new ResizeObserver(soon).observe(plot);
watch("value", receive);
value = { ...value, key: null };
// An address that names a run: what it shows is on its way, the page's first run is not it.
if (new URLSearchParams(location.search).has("corruption")) {
  props.value = { ...props.value, ...props.blank };
} else receive();
