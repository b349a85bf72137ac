// The line between damaged and repaired: by dragging anywhere on the picture, by arrows, by taps.
// Beside it the button that shows the original while it is held.
import { clamp, drag, find } from "./base.js";

const picture = find("#picture");
const divider = find("#divider");
const ARROWS = { ArrowRight: 5, ArrowUp: 5, ArrowLeft: -5, ArrowDown: -5 };
const KEYS = { ...ARROWS, PageUp: 25, PageDown: -25, Home: -100, End: 100 }; // in hundredths
let isMoved = false; // by the visitor
function moveDivider(share) {
  isMoved = true;
  const at = clamp(Math.round(100 * share), 0, 100);
  picture.style.setProperty("--at", `${at}%`);
  hideTags(at);
  divider.setAttribute("aria-valuenow", at);
  divider.setAttribute("aria-valuetext", `${at} % damaged`);
}
/** A tag that would stand on the divider, or on the other side of it, is not seen. */
function hideTags(at) {
  const line = (picture.clientWidth * at) / 100;
  const ends = ({ offsetLeft, offsetWidth }) => [offsetLeft - 6, offsetLeft + offsetWidth + 6];
  const isCrossed = {
    "#tag-before": ([, end]) => line < end,
    "#tag-after": ([begin]) => line > begin,
    "#size": ([begin, end]) => line > begin && line < end,
  };
  for (const [name, isHidden] of Object.entries(isCrossed))
    find(name).classList.toggle("is-crossed", isHidden(ends(find(name))));
}
/** The repair comes over the damage, once. */
export function revealRepair() {
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches)
    picture.animate([{ "--at": "100%", offset: 0 }], { duration: 900, easing: "ease-in-out" });
}
export function placeDivider() {
  if (isMoved) return hideTags(Number(divider.getAttribute("aria-valuenow")));
  const { offsetLeft, offsetWidth } = find("#tag-before");
  const roomForName = (offsetLeft + offsetWidth + 10) / picture.clientWidth;
  moveDivider(clamp(roomForName, 0.2, 0.45)); // most of the repair is seen
  isMoved = false;
}
addEventListener("resize", placeDivider);
/** Of another photo both sides are to be seen. */
export function resetDivider() {
  isMoved = false;
  placeDivider();
}
document.fonts.ready.then(placeDivider);
const shareOf = ({ clientX }) => {
  const { left, width } = picture.getBoundingClientRect();
  return (clientX - left) / width;
};
picture.addEventListener("pointerdown", (event) => {
  if (event.target.closest("button, #strokes") || event.button) return;
  for (const animation of picture.getAnimations()) animation.cancel();
  const move = (moved) => moveDivider(shareOf(moved));
  const isTouch = event.pointerType === "touch" && !event.target.closest("#divider");
  if (!isTouch) move(event); // a finger may be about to scroll, which cancels the press
  drag(picture, event, move, (isKept) => isTouch && isKept && move(event));
});
divider.addEventListener("keydown", (event) => {
  const by = KEYS[event.key];
  if (!by) return;
  event.preventDefault();
  moveDivider((Number(divider.getAttribute("aria-valuenow")) + by) / 100);
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
