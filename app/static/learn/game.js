// Which of two pictures was damaged? Twelve rounds draw your bars beside the network's curve, each
// of three depths: at one alone there are too few pairs.
const counted = (n) => `${Math.floor(n) || (n % 1 ? "" : 0)}${n % 1 ? "½" : ""}`;

const shuffled = (items) => items.map((item) => [Math.random(), item])
  .sort(([a], [b]) => a - b).map(([, item]) => item);

// Of a pair's two judgements: right, wrong, or half right where it says the same of both.
const networkScore = ([undamaged, damaged]) =>
  0.5 + ((damaged >= 0.5) - (undamaged >= 0.5)) / 2;

function game(box, { game: { depths, clean, rounds } }) {
  let order, at, level, side, answer, asked;
  const network = depths.map((t, i) =>
    [t, rounds.reduce((sum, round) => sum + networkScore(round.sure[i]), 0) / rounds.length]);

  box.innerHTML = `<div class="ln-game">
    <div class="ln-panel"><p class="ln-which"><b>${words.which}</b><span></span></p>
      <div class="ln-two"></div></div>
    <div class="ln-panel ln-scores"><div class="ln-big"></div><div class="ln-plot"></div>
      <div class="ln-turn-row"><span class="ln-keys">${words.game_keys}</span></div></div></div>`;
  const [where, pair, big, plot, turns] = [".ln-which span", ".ln-two", ".ln-big", ".ln-plot", ".ln-turn-row"]
    .map((name) => box.querySelector(name));
  const [networkSays, take] = [sentence(), sentence()];
  const next = press("", "ln-go", () => (at + 1 < order.length ? deal(at + 1) : start()));
  pair.after(networkSays);
  plot.after(take);
  turns.append(next);
  const sides = [0, 1].map((i) => {
    const [picture, badge, button] = [frame(), make("span", "ln-badge"), press("", "ln-pick", () => pick(i))];
    const card = pair.appendChild(make("div", "ln-side", picture, badge, button));
    return { card, picture, badge, button };
  });

  function start() {
    order = shuffled(rounds);
    asked = [0, 3, 6].map((at) => // right, on the same pairs
      ({ from: depths[at], to: depths.slice(0, at + 3).at(-1), you: 0, network: 0, of: 0 }));
    level = 0;
    deal(0);
    drawn();
  }

  function deal(to) {
    at = to;
    answer = null;
    side = Math.random() < 0.5 ? 0 : 1;
    show();
  }

  function show() {
    const [t, round, done, right] = [depths[level], order[at], answer !== null, answer === side];
    where.textContent = fill(words.round, { n: at + 1, of: order.length, t });
    sides.forEach(({ card, picture, badge, button }, i) => {
      const film = i === side ? round.film : clean[round.picture];
      draw(picture, film, level, fill(words.answer_alt, { n: i + 1, t }));
      button.replaceChildren(make("kbd", "", String(i + 1)),
        fill(done && answer === i ? words.picked : words.pick, { n: i + 1 }));
      button.disabled = done;
      badge.hidden = !done || i !== side;
      badge.className = `ln-badge ${right ? "ok" : "bad"}`;
      badge.textContent = `${right ? "✓" : "✕"} ${fill(right ? words.right : words.wrong, round)}`;
      card.classList.toggle("ln-hit", done && i === side);
    });
    // How sure the network is that picture 1 and picture 2 are damaged.
    const sure = round.sure[level];
    const [first, second] = (side ? sure : sure.toReversed()).map((share) =>
      fill(share >= 0.5 ? words.says_damaged : words.says_undamaged, { share: percent(share) }));
    const end = networkScore(sure) === 0.5 ? words.says_same : "";
    networkSays.textContent = done ? fill(words.network_says, { first, second, end }) : "";
    next.textContent = at + 1 < order.length ? words.next_round : words.again;
    next.disabled = !done;
  }

  function pick(i) {
    if (answer !== null) return;
    answer = i;
    const right = i === side;
    const here = asked[Math.floor(level / 3)];
    here.you += right;
    here.network += networkScore(order[at].sure[level]);
    here.of += 1;
    show();
    drawn();
    level = clamp(level + (right ? 1 : -1), 0, depths.length - 1);
  }

  function drawn() {
    const of = at + (answer !== null);
    big.classList.toggle("ln-none", !of);
    big.replaceChildren(...["you", "network"].map((kind) => {
      const n = counted(asked.reduce((sum, one) => sum + one[kind], 0));
      return make("div", kind, make("span", "", words[kind]), make("b", "", fill(words.of_right, { n, of })));
    }));
    const mine = asked.filter((one) => one.of);
    const last = depths.at(-1);
    const bars = mine.map(({ from, to, you, of: n }) => ["you", [[from, 0], [from, you / n], [to, you / n], [to, 0]]]);
    const done = of === order.length; // before, the line would give answers away
    plot.innerHTML = chart({
      last, tick: 6, unit: 100,
      lines: [...bars, ["chance", [[0, 0.5], [last, 0.5]]], ...(done ? [["network", network]] : [])],
      notes: [[last, 1, words.found_axis], [24, 0.5, words.guessing, "middle"],
        ...mine.map(({ from, to, you, of: n }) => [(from + to) / 2, 0.14, fill(words.found, { you, of: n }), "middle"])],
    });
    take.textContent = done ? `${verdict()} ${words.line}` : words.take;
  }

  function verdict() {
    const lost = asked.find(({ you, of }) => of && you <= of / 2);
    return lost ? fill(words.down_to_guessing, { ...lost, network: counted(lost.network) }) : words.never_guessing;
  }

  document.addEventListener("keydown", (event) => {
    if (!box.isConnected || box.closest("[hidden]") || modified(event)) return;
    if (event.key === "1" || event.key === "2") pick(Number(event.key) - 1);
    const goesOn = at + 1 < order.length; // the result stays until Start again is pressed
    if (event.key === "Enter" && goesOn && event.target.tagName !== "BUTTON") next.click();
  });
  start();
}
