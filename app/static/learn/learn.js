// Steps: one at a time, by link, button or key.
const slides = [...element.querySelectorAll(".ln-step")];
const links = [...element.querySelectorAll(".ln-nav a")];
const [back, next] = [".ln-back", ".ln-next"].map(find);
let now = 0;

function turn(to, focus = true) {
  now = clamp(to, 0, slides.length - 1);
  slides.forEach((slide, i) => (slide.hidden = i !== now));
  links.forEach((link, i) => (link.ariaCurrent = i === now ? "step" : null));
  back.disabled = now === 0;
  next.disabled = now === slides.length - 1;
  links[now].scrollIntoView({ block: "nearest", inline: "center" });
  if (!focus) return;
  goTo(`#${slides[now].id}`);
  slides[now].querySelector("h2").focus({ preventScroll: true });
  if (element.getBoundingClientRect().top < 0) element.scrollIntoView();
}

const named = () => turn(slides.findIndex((slide) => `#${slide.id}` === location.hash), false);

links.forEach((link, i) => link.addEventListener("click", (event) => { event.preventDefault(); turn(i); }));
back.addEventListener("click", () => turn(now - 1));
next.addEventListener("click", () => turn(now + 1));

// Page keys are what a presenter's remote control sends.
const moves = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 };
document.addEventListener("keydown", (event) => {
  if (!element.isConnected || !(event.key in moves)) return;
  if (modified(event) || event.shiftKey) return;
  if (event.target.closest?.("input, select, textarea, [role=slider]")) return;
  event.preventDefault();
  turn(now + moves[event.key]);
});
window.addEventListener("hashchange", named);

// Widgets: built once, when what they need was made.
const needs = { stop: ["film", "judge"], level: ["film", "level"] };
const value = {};
const asked = {};
const lost = new Set();
async function receive() {
  const { problem, ...parts } = props.value ?? {};
  await Promise.all(Object.entries(parts).map(([part, address]) =>
    asked[part] ??= json(address).then((made) => { value[part] = made; }, () => { lost.add(part); })));
  for (const box of element.querySelectorAll(".ln-widget:not(.ready)")) {
    const { widget } = box.dataset;
    const wait = box.querySelector(".ln-wait");
    const wanted = needs[widget] ?? [widget];
    put(wait, problem ?? (wanted.some((part) => lost.has(part)) ? words.lost : words.waiting));
    if (!wanted.every((part) => part in value)) continue;
    box.classList.add("ready");
    wait.remove();
    widgets[widget](box, value);
  }
}
watch("value", receive);
named();
receive();
