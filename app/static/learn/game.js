// Which of two pictures was damaged? Twelve rounds draw your curve over the network's.
// Found at most so often is guessing: of twelve pairs one may still be told.
const CHANCE = 0.55;

function shuffled(count) {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

function game(box, { game: { depths, clean, rounds, network } }) {
  let order, at, level, side, answer, asked, score;

  const question = make("p", "ln-which");
  const sides = [0, 1].map((i) => {
    const card = make("div", "ln-side");
    const badge = make("span", "ln-badge");
    const button = make("button", "ln-pick");
    button.type = "button";
    button.addEventListener("click", () => pick(i));
    return { card, badge, button };
  });
  const network_says = sentence();
  const next = make("button", "ln-next-pair");
  next.type = "button";
  next.addEventListener("click", () => (at + 1 < order.length ? deal(at + 1) : start()));
  const depth = slider(words.depth, {
    max: depths.length - 1, value: 0, show: (i) => String(depths[i]),
  }, (value) => {
    if (value === level || answer !== null) return;
    level = value;
    show();
  });
  const pair = make("div", "ln-two");
  pair.append(...sides.map((one) => one.card));
  const play = make("div", "ln-panel");
  const turn = make("div", "ln-turn-row");
  turn.append(make("span", "ln-keys", words.game_keys), next);
  play.append(question, pair, network_says, depth.node);
  const scores = make("div", "ln-panel ln-scores");
  const big = make("div", "ln-big");
  const plot = make("div", "ln-found");
  const take = sentence();
  scores.append(big, plot, take, turn);
  const whole = make("div", "ln-game");
  whole.append(play, scores);
  box.append(whole);

  function start() {
    order = shuffled(rounds.length);
    asked = depths.map(() => [0, 0]); // right, of
    score = { you: 0, network: 0 };
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

  const round = () => rounds[order[at]];
  // To the network: how sure it is that picture 1 and picture 2 are damaged.
  const sure = () => {
    const [undamaged, damaged] = round().sure[level];
    return side ? [undamaged, damaged] : [damaged, undamaged];
  };

  function show() {
    const t = depths[level];
    const done = answer !== null;
    question.replaceChildren(make("b", "", words.which), make("span", "",
      fill(words.round, { n: at + 1, of: order.length, t })));
    sides.forEach(({ card, badge, button }, i) => {
      const film = i === side ? round().film : clean[round().picture];
      const picture = frame(film, "");
      picture.show(level, fill(words.answer_alt, { n: i + 1, t }));
      button.replaceChildren(make("kbd", "", String(i + 1)),
        fill(done && answer === i ? words.picked : words.pick, { n: i + 1 }));
      button.disabled = done;
      badge.hidden = !done || i !== side;
      const right = answer === side;
      badge.className = `ln-badge ${right ? "ok" : "bad"}`;
      badge.textContent = `${right ? "✓" : "✕"} ${fill(right ? words.right : words.wrong, round())}`;
      card.classList.toggle("ln-hit", done && i === side);
      card.replaceChildren(picture.node, badge, button);
    });
    depth.set(level);
    depth.node.querySelector("input").disabled = done;
    const said = (share) => fill(share >= 0.5 ? words.says_damaged : words.says_undamaged,
      { share: percent(share) });
    const [first, second] = sure();
    network_says.textContent = done ? fill(words.network_says, {
      first: said(first), second: said(second), end: networkScore() === 0.5 ? words.says_same : "",
    }) : "";
    next.textContent = at + 1 < order.length ? words.next_round : words.again;
    next.disabled = !done;
  }

  // Right, wrong, or half right where it says the same of both.
  function networkScore() {
    const [undamaged, damaged] = round().sure[level];
    return 0.5 + ((damaged >= 0.5) - (undamaged >= 0.5)) / 2;
  }

  function pick(i) {
    if (answer !== null) return;
    answer = i;
    const right = i === side;
    asked[level][0] += right;
    asked[level][1] += 1;
    score.you += right;
    score.network += networkScore();
    show();
    drawn();
    level = Math.min(Math.max(level + (right ? 1 : -1), 0), depths.length - 1);
  }

  function drawn() {
    const of = at + (answer !== null);
    const cell = (name, n, kind) => {
      const one = make("div", kind);
      const whole = Math.floor(n) || (n % 1 ? "" : 0);
      const told = fill(words.of_right, { n: `${whole}${n % 1 ? words.half : ""}`, of });
      one.append(make("span", "", name), make("b", "", of ? told : "–"));
      return one;
    };
    big.replaceChildren(cell(words.you, score.you, "you"),
      cell(words.network, score.network, "network"));
    const mine = depths.flatMap((t, i) => (asked[i][1] ? [[t, asked[i][0] / asked[i][1]]] : []));
    plot.innerHTML = foundChart(depths, network, mine);
    take.textContent = of === order.length ? verdict(mine) : words.take;
  }

  function verdict(mine) {
    const end = (points) => points.find(([, share]) => share <= CHANCE)?.[0];
    const [you, theirs] = [end(mine), end(network.map((share, i) => [depths[i], share]))];
    const deepest = Math.max(...mine.map(([t]) => t));
    const own = fill(you === undefined ? words.chance_you_never : words.chance_you,
      { t: you ?? deepest });
    const kind = theirs === undefined ? "chance_network_never" : "chance_network";
    return `${own} ${fill(words[kind], { t: theirs })}`;
  }

  document.addEventListener("keydown", (event) => {
    if (!box.isConnected || box.closest("[hidden]")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "1" || event.key === "2") pick(Number(event.key) - 1);
    else if (event.key === "Enter" && answer !== null && event.target.tagName !== "BUTTON") {
      next.click();
    }
  });
  start();
}

// Shares in percent against depth: the network's line, your points.
function foundChart(depths, network, mine) {
  const [width, height, left, right, top, bottom] = [436, 300, 40, 16, 30, 46];
  const last = depths.at(-1);
  const x = (t) => left + (t / last) * (width - left - right);
  const y = (share) => top + (1 - share) * (height - top - bottom);
  const line = (kind, points) => `<polyline class="${kind}" points="${
    points.map(([t, share]) => `${x(t).toFixed(1)},${y(share).toFixed(1)}`).join(" ")}"/>`;
  const text = (at, down, what, anchor = "end") =>
    `<text x="${at}" y="${down}" text-anchor="${anchor}">${what}</text>`;
  const rows = [0, 0.5, 1].map((share) =>
    line(share === 0.5 ? "chance" : "grid", [[0, share], [last, share]]) +
    text(left - 8, y(share) + 5, 100 * share)).join("");
  const ticks = [0, 6, 12, 18, 24, 30, 36].filter((t) => t <= last)
    .map((t) => text(x(t), height - bottom + 20, t, "middle")).join("");
  const dots = mine.map(([t, share]) =>
    `<circle class="you" cx="${x(t)}" cy="${y(share)}" r="6"/>`).join("");
  return `<svg viewBox="0 0 ${width} ${height}" aria-hidden="true">${rows}${ticks}` +
    text(0, 16, words.found_axis, "start") + text(width - right, height - 4, words.depth_axis) +
    text(x(last), y(0.5) + 20, words.guessing) +
    line("network", network.map((share, i) => [depths[i], share])) + line("you", mine) + dots +
    "</svg>";
}
