// A click enlarges a picture; held down, it shows the damaged one in its place.
const zoom = find(".zoom");
const HOLD = 250; // ms after which a press is a hold
let zoomed = null;
let held = null; // {name, timer, on}

function drawZoom(now) {
  if (!zoom.open) return;
  const name = held?.on ? "damaged" : zoomed;
  const told = pictureNow(name, now);
  paint(zoom.querySelector("canvas"), told.frame);
  put(zoom.querySelector("h2"), told.title);
  zoom.querySelector(".help").hidden = zoomed === "damaged";
  const label = told.probs && !covered ? `${labelOf(told.probs)} ${percentOf(Math.max(...told.probs))}` : "";
  put(zoom.querySelector(".label b"), label);
  fillIn(zoom.querySelector(".label span"), told.probs && !covered ? signed(verdict(told.probs, told.of)) : "");
}

function enlarge(name) {
  zoomed = name;
  if (METHODS.includes(name)) chosen = name;
  if (!zoom.open) zoom.showModal();
  draw();
}

function release() {
  if (!held) return;
  clearTimeout(held.timer);
  const was = held;
  held = null;
  if (was.on) draw();
  return was.on;
}

element.addEventListener("pointerdown", (event) => {
  const name = event.target.closest(".pic")?.dataset.name ?? (event.target.closest(".zoom canvas") && zoomed);
  if (!name || event.button !== 0 || !event.target.closest(".im, .zoom canvas")) return;
  held = { name, on: false, timer: setTimeout(() => { held.on = true; draw(); }, HOLD) };
});
element.addEventListener("pointerup", () => { if (release()) suppress = true; });
for (const kind of ["pointercancel", "pointerleave"]) element.addEventListener(kind, release);
let suppress = false; // the click that ends a hold
element.addEventListener("contextmenu", (event) => event.target.closest(".im, .zoom canvas") && event.preventDefault());
element.addEventListener("click", (event) => {
  const node = event.target.closest(".pic");
  const ended = suppress;
  suppress = false;
  if (event.target === zoom || event.target.closest(".zoom .close")) return zoom.close();
  if (!node || ended) return;
  if (event.target.closest("button.choose")) return choose(node.dataset.name);
  if (event.target.closest(".im")) enlarge(node.dataset.name);
});
zoom.addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const names = inRow();
  if (by) enlarge(names[(names.indexOf(zoomed) + by + names.length) % names.length]);
  if (event.key === " " && !held) { held = { name: zoomed, on: true }; draw(); }
  if (by || event.key === " ") event.preventDefault();
  event.stopPropagation(); // Escape, too, which closes the dialog and nothing else
});
zoom.addEventListener("keyup", (event) => event.key === " " && release());
