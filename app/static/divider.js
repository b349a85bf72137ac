// The line between damaged and repaired: by dragging anywhere on the picture, by arrows, by taps.
// Beside it the button that shows the original while it is held.
import { clamp, drag, find } from "./base.js";

const picture = find("#picture");
const divider = find("#divider");
const ARROWS = { ArrowRight: 5, ArrowUp: 5, ArrowLeft: -5, ArrowDown: -5 };
const KEYS = { ...ARROWS, PageUp: 25, PageDown: -25, Home: -100, End: 100 }; // in hundredths
const REST = 0.45; // most of the repair is seen, and a panda's whole face on one side
let at; // per cent
function moveDivider(share) {
  at = clamp(Math.round(100 * share), 0, 100);
  picture.style.setProperty("--at", at);
  divider.setAttribute("aria-valuenow", at);
  divider.setAttribute("aria-valuetext", `${at} % damaged`);
}
/** The repair comes over all of the damage, once; then the divider rests where it stood.
 * `isFirst`: slowly, for who has not seen the page yet. */
export function revealRepair(isFirst = false) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const places = isFirst ? [100, 100, 0, 0] : [100, 0];
  const frames = [...places.map((place) => ({ "--at": place, easing: "ease-in-out" })), {}];
  picture.animate(frames, { duration: isFirst ? 4800 : 2000 });
}
for (const kind of ["pointerdown", "keydown"])
  addEventListener(kind, () => picture.getAnimations().forEach((one) => one.cancel()));
/** Of another photo both sides are to be seen. */
export const resetDivider = () => moveDivider(REST);
resetDivider();
const shareOf = ({ clientX }) => {
  const { left, width } = picture.getBoundingClientRect();
  return (clientX - left) / width;
};
picture.addEventListener("pointerdown", (event) => {
  if (event.target.closest("a, button, #strokes") || event.button) return;
  const move = (moved) => moveDivider(shareOf(moved));
  const isTouch = event.pointerType === "touch" && !event.target.closest("#divider");
  if (!isTouch) move(event); // a finger may be about to scroll, which cancels the press
  drag(picture, event, move, (isKept) => isTouch && isKept && move(event));
});
divider.addEventListener("keydown", (event) => {
  const by = KEYS[event.key];
  if (!by) return;
  event.preventDefault();
  moveDivider((at + by) / 100);
});
const hold = find("#hold");
function keepHeld(held) {
  picture.classList.toggle("is-held", held);
  hold.setAttribute("aria-pressed", held);
}
hold.addEventListener("pointerdown", (event) => {
  hold.setPointerCapture(event.pointerId);
  keepHeld(true);
});
for (const kind of ["pointerup", "pointercancel", "blur", "keyup"])
  hold.addEventListener(kind, () => keepHeld(false));
hold.addEventListener("keydown", (event) => {
  if (event.key === " " || event.key === "Enter") keepHeld(true);
});
