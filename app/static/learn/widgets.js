// One function a step: it gets a box and what the models made.
const widgets = {
  meet(box, { meet }) {
    let [damage, severity] = [0, 3];
    const picture = frame();
    const top = make("ul", "ln-bars");
    const show = (i, s) => {
      [damage, severity] = [i, s];
      const { title, pictures, top: said } = meet[damage];
      const alt = fill(words.picture_alt, { title, severity, label: said[severity][0][0] });
      draw(picture, pictures, severity, alt, title);
      top.replaceChildren(...said[severity].map(([label, share]) => make("li", "",
        make("span", "", label), make("span", "", percent(share)), make("i", { style: `width: ${100 * share}%` }))));
    };
    const pick = choice(words.damage, meet.map((one) => one.title), damage, (i) => show(i, severity));
    const level = slider(words.severity, {
      max: 5, value: severity, show: (s) => (s ? String(s) : words.undamaged),
    }, (s) => show(damage, s));
    box.append(make("div", "ln-pair", picture, make("div", "", pick, level, top)));
  },

  film(box, { film }) {
    const [clean, damaged, says] = [frame(), frame(), sentence()];
    const depth = slider(words.depth, { max: film.clean.count - 1, value: 0 }, (t) => {
      const alt = (name) => fill(words.film_alt, { name, t });
      draw(damaged, film.damaged, t, alt(words.damaged), film.damage);
      draw(clean, film.clean, t, alt(words.clean), words.clean);
      says.textContent = fill(words.signal, { t, share: percent(film.signal[t]) });
    });
    box.append(make("div", "ln-frames", damaged, clean), depth, says);
  },

  game,
  toy,

  stop(box, { film, judge }) {
    const [there, says, plot] = [frame(), sentence(), make("div", "ln-plot")];
    const curve = judge.damaged.map((share, t) => [t, share]);
    const last = curve.length - 1;
    const tau = slider(words.tau, {
      max: 100, value: Math.round(100 * judge.tau), show: (v) => (v / 100).toFixed(2),
    }, (value) => {
      const [t, crossed] = judge.stops[value];
      const at = value / 100;
      plot.innerHTML = chart({
        last, tick: 10, unit: 1,
        lines: [["network", curve], ["tau", [[0, at], [last, at]]],
          [crossed ? "stop" : "stop never", [[t, 1], [t, 0]]]],
        notes: [[last, 1, words.high], [last, 0.12, words.low],
          [t, 1, `t* = ${t}`, t > last / 2 ? "end" : "start"]],
      });
      const name = fill(words.stop_alt, { t });
      draw(there, film.damaged, t, name, name);
      const kind = t ? (crossed ? "stop" : "stop_never") : crossed ? "stop_zero" : "stop_left";
      says.textContent = fill(words[kind], {
        t, steps, tau: at.toFixed(2), max: judge.max_depth, horizon: judge.horizon,
      });
    });
    const known = { max: judge.max_depth, horizon: judge.horizon };
    const unless = judge.horizon ? fill(words.rule_unless, known) : "";
    const rule = make("p", "ln-code", fill(words.rule, { ...known, unless }));
    box.append(make("div", "ln-beside", make("div", "", plot, tau, says, rule), there));
  },

  reverse(box, { reverse: { depth, x, x0 } }) {
    const [state, estimate, says] = [frame(), frame(), sentence()];
    const at = slider(words.step, { max: depth, value: 0 }, (step) => {
      const t = depth - step;
      const alt = (name) => `${name}, ${fill(words.fixed_depth, { t })}`;
      draw(state, x, step, alt(words.x_t), words.x_t);
      draw(estimate, x0, step, alt(words.x0), words.x0);
      const kind = step === 0 ? "step_first" : t === 0 ? "step_last" : "step_now";
      says.textContent = fill(depth ? words[kind] : words.no_steps, { step, steps: depth, t });
    });
    box.append(make("div", "ln-frames", state, estimate), at, says);
  },

  guide(box, { guide: { damage, scales, steps: taken, gaps, swings, top, pictures } }) {
    const [input, rebuilt, says] = [frame(), frame(), sentence()];
    const names = scales.map((scale) =>
      scale ? fill(words.lambda_on, { scale }) : words.lambda_off);
    draw(input, pictures, 0, `${words.input}: ${damage}`, `${words.input}: ${damage}`);
    const pick = choice(words.lambda, names, 1, (i) => {
      const name = `${words.rebuilt}, ${names[i]}`;
      draw(rebuilt, pictures, i + 1, name, name);
      const [label, share] = top[i + 1][0];
      const gap = fill(words.gap, { gap: gaps[i], label, share: percent(share) });
      const swung = swings[i] ? ` ${fill(words.swings, { n: swings[i], steps: taken })}` : "";
      says.textContent = gap + swung;
    });
    box.append(pick, make("div", "ln-frames", input, rebuilt), says);
  },

  level(box, { film, level: { noisy, levels, entries, deepest } }) {
    let [severity, t] = [2, 0];
    const [came, made, says] = [frame(), frame(), sentence()];
    const show = () => {
      const [ratio, level] = [Math.sqrt(film.signal[t] ** -2 - 1), levels[severity]].map((one) => one.toFixed(2));
      draw(came, noisy, severity, words.noisy, words.noisy);
      const name = fill(words.film_alt, { name: words.clean, t });
      draw(made, film.clean, t, name, name);
      says.textContent = fill(words.level, { t, ratio, level, entry: entries[severity] });
    };
    const names = levels.map((_, i) => String(i + 1));
    const pick = choice(words.severity_of, names, severity, (i) => { severity = i; show(); });
    const depth = slider(words.depth, { max: deepest, value: 0 }, (to) => { t = to; show(); });
    box.append(pick, make("div", "ln-frames", came, made), depth, says);
  },

  plus(box, { plus: cases }) {
    const says = sentence();
    const list = make("ul", "ln-cases ln-three", ...cases.map(({ title, truth, said, top, pictures }) => {
      const names = [words.damaged, words.undone, words.repaired];
      const frames = names.map((name, i) => draw(frame(), pictures, i, `${title}, ${name}: ${top[i][0][0]}`,
        make("b", "", name), make("br"), ...reading(top[i][0], truth)));
      return make("li", "", make("div", "ln-told", make("h3", "", title), make("p", "", said)), ...frames);
    }));
    const right = (i) => cases.filter(({ top, truth }) => top[i][0][0] === truth).length;
    says.textContent = fill(words.plus_score, { before: right(0), n: right(2), total: cases.length });
    box.append(list, says);
  },

  depth(box, { depth: { cases, fixed } }) {
    const says = sentence();
    const list = make("ul", "ln-cases");
    const names = [words.own, fill(words.fixed, { fixed }), words.plus];
    const pick = choice(words.method, names, 0, (way) => {
      let n = 0;
      list.replaceChildren(...cases.map(({ title, pictures, top, truth, said }) => {
        const [[before], [label, share]] = [top[0][0], top[1 + way][0]];
        n += label === truth;
        const damaged = draw(frame(), pictures, 0, `${title}: ${before}`, `${words.damaged}: ${before}`);
        const after = reading([label, share], truth);
        const rebuilt = draw(frame(), pictures, 1 + way, `${title}, ${words.repaired}: ${label}`, ...after);
        const how = said[way] ?? fill(words.fixed_depth, { t: fixed });
        const told = make("div", "ln-told", make("h3", "", title), make("p", "", how));
        return make("li", "", told, damaged, rebuilt);
      }));
      says.textContent = fill(words.score, { n, total: cases.length });
    });
    box.append(pick, says, list);
  },
};
