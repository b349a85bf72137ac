// Six steps, one a screen; the address says which, so that back and forward work.
import { find, all, put, clamp, getJson } from "./base.js";
import { startGame } from "./learn-game.js";
import { showTrouble, showOurs, showNoise, showComparison, showFailures } from "./learn-steps.js";

const steps = all(".step");
const links = all(".steps a");
let now = 0;

function say(sentence) {
  find("#problem").hidden = false;
  put(find("#problem"), sentence);
}

function readAddress() {
  const number = Number(/^#step-(\d+)$/.exec(location.hash)?.[1] ?? 1);
  return clamp(number, 1, steps.length) - 1;
}

function showStep(to, isMoved) {
  now = to;
  steps.forEach((step, index) => {
    step.hidden = index !== now;
  });
  links.forEach((link, index) => {
    if (index === now) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  });
  for (const [link, by] of Object.entries({ "#back": -1, "#next": 1 })) {
    const number = now + 1 + by;
    const isThere = number >= 1 && number <= steps.length;
    find(link).style.visibility = isThere ? "" : "hidden";
    if (isThere) find(link).href = `learn#step-${number}`;
  }
  find(".turn").classList.add("is-ready");
  if (!isMoved) return;
  scrollTo(0, 0);
  find("h2", steps[now]).focus({ preventScroll: true });
}

// Page keys are what a presenter's remote control sends.
const MOVES = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 };
const move = (event) => {
  const isShortcut = event.shiftKey || event.ctrlKey || event.metaKey || event.altKey;
  const isControls = event.key.startsWith("Arrow") && event.target.closest("input");
  if (!(event.key in MOVES) || isShortcut || isControls) return;
  event.preventDefault();
  event.stopPropagation();
  const to = clamp(now + MOVES[event.key], 0, steps.length - 1);
  if (to !== now) location.hash = `#step-${to + 1}`;
};
addEventListener("keydown", move, { capture: true });
addEventListener("hashchange", () => showStep(readAddress(), true));
showStep(readAddress(), location.hash.startsWith("#step-"));

const load = (name) => getJson(`recorded/learn/${name}.json`);

try {
  showTrouble(await load("trouble")); // first, for it is what is seen first
  const rest = ["game", "noise", "ours", "compare", "fails"];
  const [game, noise, ours, compare, fails] = await Promise.all(rest.map(load));
  startGame(game, noise.tau);
  showNoise(noise);
  showOurs(ours);
  showComparison(compare);
  showFailures(fails);
} catch (error) {
  say(`The pictures of these steps could not be loaded. ${error.message}`);
}
