// Sentence, methods and the row of pictures.
const row = find(".shots");
let first = null; // what a frame's own button asks for
const FIGURES = ["clean", "damaged", "noised", ...METHODS];
const OWN = ["dga", "dga-guided"]; // one frame, and whether guidance is on
const SIGNS = { right: "M2.5 8.5l3.5 4L13.5 3.5", wrong: "M3.5 3.5l9 9M12.5 3.5l-9 9" };
const signed = (verdict) => verdict && `<svg class="sign ${verdict}" viewBox="0 0 16 16" role="img"
  aria-label="${words[verdict]}"><path d="${SIGNS[verdict]}"/></svg>`;

row.innerHTML = FIGURES.map((name) => `
  <figure class="pic of-${name}" data-name="${name}">
    <figcaption>${METHODS.includes(name)
      ? `<button type="button" class="choose" tabindex="-1" title="${words.codes[name]}">${marks[name]}<b>${words.short[name]}</b></button>`
      : `<span class="choose">${marks[name]}<b>${words.short[name]}</b></span>`}${OWN.includes(name) ? `<button type="button" class="guide" tabindex="-1" title="${words.guidance}"></button>` : ""}<i></i></figcaption>
    <p class="gloss"></p><button type="button" class="im" tabindex="-1"><canvas width="64" height="64"></canvas><span class="none"></span></button>
    <button type="button" class="own" hidden></button>
    <p class="label"><span></span><b></b><em></em></p><div class="bar"><i></i></div>
  </figure>`).join("");
find(".index").innerHTML = FIGURES.map((name) =>
  `<button type="button" data-name="${name}"><canvas width="64" height="64"></canvas><i></i><span>${words.tiny[name]}</span></button>`).join("");
const figureOf = (name) => row.querySelector(`[data-name="${name}"]`);
const thumbOf = (name) => find(`.index [data-name="${name}"]`);

function fillIn(node, html) {
  if (node.dataset.html === html) return false;
  node.innerHTML = node.dataset.html = html;
  return true;
}

const keyOf = (frame) => (frame ? `${frame.image.src.length}:${frame.image.src.slice(-48)}:${frame.x}:${frame.y}` : "");
const drawn = new WeakMap();
function paint(canvas, frame) {
  const key = keyOf(frame);
  if (drawn.get(canvas) === key) return;
  drawn.set(canvas, key);
  const context = canvas.getContext("2d");
  if (!frame) return context.clearRect(0, 0, canvas.width, canvas.height);
  if (canvas.width !== frame.side) canvas.width = canvas.height = frame.side;
  context.drawImage(frame.image, frame.x, frame.y, frame.side, frame.side, 0, 0, canvas.width, canvas.height);
}

// What one picture shows: {title, more, frame, probs, note, own: what its own button does}.
function pictureNow(name, now) {
  if (name === "clean" || name === "damaged") {
    const from = value[name === "clean" ? "clean" : "input"];
    const more = name === "clean" && value.truth != null && !value.own ? words.truth : "";
    const came = value.own && (name === "clean" || !value.clean) ? words.came : null;
    const brief = presenting && name === "damaged" ? value.brief : null;
    const title = came || brief || (value.input && !value.clean ? words.came : words.short[name]);
    return { title, gloss: more, frame: wholePicture(from?.src), probs: from?.probs };
  }
  if (scene) return { title: words.short[name], gloss: words.gloss[name], ...scene.frames[name] };
  if (name === "noised" && ownNoise()) return plusNoised();
  if (name === "noised") {
    const other = chosen === "dda" && !playing && !empty(); // its own depth, not the detector's
    const judged = (running() || value.phase === "cancelled") && value.curves.length;
    const depth = other ? fixed : playing ? playing.depth : now?.t ?? (judged ? Math.min(lastJudged(), deepest()) : null);
    const title = depth === null ? words.short.noised : playing || other || !now ? fill(words.noised_to, { depth }) : value.titles?.[now.key] ?? fill(words.noised_to, { depth });
    const probs = value.forward_probs?.[depth];
    return { title, frame: depth === null ? null : depth ? noised(depth) : wholePicture(value.input?.src), probs, note: "", depth };
  }
  const found = outcome(name, now);
  const long = value.source !== "recorded" && askedOf(name, now).made ? value.spent?.[name] : ""; // on this machine
  const frame = playing ? playingFrame(name, found) : found.frame;
  const own = found.frame || found.probs || busy() || stale || empty() ? null : ownButton(name);
  const twin = twinOf(name, now);
  const by = byHand(name, now);
  const usual = presenting && name === "dga" ? words.own_unguided : words.short[name];
  const title = name === "dda" ? fill(words.fixed_at, { depth: fixed }) : OWN.includes(name) && by ? words.your_depth : usual;
  const gloss = by ? words.gloss[name === "dga-plus" ? "diagnosed_hand" : "hand"] : words.gloss[name];
  return { title, gloss, more: twin ? words.same : "", frame, probs: playing && !playing.arrived(found) ? null : found.probs, own, long };
}

