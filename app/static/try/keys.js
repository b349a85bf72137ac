// Present, and the keys that hold on the whole page.
function present(on) {
  presenting = on && !empty() && !phone.matches;
  element.closest("#try").classList.toggle("presenting", presenting);
  document.documentElement.classList.toggle("is-presenting", presenting);
  for (const id of ["head", "bar", "foot", "notice"]) byId(id)?.toggleAttribute("inert", presenting);
  if (presenting) document.documentElement.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
  if (!presenting) covered = false;
  measured = 0;
  draw();
  if (presenting) find(".say h1").focus({ preventScroll: true });
}

function nextExample() {
  const all = [...document.querySelectorAll("#examples [data-name]")];
  const index = all.findIndex((button) => button.getAttribute("aria-pressed") === "true");
  press(all[(index + 1) % all.length]);
}
function nextMethod() {
  choose(shown()[(shown().indexOf(chosen) + 1) % 3]);
}
function severity({ key }) {
  const asItCame = document.querySelector("#corruption label:last-child.selected");
  if (!asItCame) press(document.querySelectorAll("#severity input")[Number(key) - 1]);
}

const KEYS = {
  r: () => press(byId("adapt")), f: () => present(!presenting), n: nextExample, m: nextMethod, g: guide,
  " ": play, 0: setOwn,
  ArrowLeft: (event) => stepDepth(event.shiftKey ? -5 : -1), ArrowRight: (event) => stepDepth(event.shiftKey ? 5 : 1),
  1: severity, 2: severity, 3: severity, 4: severity, 5: severity,
};
const PRESENTING = {
  c: () => { covered = !covered; draw(); },
  d: () => document.body.classList.toggle("dark"),
};
const FIELDS = "input:not([type=radio]), textarea, select, dialog[open]";

document.addEventListener("keydown", (event) => {
  if (modified(event) || event.defaultPrevented) return;
  const sheet = byId("sheet")?.classList.contains("open");
  if (event.key === "Escape") {
    if (sheet) window.dgaLine.open(false);
    else if (unfold()) return;
    else if (presenting) present(false);
    else if (busy() || pending || !byId("cancel").disabled) press(byId("cancel"));
    else if (hand !== null || playing) setOwn();
    return;
  }
  if (sheet || event.target.closest?.(FIELDS)) return;
  const act = (presenting && PRESENTING[event.key.toLowerCase()]) || KEYS[event.key] || KEYS[event.key.toLowerCase()];
  const native = event.target.closest?.("button, a, input, summary");
  if (!act || (native && (event.key === " " || (event.key.startsWith("Arrow") && native.matches("input"))))) return;
  event.preventDefault();
  act(event);
});
document.addEventListener("fullscreenchange", () => { if (!document.fullscreenElement && presenting) present(false); });
phone.addEventListener("change", () => { if (presenting) present(false); });
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-present]")) present(true);
  if (event.target.closest(".leave")) present(false);
});
