// One function a step: it gets a box and what the models made.
const widgets = {
  meet(box, { meet }) {
    const top = bars();
    let damage = 0;
    const shown = meet.map((one) => frame(one.pictures, one.title));
    const all = frames(...shown);
    const level = slider(words.severity, {
      max: 5, value: 3, show: (s) => (s ? String(s) : words.undamaged),
    }, (severity) => {
      const { title, top: said } = meet[damage];
      shown.forEach((one, i) => (one.node.hidden = i !== damage));
      const alt = fill(words.picture_alt, { title, severity, label: said[severity][0][0] });
      shown[damage].show(severity, alt);
      top.show(said[severity]);
    });
    const pick = choice(words.damage, meet.map((one) => one.title), damage, (i) => {
      damage = i;
      level.moved();
    });
    const pair = make("div", "ln-pair");
    pair.append(all, top.node);
    box.append(pick, pair, level.node);
    level.moved();
  },

  film(box, { film }) {
    const clean = frame(film.clean, words.clean);
    const damaged = frame(film.damaged, words.damaged);
    const says = sentence();
    const depth = slider(words.depth, { max: film.clean.count - 1, value: 0 }, (t) => {
      clean.show(t, fill(words.film_alt, { name: words.clean, t }));
      damaged.show(t, fill(words.film_alt, { name: words.damaged, t }), film.damage);
      says.textContent = fill(words.signal, { t, share: percent(film.signal[t]) });
    });
    box.append(frames(damaged, clean), depth.node, says);
    depth.moved();
  },

  game,

  stop(box, { film, judge }) {
    const there = frame(film.damaged, "");
    const says = sentence();
    const curves = [{ values: judge.damaged, name: "damaged" }];
    const plot = chart((_, c) => tau.set(Math.round(100 * c)));
    const tau = slider(words.tau, {
      max: 100, value: Math.round(100 * judge.tau), show: (v) => (v / 100).toFixed(2),
    }, (value) => {
      const [t, crossed] = judge.stops[value];
      plot.show({ curves, tau: value / 100, stop: { t, crossed } });
      there.show(t, fill(words.stop_alt, { t }), fill(words.state, { t }));
      const kind = t ? (crossed ? "stop" : "stop_never") : crossed ? "stop_zero" : "stop_left";
      says.textContent = fill(words[kind], {
        t, steps, tau: (value / 100).toFixed(2), max: judge.max_depth, horizon: judge.horizon,
      });
    });
    plot.node.classList.add("drag");
    const left = make("div");
    left.append(plot.node, tau.node, says);
    const both = make("div", "ln-beside");
    both.append(left, there.node);
    box.append(both);
    tau.moved();
  },

  reverse(box, { reverse }) {
    const { depth } = reverse;
    const state = frame(reverse.x, words.x_t);
    const estimate = frame(reverse.x0, words.x0);
    const says = sentence();
    const at = slider(words.step, { max: depth, value: 0 }, (step) => {
      const t = depth - step;
      state.show(step, `${words.x_t}, ${fill(words.state, { t })}`);
      estimate.show(step, `${words.x0}, ${fill(words.state, { t })}`);
      const kind = step === 0 ? "step_first" : t === 0 ? "step_last" : "step_now";
      says.textContent = fill(depth ? words[kind] : words.no_steps, { step, steps: depth, t });
    });
    box.append(frames(state, estimate), at.node, player(at, depth), says);
    at.moved();
  },

  guide(box, { guide }) {
    const input = frame(guide.pictures, words.input);
    const rebuilt = frame(guide.pictures, words.rebuilt);
    const before = frame(guide.coarse, words.coarse_input);
    const after = frame(guide.coarse, words.coarse_rebuilt);
    const says = sentence();
    const names = guide.scales.map((scale) =>
      scale ? fill(words.lambda_on, { scale }) : words.lambda_off);
    const show = (i) => {
      input.show(0, `${words.input}: ${guide.damage}`, `${words.input}: ${guide.damage}`);
      rebuilt.show(i + 1, `${words.rebuilt}, ${names[i]}`, `${words.rebuilt}, ${names[i]}`);
      before.show(0, words.coarse_input);
      after.show(i + 1, `${words.coarse_rebuilt}, ${names[i]}`);
      const [label, share] = guide.top[i + 1][0];
      says.textContent = fill(words.gap, { gap: guide.gaps[i], label, share: percent(share) });
    };
    const small = frames(before, after);
    small.classList.add("small");
    box.append(choice(words.lambda, names, 1, show), frames(input, rebuilt), small, says);
    show(1);
  },

  depth(box, { depth: { cases, fixed } }) {
    const says = sentence();
    const list = make("ul", "ln-cases");
    const rows = cases.map((one) => {
      const row = list.appendChild(make("li"));
      const before = frame(one.pictures, "");
      const after = frame(one.pictures, "");
      const told = make("div", "ln-told");
      row.append(told, before.node, after.node);
      return { one, before, after, told };
    });
    const show = (way) => {
      let right = 0;
      for (const { one, before, after, told } of rows) {
        const [label, share] = one.top[2 + way][0];
        const same = label === one.truth;
        right += same;
        const read = one.top[1][0][0];
        before.show(1, `${one.title}: ${read}`, `${words.damaged}: ${read}`);
        after.show(2 + way, `${one.title}, ${words.rebuilt}: ${label}`, "");
        const t = fill(way ? words.fixed_depth : words.own_depth, { t: way ? fixed : one.t_star });
        const left = !way && one.t_star === 0 ? `, ${words.own_left}` : "";
        const sign = make("span", same ? "ok" : "bad", same ? "✓" : "✕");
        sign.setAttribute("role", "img");
        sign.setAttribute("aria-label", same ? words.same : words.other);
        const said = after.node.querySelector("figcaption");
        said.replaceChildren(sign, ` ${label}, ${percent(share)}`);
        told.replaceChildren(make("h3", "", one.title), make("p", "", t + left));
      }
      says.textContent = fill(words.score, { n: right, total: rows.length });
    };
    const names = [words.own, fill(words.fixed, { fixed })];
    box.append(choice(words.method, names, 0, show), list, says);
    show(0);
  },
};

// Plays a slider from its start to its end.
function player(at, last) {
  const button = make("button", "ln-play", words.play);
  button.type = "button";
  button.disabled = !last;
  let timer = 0;
  const pause = () => {
    clearInterval(timer);
    timer = 0;
    button.textContent = words.play;
  };
  button.addEventListener("click", () => {
    if (timer) return pause();
    if (motion.matches) return at.set(at.get() < last ? at.get() + 1 : 0);
    if (at.get() === last) at.set(0);
    button.textContent = words.pause;
    timer = setInterval(() => {
      at.set(at.get() + 1);
      if (at.get() === last) pause();
    }, 450);
  });
  return button;
}
