// Which of two pictures was damaged? Every round both are under more noise.
import { all, find, make, percent, put } from "./base.js";

export function startGame({ rounds, stop }, tau) {
  const sides = all(".answer");
  const next = find("#game-next");
  let round, side, answers;

  const isDone = () => answers.length === rounds.length;
  const isAnswered = () => answers.length > round;
  /** Whether it is surer of the damaged one, as far as is shown. */
  const isHit = ({ sure }) => Math.round(100 * sure[1]) > Math.round(100 * sure[0]);

  function start() {
    answers = [];
    deal(0);
  }

  function deal(to) {
    round = to;
    side = Math.random() < 0.5 ? 0 : 1;
    const { depth, images } = rounds[round];
    sides.forEach((button, index) => {
      const image = find("img", button);
      image.src = images[index === side ? 1 : 0];
      image.alt = `Picture ${index + 1}, ${depth} steps of noise`;
    });
    update();
  }

  function answer(index) {
    if (isAnswered()) return;
    answers.push(index === side);
    update();
    next.focus({ preventScroll: true }); // so that Enter goes on
  }

  function update() {
    const { depth, sure } = rounds[round];
    sides.forEach((button, index) => {
      button.classList.toggle("is-damaged", isAnswered() && index === side);
      button.setAttribute("aria-disabled", String(isAnswered()));
      const answer = index === side ? "Damaged" : "Undamaged";
      put(find("span", button), isAnswered() ? answer : `Picture ${index + 1}`);
    });
    const count = answers.length;
    const hits = rounds.slice(0, count).filter(isHit).length;
    put(find("#game-you"), `${answers.filter(Boolean).length} of ${count}`);
    put(find("#game-network"), `${hits} of ${count}`);
    find("#rounds").replaceChildren(
      ...rounds.slice(0, round + 1).map((one, index) => {
        const isHere = index < count;
        const [other, damaged] = one.sure;
        const [kind, words] = answers[index] ? ["ok", "✓ right"] : ["bad", "✗ wrong"];
        const mark = make("span", { class: kind }, words);
        return make(
          "tr",
          { "aria-current": index === round ? "true" : null },
          make("th", { scope: "row" }, `${one.depth}`),
          make("td", {}, isHere ? mark : "…"),
          make("td", {}, isHere ? `${percent(damaged)} · ${percent(other)}` : "…"),
        );
      }),
    );
    const verdict = answers[round] ? "Right." : "It was the other one.";
    const sentence = isAnswered()
      ? `${verdict} The detector is ${percent(sure[1])} sure that the damaged one is damaged, ` +
        `and ${percent(sure[0])} that the other is.`
      : `Round ${round + 1} of ${rounds.length}: ${depth} steps of noise on both. ` +
        "Which was damaged?";
    put(find("#game-words"), isDone() ? tellEnd() : sentence);
    put(next, isDone() ? "Play again" : "Add noise");
    next.disabled = !isAnswered();
  }

  function tellEnd() {
    const miss = rounds.find((_, index) => !answers[index]);
    const yours = miss
      ? `Your first miss came at ${miss.depth} steps of noise.`
      : "You found every one.";
    return (
      `${yours} Noise hides the damage sooner than the panda: with ${stop} steps the detector is ` +
      `for the first time less than ${percent(tau)} sure of it. ` +
      "It scores where its percentage is higher for the damaged one."
    );
  }

  sides.forEach((button, index) => button.addEventListener("click", () => answer(index)));
  next.addEventListener("click", () => (isDone() ? start() : deal(round + 1)));
  start();
}