// What an empty frame can be filled by: the method's run, or its outcomes at every depth.
function ownButton(name) {
  const line = missingLine(name);
  if (value.results?.[name]) return line && { said: words.compute, line };
  return { said: words.repair_by[name], first: name };
}

// DGA+ puts noise into what it found, not into the damaged picture, and often none at all.
const plusByHand = () => byHand("dga-plus", depthNow());
const ownNoise = () => chosen === "dga-plus" && value.found && !(plusByHand() && value.found.unchanged) && !playing;
const needsNoise = () => Boolean(plusByHand() ? value.found?.unchanged : value.found?.noised);
function plusNoised() {
  const { t_star: depth, noised, enters } = value.found;
  const title = fill(words[enters ? "enters" : "noised_to"], { depth });
  if (needsNoise()) return { title, frame: wholePicture(noised), probs: null };
  return { title: words.short.noised, note: plusByHand() ? words.own_noise : words.no_noise };
}

// The method that gives the very same picture, if that is known.
function twinOf(name, now) {
  const twin = { dda: "dga-guided", "dga-guided": "dda" }[name];
  return twin && value.same && now?.t === fixed && outcome(name, now).probs && outcome(twin, now).probs ? twin : null;
}

function figure(name, now) {
  const node = figureOf(name);
  const told = pictureNow(name, now);
  const peeked = held?.on && held.name === name && !zoom.open;
  paint(node.querySelector("canvas"), peeked ? wholePicture(value.input?.src) : told.frame);
  paint(thumbOf(name).querySelector("canvas"), told.frame);
  put(node.querySelector("figcaption b"), told.title);
  put(node.querySelector("figcaption i"), told.more ?? "");
  put(node.querySelector(".gloss"), told.gloss ?? "");
  if (name === "damaged") put(thumbOf(name).querySelector("span"), value.input && !value.clean ? words.tiny.came : words.tiny.damaged);
  node.querySelector("figcaption").title = told.long ?? "";
  put(node.querySelector(".none"), told.note ?? "");
  const own = node.querySelector(".own");
  own.hidden = !told.own;
  put(own, told.own?.said ?? "");
  Object.assign(own.dataset, { line: told.own?.line ?? "", first: told.own?.first ?? "" });
  const label = told.probs ? labelOf(told.probs) : "";
  const share = told.probs ? Math.max(...told.probs) : 0;
  const sign = told.probs && !covered ? verdict(told.probs) : "";
  for (const place of [node.querySelector(".label span"), thumbOf(name).querySelector("i")]) fillIn(place, signed(sign));
  put(node.querySelector(".label b"), covered && label ? "?" : label);
  put(node.querySelector(".label em"), label && !covered ? percentOf(share) : "");
  node.querySelector(".bar i").style.width = `${covered ? 0 : share / 10}%`;
  for (const part of [node, thumbOf(name)]) {
    part.classList.toggle("old", stale);
    part.classList.toggle("waits", Boolean(scene) && !told.frame);
  }
  node.querySelector("button.choose")?.setAttribute("aria-pressed", name === chosen);
  put(node.querySelector(".guide"), name === "dga" ? words.unguided : words.guided);
  const said = label && !covered ? `: ${label} ${percentOf(share)}${sign ? `, ${words[sign]}` : ""}` : "";
  node.querySelector(".im").setAttribute("aria-label", `${told.title}${said}`);
}

const phone = window.matchMedia("(max-width: 760px)");
const inRow = () => {
  const truth = value.clean || value.phase === "opening" ? ["clean"] : [];
  const waits = scene && !scene.frames[chosen];
  const others = shown().filter((name) => name !== chosen);
  if (phone.matches) return ["damaged", ...(waits ? ["noised", chosen] : [chosen, "noised"]), ...others, ...truth];
  return [...truth, "damaged", "noised", chosen, ...others];
};

function pictureRow(now) {
  const names = inRow();
  find(".try").classList.toggle("stale", stale);
  if (row.dataset.order !== `${names}`) { // what lies beside each other differs on a phone
    const focused = row.contains(document.activeElement) ? document.activeElement : null;
    row.dataset.order = names;
    row.append(...names.map(figureOf));
    find(".index").append(...names.map(thumbOf));
    row.scrollLeft = 0; // else what was seen moves along
    focused?.focus({ preventScroll: true }); // what is moved loses it
  }
  for (const name of FIGURES) {
    figureOf(name).hidden = thumbOf(name).hidden = !names.includes(name);
    figureOf(name).classList.toggle("chosen", name === chosen);
    if (names.includes(name)) figure(name, now);
  }
  element.closest("#try").style.setProperty("--count", names.length);
  const stops = [names, presenting, chosen].join();
  if (row.dataset.stops !== stops) keepRow();
  row.dataset.stops = stops;
}

