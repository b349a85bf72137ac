// Be the repairer: three sliders undo the damage, the detector's needle answers. Two other
// components of the page bring what the server says: window.dgaToy.moved and .landed.
const [PAUSE, PATIENCE] = [100, 6000]; // ms between two questions, and for an answer
const chance = (logit) => 1 / (1 + Math.exp(-logit));
// From undamaged, 0, to damaged, 1, evenly by logit: the surest probabilities are too alike to be
// told apart.
const place = (logit) => clamp((logit + 2.5) / 8.5, 0, 1);
// A point of the dial.
const spot = (share, radius) => [150 + radius * Math.cos(Math.PI * share), 144 - radius * Math.sin(Math.PI * share)];
// From white, undamaged, to indigo, damaged: the same in both themes.
const mixed = (share) => [67, 56, 202].map((end) => Math.round(255 + share * (end - 255)));

function toy(box, { toy: { order, cases } }) {
  const [says, { most, ends }] = [{ ...words, ...words.toy }, props.toy];
  const knobs = Object.keys(most);
  const values = Object.fromEntries(knobs.map((knob) => [knob, 0]));
  let [name, answer, open, problem] = ["", null, false, ""];
  let [asked, flying, wanted, last, timer] = [0, false, false, 0, 0];
  let [land, landing, soon] = [[], 0, 0];
  const strokes = Array.from({ length: 24 }, (_, i) => {
    const at = [i + 0.06, i + 0.94].map((step) => spot(1 - step / 24, 120));
    return `<path d="M${at[0]}A120 120 0 0 1 ${at[1]}" stroke="rgb(${mixed(1 - i / 23)})"/>`;
  });
  const scale = [10, 50, 90, 99].map((n) => {
    const [x, y] = spot(place(Math.log(n / (100 - n))), 144);
    return `<text x="${x}" y="${y + 4}" text-anchor="${x < 100 ? "end" : x > 200 ? "start" : "middle"}">${percent(n / 100)}</text>`;
  });
  box.innerHTML = `<div class="ln-toy"><div class="ln-toy-pictures"></div>
    <div class="ln-mine"><div class="ln-dial"><p><b>${says.dial}</b><span><output></output><b class="net"></b></span></p><svg viewBox="-30 -22 360 194" aria-hidden="true">
      ${strokes.join("")}<path class="rim" d="M18 144a132 132 0 0 1 264 0M42 144a108 108 0 0 1 216 0"/>
      ${scale.join("")}<g class="net"><path d="M36 136v16M28 144H150"/></g><g class="needle"><path d="M150 150L46 144L150 138Z"/><circle cx="150" cy="144" r="10"/></g>
      <text x="-30" y="166">${says.high}</text><text x="330" y="166" text-anchor="end">${says.low}</text></svg></div></div>
    <div class="ln-knobs"></div>
    <div class="ln-land"><p><b>${says.land}</b> <span></span></p>
      <div class="ln-map"><canvas width="330" height="170"></canvas><i class="here"></i><i class="net">✚</i>
        ${[0, 1, 2, 3, 4].map((n) => `<span style="bottom: ${25 * n}%">${n}</span>`).join("")}<em>${says.up}</em></div>
      <div class="ln-across">${[1, 2, 4, 8, 16, 32].map((n) => `<span>×${n}</span>`).join("")}<em>${says.across}</em></div>
      <p class="ln-key">${says.high}<i></i>${says.low}</p><p class="ln-note"></p><p class="hidden-words"></p>
      <div class="ln-against"><b>${says.against}</b><div class="ln-result"></div><button type="button" class="ln-go"></button></div></div></div>`;
  const part = (selector) => box.querySelector(selector);
  const [dial, map, canvas, said] = [part(".ln-dial"), part(".ln-map"), part("canvas"), sentence()];
  const shown = ["undamaged", "damaged", "network", "yours"].map((kind) => {
    const [picture, read] = [frame(), make("p", "ln-reading")];
    part(kind === "yours" ? ".ln-mine" : ".ln-toy-pictures").append(make("div", `ln-of ${kind}`, make("b", "", says[kind]), picture, read));
    return { kind, picture, read };
  });

  const worth = (knob, value) => {
    const [share, [gain, blur, level]] = [value / most[knob], ends];
    if (!value) return knob === "noise" ? says.none : says.as_is;
    if (knob === "exposure") return fill(says.gain, { value: Number((gain ** share).toPrecision(2)) });
    return knob === "noise" ? (level * share).toFixed(2) : fill(says.pixels, { value: Number((blur * share).toFixed(1)) });
  };
  const sliders = knobs.map((knob) => slider(says[knob], {
    max: most[knob], value: 0, show: (value) => worth(knob, value),
  }, (value) => move(knob, value)));
  part(".ln-knobs").append(...sliders, press(says.again, "", () => set(0, 0, 0)));

  function set(...next) {
    next.forEach((value, i) => {
      const input = sliders[i].querySelector("input");
      input.value = value;
      input.dispatchEvent(new Event("input"));
    });
  }
  function move(knob, value) {
    if (!name || value === values[knob]) return;
    values[knob] = value;
    [wanted, problem] = [true, ""];
    if (knob === "noise") clear();
    show();
    send();
  }

  // At most ten questions a second, and the last one always.
  function send() {
    const pause = last + PAUSE - performance.now();
    if (flying || !wanted) return;
    if (pause > 0) return void setTimeout(send, pause);
    [flying, wanted, last] = [true, false, performance.now()];
    asked += 1;
    timer = setTimeout(() => moved({ ask: asked, error: says.no_answer }), PATIENCE);
    trigger("select", { ask: JSON.stringify({ case: name, ...values, ask: asked }) });
  }
  function moved(value) {
    if (!flying || value.ask !== asked) return;
    clearTimeout(timer);
    flying = false;
    problem = value.error ?? "";
    if (!problem) answer = value;
    show();
    send();
  }

  // The landscape: one noise level's slice, piece by piece; the needle comes first.
  function clear() {
    land = [];
    paint("");
    clearTimeout(soon);
    soon = setTimeout(more, 7 * PAUSE);
  }
  function more() {
    if (landing || land.length >= order.length || box.closest("[hidden]")) return;
    if (flying || wanted) return void setTimeout(more, 3 * PAUSE);
    landing = setTimeout(() => { landing = 0; more(); }, 2 * PATIENCE);
    trigger("expand", { ask: JSON.stringify({ case: name, noise: values.noise, start: land.length }) });
  }
  function landed(value) {
    clearTimeout(landing);
    landing = 0;
    if (value.case !== name || value.noise !== values.noise || value.start !== land.length) return more();
    land.push(...(value.scores ?? []).map((score) => score ?? 9));
    paint(value.error ?? "");
    if (value.scores || value.waits) setTimeout(more, value.waits ? 2000 : 0);
  }
  function paint(note) {
    const known = new Map(land.map((score, at) => [String(order[at]), score]));
    const coarse = (i, j) => [1, 2, 4, 8].map((n) => known.get(`${i - (i % n)},${j - (j % n)}`)).find((z) => z !== undefined) ?? 0;
    const grid = Array.from({ length: 33 }, (_, i) => Array.from({ length: 17 }, (_, j) => coarse(i, j)));
    const [context, { width, height }] = [canvas.getContext("2d"), canvas];
    const image = context.createImageData(width, height);
    for (let at = 0; at < width * height && land.length; at++) {
      const [x, y] = [((at % width) / (width - 1)) * 32, 16 - (Math.floor(at / width) / (height - 1)) * 16];
      const [i, j] = [Math.min(Math.floor(x), 31), Math.min(Math.floor(y), 15)];
      const along = (row) => grid[i][row] + (x - i) * (grid[i + 1][row] - grid[i][row]);
      const logit = along(j) + (y - j) * (along(j + 1) - along(j));
      image.data.set([...mixed(Math.round(17 * place(logit)) / 17), 255], 4 * at);
    }
    context.putImageData(image, 0, 0);
    const least = Math.min(...land);
    const [i, j] = order[Math.max(land.indexOf(least), 0)];
    const best = { exposure: worth("exposure", 2 * i), sharpness: worth("sharpness", 2 * j), share: percent(chance(least)) };
    put(part(".ln-land .hidden-words"), land.length === order.length ? fill(says.land_best, best) : "");
    put(part(".ln-note"), note);
    put(part(".ln-land span"), fill(says.land_at, { noise: worth("noise", values.noise) }));
  }
  const drag = ({ clientX, clientY }) => {
    const { left, bottom, width, height } = canvas.getBoundingClientRect();
    const [across, up] = [clamp((clientX - left) / width, 0, 1), clamp((bottom - clientY) / height, 0, 1)];
    set(Math.round(across * most.exposure), Math.round(up * most.sharpness));
  };
  map.addEventListener("pointerdown", (event) => { drag(event); follow(map, event, drag); });

  function show() {
    const { truth, pictures, top, scores: [, best], network } = cases[name];
    const [stale, z] = [wanted || flying || problem, answer.score ?? 9];
    shown.forEach(({ kind, picture, read }, i) => {
      const [covered, mine] = [!open && i % 2 === 0, kind === "yours"];
      picture.classList.toggle("ln-covered", covered);
      const [strip, at] = mine && answer.picture ? [{ uri: answer.picture, count: 1 }, 0] : [pictures, mine ? 1 : i];
      draw(picture, strip, at, covered ? `${says[kind]}: ${says.covered}` : says[kind]);
      read.replaceChildren(...(covered ? [says.covered] : mine && stale ? ["…"] : reading(mine ? answer.top[0] : top[i][0], truth)));
    });
    put(dial.querySelector("output"), stale ? "…" : percent(chance(z)));
    put(dial.querySelector("b.net"), `✚ ${percent(chance(best))}`);
    dial.classList.toggle("ln-silent", Boolean(problem));
    dial.querySelector(".needle").style.transform = `rotate(${180 * (1 - place(z))}deg)`;
    dial.querySelector("g.net").style.transform = `rotate(${180 * (1 - place(best))}deg)`;
    box.querySelectorAll(".net").forEach((mark) => mark.toggleAttribute("hidden", !open));
    for (const [mark, at] of [[".here", knobs.map((knob) => values[knob])], ["i.net", network.at]]) {
      part(mark).style.left = `${(100 * at[0]) / most.exposure}%`;
      part(mark).style.bottom = `${(100 * at[1]) / most.sharpness}%`;
    }
    const told = (kind, [label, share]) =>
      fill(says[kind], { label, share: percent(share), verdict: truth ? says.verdicts[Number(label === truth)] : "" });
    const mine = told("read", answer.top[0]);
    said.classList.toggle("hidden-words", !problem); // the pictures' captions show it
    if (problem || !stale) put(said, problem || (open ? `${mine} ${told("network_read", top[2][0])}` : mine));
    part(".ln-against button").textContent = open ? says.hide : says.show;
    const lines = open ? [network.did ? fill(says.did, { ...network, points: order.length }) : says.did_nothing, says.judged] : [says.not_yet];
    part(".ln-result").replaceChildren(...lines.map((line) => make("p", "", line)));
  }

  part(".ln-against button").addEventListener("click", () => { open = !open; show(); });
  const pick = choice(says.case, Object.values(cases).map(({ title }) => title), 0, (i) => {
    name = Object.keys(cases)[i];
    clearTimeout(timer);
    asked += 1; // what is still under way is of another picture
    for (const knob of knobs) values[knob] = 0;
    set(0, 0, 0);
    [open, problem, wanted, flying] = [false, "", false, false];
    answer = { score: cases[name].scores[0], top: cases[name].top[1], picture: "" };
    clear();
    show();
  });
  box.prepend(pick, said);
  window.dgaToy = { moved, landed };
  new IntersectionObserver(more).observe(box);
}
