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
  receive();
  put(find(".notice"), "");
  if (!focus) return;
  goTo(`#${slides[now].id}`);
  slides[now].querySelector("h2").focus({ preventScroll: true });
  if (element.getBoundingClientRect().top < 0) element.scrollIntoView();
}

function named() {
  turn(slides.findIndex((slide) => `#${slide.id}` === location.hash), false);
  put(find(".notice"), strayed());
}

links.forEach((link, i) => link.addEventListener("click", (event) => { event.preventDefault(); turn(i); }));
back.addEventListener("click", () => turn(now - 1));
next.addEventListener("click", () => turn(now + 1));

// Page keys are what a presenter's remote control sends.
const moves = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 };
document.addEventListener("keydown", (event) => {
  if (!element.isConnected || modified(event) || event.shiftKey) return;
  if (event.key.toLowerCase() === "f") return void (document.fullscreenElement ? document.exitFullscreen() : find(".ln-steps").requestFullscreen());
  if (!(event.key in moves)) return;
  if (event.key.startsWith("Arrow") && event.target.closest?.("input")) return;
  event.preventDefault();
  turn(now + moves[event.key]);
});
window.addEventListener("hashchange", named);

// Widgets: built once, when what they need was made; it is fetched from the step before on.
const needs = { stop: ["film", "judge"], level: ["film", "level"] };
const value = {};
const asked = {};
const lost = new Set();
const boxes = [...element.querySelectorAll(".ln-widget")];
const wanted = (box) => needs[box.dataset.widget] ?? [box.dataset.widget];
const isNear = (box) => Math.abs(slides.indexOf(box.closest(".ln-step")) - now) <= 1;

async function receive() {
  const { problem, ...parts } = props.value ?? {};
  const near = boxes.filter(isNear).flatMap(wanted).filter((part) => parts[part]);
  await Promise.all(near.map((part) =>
    asked[part] ??= json(parts[part]).then((made) => { value[part] = made; }, () => { lost.add(part); })));
  for (const box of boxes.filter((box) => !box.classList.contains("ready"))) {
    const wait = box.querySelector(".ln-wait");
    put(wait, problem ?? (wanted(box).some((part) => lost.has(part)) ? words.lost : words.waiting));
    if (!wanted(box).every((part) => part in value)) continue;
    box.classList.add("ready");
    wait.remove();
    widgets[box.dataset.widget](box, value);
  }
}
watch("value", receive);
named();