const keepRow = rove(row, ".choose[type], .guide, .im", ".choose[aria-pressed=true]");

// The sentence of the chosen method; why it is done, and what else is to be known.
function sentences(now) {
  const why = [fill(words.why[chosen], { kind: value.truth == null ? words.picture : value.classes[value.truth] }), ""];
  if (scene) return [scene.said, [why]];
  if (playing) return [[words[playing.back ? "reverse" : "forward"], ""], []];
  const { key, depth } = askedOf(chosen, now);
  const notice = [noticed(), ""];
  const told = value.says?.[chosen]?.[key];
  const said = (presenting && value.present?.[chosen]?.[key]) || told;
  if (!said && (empty() || running() || awaited || !value.says)) {
    const name = awaited ? "forward" : value.phase === "damaged" && value.own && !value.clean ? "as_it_came" : value.phase;
    return [[words[name] ?? words.empty, ""], [notice]];
  }
  if (depth === null) return [[words[value.phase] ?? words.not_made, ""], [notice]];
  const asked = chosen === "dda" ? "fixed" : byHand(chosen, now) ? "hand" : "own";
  if (!said) return [[fill(value.says.unknown[asked], { t: depth, tau: tau.toFixed(2) }), ""], [notice]];
  if (presenting) return [said, []];
  const rest = [notice, why];
  if (chosen === "dga-plus" && asked === "own") rest.push([value.found?.limit, ""]);
  if (fixedHandle.classList.contains("glow")) rest.push([phone.matches ? "" : words.opens_drag, ""]);
  else if (value.source === "recorded") rest.push([recordedWords(now), ""]);
  else if (askedOf(chosen, now).made && !phone.matches) rest.push([value.spent?.[chosen], ""]);
  if (value.own) rest.push([fill(words.kinds, { n: value.kinds, side: value.side }), ""]);
  return [said, rest.filter((told) => told?.[0])];
}

// What an example teaches, as long as it is looked at as it was recorded.
function recordedWords(now) {
  const lesson = document.querySelector(`#examples [data-name="${value.recorded}"]`)?.dataset.lesson;
  const asItWas = lesson && shown().every((name) => askedOf(name, now).made);
  if (!asItWas) return words.recorded;
  const { of, dda, "dga-plus": plus, [own]: mine } = value.draws;
  return fill(words.recorded_of, { lesson: lesson[0].toLowerCase() + lesson.slice(1), of, own: mine, plus, dda });
}

// A verdict is the word before the last full stop.
const coloured = ([text, verdict]) => {
  const html = safe(text).replace(/\(\d+ %\)/g, '<span class="whole">$&</span>');
  return verdict ? html.replace(/(\S+?)(\.?)$/, `<b class="${verdict}">$1</b>$2`) : html;
};

// What is long is smaller: two lines take the room of one.
function fit() {
  const heading = find(".say h1");
  heading.className = "";
  for (const size of ["mid", "long"]) if (heading.offsetHeight > (phone.matches ? 112 : 60)) heading.className = size;
}
document.fonts.ready.then(fit);

let spoken = 0;
function headline(now) {
  const [first, rest] = sentences(now);
  const title = covered ? words.covered : coloured(first);
  const heading = find(".say h1");
  if (fillIn(heading, title)) fit();
  fillIn(find(".second"), covered ? "" : rest.map(coloured).join(" "));
  clearTimeout(spoken); // read out once a drag has come to rest
  if (!scene) spoken = setTimeout(() => put(find(".spoken"), heading.textContent), 600);
}

// On a phone the pictures lie in a row that snaps.
function bring(name) {
  row.scrollTo({ left: figureOf(name).offsetLeft - 16, behavior: motion.matches ? "auto" : "smooth" });
}

function choose(name) {
  chosen = name;
  if (phone.matches) row.scrollTo({ left: 0 });
  if (OWN.includes(name)) own = name;
  moved();
}

const guide = () => choose(OWN.find((name) => name !== own));

row.addEventListener("click", (event) => {
  if (event.target.closest(".guide")) {
    guide();
    figureOf(own).querySelector(".guide").focus();
  }
  const asks = event.target.closest(".own");
  if (asks?.dataset.line) trigger("expand", { every: asks.dataset.line });
  else if (asks) {
    first = asks.dataset.first;
    press(byId("adapt"));
  }
});
find(".index").addEventListener("click", (event) => {
  const name = event.target.closest("button")?.dataset.name;
  if (name) bring(name);
});
row.addEventListener("scroll", () => {
  for (const name of inRow()) {
    const left = figureOf(name).offsetLeft - row.scrollLeft;
    thumbOf(name).classList.toggle("on", left > -20 && left < row.clientWidth - 80);
  }
}, { passive: true });
