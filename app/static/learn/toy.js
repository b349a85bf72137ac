// Be the repairer: three sliders undo the damage, the detector's needle answers. Two other
// components of the page bring what the server says: window.dgaToy.moved and .landed.
const PAUSE = 100; // ms between two questions
const PATIENCE = 6000; // ms for an answer
const chance = (logit) => 1 / (1 + Math.exp(-logit));

function toy(box, { toy: { order, cases } }) {
  const [says, { most, ends }] = [words.toy, props.toy];
  const knobs = Object.keys(most);
  const values = Object.fromEntries(knobs.map((knob) => [knob, 0]));
  let [name, answer, open, problem] = ["", null, false, ""];
  let [asked, flying, wanted, last, timer] = [0, false, false, 0, 0];
  let [land, landing, note] = [[], 0, ""];
  const one = () => cases[name];

  box.innerHTML = `<div class="ln-toy"><div class="ln-toy-pictures"></div>
    <div class="ln-dial"><p><b>${says.dial}</b><output></output></p>
      <svg viewBox="0 -22 300 190" aria-hidden="true"></svg></div>
    <div class="ln-knobs"></div>
    <div class="ln-land"><p><b>${says.land}</b> <span></span></p>
      <div class="ln-map"><canvas width="330" height="170"></canvas><i class="here"></i><i class="net">✚</i></div>
      <div class="ln-across"></div><p class="ln-key">${says.high} <i></i> ${says.low}</p><p class="ln-note"></p><p class="hidden-words"></p></div>
    <div class="ln-against"><b>${says.against}</b><div class="ln-result"></div>
      <button type="button" class="ln-go"></button></div></div>`;
  const [pictures, dial, panel, map, result] = [".ln-toy-pictures", ".ln-dial", ".ln-knobs", ".ln-map", ".ln-result"]
    .map((part) => box.querySelector(part));
  const [said, reveal, canvas] = [sentence(), box.querySelector(".ln-against button"), map.firstChild];
  const shown = ["undamaged", "damaged", "yours", "network"].map((kind) => {
    const [picture, read] = [frame(), make("p", "ln-reading")];
    pictures.append(make("div", `ln-of ${kind}`, make("b", "", says[kind]), picture, read));
    return { kind, picture, read };
  });

  // The dial: from damaged, left, to undamaged.
  const arc = (i) => {
    const at = (step) => [150 - 120 * Math.cos((Math.PI * step) / 24), 144 - 120 * Math.sin((Math.PI * step) / 24)];
    return `<path d="M${at(i + 0.06)}A120 120 0 0 1 ${at(i + 0.94)}" stroke="${colour(1 - i / 23)}"/>`;
  };
  dial.lastElementChild.innerHTML = Array.from({ length: 24 }, (_, i) => arc(i)).join("") +
    `<path class="rim" d="M18 144a132 132 0 0 1 264 0M42 144a108 108 0 0 1 216 0"/>
    <g class="mark"><path d="M36 138v12M30 144h12"/></g><g class="needle"><path d="M150 150L46 144L150 138Z"/><circle cx="150" cy="144" r="10"/></g>
    <text x="18" y="164">${says.high}</text><text x="150" y="-4" text-anchor="middle">${says.cannot}</text><text x="282" y="164" text-anchor="end">${says.low}</text>`;
  const turned = (part, share) => {
    dial.querySelector(part).style.transform = `rotate(${180 * (1 - share)}deg)`;
  };

  const worth = (knob, value) => {
    if (knob === "exposure") return value ? fill(says.gain, { value: Number((ends[0] ** (value / most[knob])).toPrecision(2)) }) : says.as_is;
    if (knob === "sharpness") return value ? fill(says.pixels, { value: Number(((ends[1] * value) / most[knob]).toFixed(1)) }) : says.as_is;
    return value ? ((ends[2] * value) / most[knob]).toFixed(2) : says.none;
  };
  const sliders = knobs.map((knob) => slider(says[knob], {
    max: most[knob], value: 0, show: (value) => worth(knob, value),
  }, (value) => move({ [knob]: value })));
  const again = make("button", "", says.again);
  again.type = "button";
  again.addEventListener("click", () => set({ exposure: 0, sharpness: 0, noise: 0 }));
  panel.append(...sliders, again);

  function set(next) {
    knobs.forEach((knob, i) => {
      const input = sliders[i].querySelector("input");
      if (!(knob in next) || input.value === String(next[knob])) return;
      input.value = next[knob];
      input.dispatchEvent(new Event("input"));
    });
  }

  function move(next) {
    if (!name || knobs.every((knob) => !(knob in next) || next[knob] === values[knob])) return;
    const slice = "noise" in next && next.noise !== values.noise;
    Object.assign(values, next);
    if (slice) clear();
    wanted = true;
    problem = "";
    show();
    send();
  }

  // At most ten a second, and the last one always.
  function send() {
    if (flying || !wanted) return;
    const pause = last + PAUSE - performance.now();
    if (pause > 0) return void setTimeout(send, pause);
    [flying, wanted, last] = [true, false, performance.now()];
    asked += 1;
    timer = setTimeout(() => news({ ask: asked, error: says.no_answer }), PATIENCE);
    trigger("select", { ask: JSON.stringify({ case: name, ...values, ask: asked }) });
  }

  function news(value) {
    if (!flying || value.ask !== asked) return;
    clearTimeout(timer);
    flying = false;
    if (value.error) problem = value.error;
    else answer = value;
    show();
    send();
  }

  // The landscape: one noise level's slice, piece by piece.
  function clear() {
    [land, note] = [[], ""];
    paint();
    setTimeout(more, 300);
  }
  function more() {
    if (landing || land.length >= order.length || !name || box.closest("[hidden]")) return;
    if (flying || wanted) return void setTimeout(more, 3 * PAUSE); // the needle comes first
    landing = setTimeout(() => ((landing = 0), more()), 2 * PATIENCE);
    trigger("expand", { ask: JSON.stringify({ case: name, noise: values.noise, start: land.length }) });
  }
  function landed(value) {
    clearTimeout(landing);
    landing = 0;
    if (value.case !== name || value.noise !== values.noise || value.start !== land.length) return more();
    note = value.error ?? "";
    if (value.scores) land.push(...value.scores);
    paint();
    if (value.scores) more();
    else if (value.waits) setTimeout(more, 2000);
  }

  function paint() {
    const known = new Map(order.slice(0, land.length).map(([i, j], at) => [i + 33 * j, land[at] ?? 9]));
    const value = (i, j) => { // what is not known yet is as its coarser neighbour
      for (const n of [1, 2, 4, 8]) {
        const key = i - (i % n) + 33 * (j - (j % n));
        if (known.has(key)) return known.get(key);
      }
      return 0;
    };
    const context = canvas.getContext("2d");
    const { width, height } = canvas;
    const image = context.createImageData(width, height);
    for (let y = 0; y < height && land.length; y++) {
      const down = ((height - 1 - y) / (height - 1)) * 16;
      const [j, v] = [Math.min(Math.floor(down), 15), down - Math.min(Math.floor(down), 15)];
      for (let x = 0; x < width; x++) {
        const right = (x / (width - 1)) * 32;
        const i = Math.min(Math.floor(right), 31);
        const u = right - i;
        const logit = (1 - v) * ((1 - u) * value(i, j) + u * value(i + 1, j)) +
          v * ((1 - u) * value(i, j + 1) + u * value(i + 1, j + 1));
        image.data.set([...mixed(Math.round(2 * Math.min(Math.max(logit + 2.5, 0), 8.5)) / 17), 255], 4 * (x + width * y));
      }
    }
    context.putImageData(image, 0, 0);
    if (open) {
      context.font = "10px sans-serif";
      context.textAlign = "center";
      for (const [exposure, sharpness] of one().network.tried) {
        const at = [(exposure / most.exposure) * width, (1 - sharpness / most.sharpness) * height + 3];
        context.strokeStyle = "#fff";
        context.strokeText("+", ...at);
        context.fillText("+", ...at);
      }
    }
    const best = land.length === order.length ? order[land.indexOf(Math.min(...land.map((z) => z ?? 9)))] : null;
    put(box.querySelector(".ln-land .hidden-words"), best ? fill(says.land_best, {
      exposure: worth("exposure", 2 * best[0]), sharpness: worth("sharpness", 2 * best[1]),
      share: percent(chance(Math.min(...land.map((z) => z ?? 9)))),
    }) : "");
    put(box.querySelector(".ln-note"), note);
    put(box.querySelector(".ln-land span"), fill(says.land_at, { noise: worth("noise", values.noise) }));
  }
  const drag = (event) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const part = (share, knob) => Math.round(Math.min(Math.max(share, 0), 1) * most[knob]);
    set({
      exposure: part((event.clientX - left) / width, "exposure"),
      sharpness: part(1 - (event.clientY - top) / height, "sharpness"),
    });
  };
  map.addEventListener("pointerdown", (event) => { map.setPointerCapture(event.pointerId); drag(event); });
  map.addEventListener("pointermove", (event) => { if (map.hasPointerCapture(event.pointerId)) drag(event); });
  const place = (mark, [exposure, sharpness]) => {
    mark.style.left = `${(100 * exposure) / most.exposure}%`;
    mark.style.bottom = `${(100 * sharpness) / most.sharpness}%`;
  };
  map.nextElementSibling.append(...[0, 1, 2, 3, 4, 5].map((n) => make("span", "", `×${2 ** n}`)), make("em", "", says.across));
  map.append(...[0, 1, 2, 3, 4].map((n) => make("span", "", String(n))), make("em", "", says.up));

  function show() {
    const { truth, pictures: strip, top, scores: [worst, network], network: choice } = one();
    const stale = wanted || flying || problem;
    const verdict = (label) => (truth ? says.verdicts[Number(label === truth)] : "");
    shown.forEach(({ kind, picture, read }, i) => {
      const covered = !open && (kind === "undamaged" || kind === "network");
      const mine = kind === "yours";
      const [label, share] = mine ? answer.top[0] : top[Math.min(i, 2)][0];
      const alt = covered ? `${says[kind]}: ${says.covered}` : says[kind];
      picture.classList.toggle("ln-covered", covered);
      draw(picture, mine ? { uri: answer.picture, count: 1 } : strip, mine ? 0 : Math.min(i, 2), alt);
      if (mine && !answer.picture) draw(picture, strip, 1, alt);
      read.replaceChildren(...(covered ? [says.covered] : mine && stale ? ["…"] : reading([label, share], truth)));
    });
    const share = chance(answer.score ?? 9);
    put(dial.querySelector("output"), stale ? "…" : percent(share));
    dial.classList.toggle("ln-silent", Boolean(problem));
    turned(".needle", share);
    turned(".mark", chance(network));
    box.querySelectorAll(".mark, .net").forEach((mark) => { mark.style.display = open ? "" : "none"; });
    place(map.querySelector(".here"), [values.exposure, values.sharpness]);
    place(map.querySelector(".net"), choice.at);
    const [label, sure] = answer.top[0];
    const [theirs, certain] = top[2][0];
    const mine = fill(says.read, { label, share: percent(sure), verdict: verdict(label) });
    const other = fill(says.network_read, { label: theirs, share: percent(certain), verdict: verdict(theirs) });
    if (problem || !stale) put(said, problem || (open ? `${mine} ${other}` : mine));
    reveal.textContent = open ? says.hide : says.show;
    const gain = worst - network;
    const score = Math.min(Math.max(Math.round((100 * (worst - (answer.score ?? 9))) / gain), 0), 120);
    if (!open) result.replaceChildren(make("p", "", says.covered_score));
    else if (!(gain > 0) || !choice.did) result.replaceChildren(make("p", "", says.no_score));
    else {
      const number = make("p", "ln-number", make("b", "", stale ? "…" : String(score)), ` ${says.of}`);
      result.replaceChildren(number, make("p", "", fill(says.score, choice)));
      if (!stale && score > 100) result.append(make("p", "", says.more));
    }
  }

  reveal.addEventListener("click", () => { open = !open; show(); paint(); });
  const titles = Object.values(cases).map((single) => single.title);
  const pick = choice(says.case, titles, 0, (i) => {
    name = Object.keys(cases)[i];
    [open, problem, wanted] = [false, "", false];
    asked += 1; // what is still under way is of another picture
    flying = false;
    clearTimeout(timer);
    Object.assign(values, { exposure: 0, sharpness: 0, noise: 0 });
    set(values);
    answer = { score: one().scores[0], top: one().top[1], picture: "" };
    clear();
    show();
  });
  box.prepend(pick, said);
  window.dgaToy = { moved: news, landed };
  new IntersectionObserver(more).observe(box);
}

// From white, undamaged, to indigo, damaged: the same in both themes. In a landscape evenly by
// logit, of which the surest probabilities are too alike to be told apart.
const mixed = (share) => [67, 56, 202].map((end) => Math.round(255 + share * (end - 255)));
const colour = (share) => `rgb(${mixed(share)})`;
