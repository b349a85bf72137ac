// All parts together: what is drawn when a value comes, when something moves, when sizes change.
function draw() {
  const now = depthNow();
  element.querySelector(".try").dataset.phase = value.phase;
  Object.assign(plot.dataset, { phase: value.phase, source: value.source ?? "", key: value.key, tStar: now ? now.t : "" });
  headline(now);
  pictureRow(now);
  naming();
  lanes(now);
  controls();
  drawZoom(now);
  bar();
}

let drawing = 0;
function soon() {
  drawing ||= requestAnimationFrame(() => { drawing = 0; draw(); });
}

// What an own picture shows, which nobody but its owner can say.
function naming() {
  const pick = find(".kind");
  pick.hidden = !value.own || presenting || !value.says;
  if (pick.hidden) return;
  const select = pick.querySelector("select");
  if (select.options.length !== value.classes.length + 1) select.replaceChildren(new Option(words.unnamed, ""), ...value.classes.map((name) => new Option(name)));
  select.value = value.classes[value.truth] ?? "";
}
find(".kind select").addEventListener("change", ({ target }) => trigger("edit", { kind: target.value }));

const noticed = () => (value.phase === "cancelled" ? value.error : value.notice) ?? "";

// The button, the line under it, and what the address says.
function bar() {
  const button = byId("adapt");
  if (button) {
    const progress = value.progress;
    button.style.setProperty("--share", progress ? `${100 * progress.share}%` : "0%");
    const said = progress?.words;
    if (said) button.dataset.words = said;
    else delete button.dataset.words;
    byId("bar").classList.toggle("running", Boolean(pending) || busy());
    byId("bar").classList.toggle("ended", value.phase === "done" && !stale);
  }
  put(find(".error"), value.phase === "error" ? value.error : "");
  put(find(".neutral"), noticed());
  const source = value.input?.src;
  const thumb = document.querySelector("#line img");
  if (thumb && source && thumb.getAttribute("src") !== source) thumb.src = source;
  for (const part of document.querySelectorAll("#line :is(img, p)")) part.classList.toggle("old", stale);
  put(document.querySelector("#line b"), value.title);
  put(document.querySelector("#line p span"), value.damage ?? "");
  for (const node of document.querySelectorAll("#examples button")) {
    node.setAttribute("aria-pressed", !stale && node.dataset.name === value.recorded);
  }
  for (const node of element.querySelectorAll("[data-file]")) node.disabled = value.phase !== "done" || stale;
}

function query() {
  const fields = new URLSearchParams(value.link ?? "");
  if (!fields.size) return location.search;
  fields.set("tau", tau.toFixed(2));
  fields.set("dda", fixed);
  if (chosen !== "dga-guided") fields.set("method", chosen);
  if (hand !== null) fields.set("depth", hand);
  return `?${fields}`;
}
// Also for whoever comes back to this tab, with the key of a finished run, see arrive.
function writeAddress() {
  const first = centred === null && !value.hands; // it came with the page, or with its address
  if (!value.link || (first && !location.search)) return;
  if (!first) history.replaceState(history.state, "", query());
  sessionStorage.setItem("dga-last", `${query()}&key=${value.key}`);
}

async function copyLink(button) {
  const address = location.origin + location.pathname + query();
  try {
    await navigator.clipboard.writeText(address);
  } catch {
    return prompt(words.copy, address); // without https, or not allowed
  }
  copied(button.querySelector("span"));
  put(find(".spoken"), words.copied);
}

element.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.matches("[data-copy]")) copyLink(button);
  if (button?.dataset.file) trigger("download", { file: button.dataset.file });
});
document.addEventListener("click", (event) => unfold(event.target.closest(".share, .kinds")));

// Closes what was unfolded, but for one; whether there was anything.
function unfold(kept) {
  const open = [...document.querySelectorAll(":is(.share, .kinds)[open]")].filter((node) => node !== kept);
  for (const node of open) node.removeAttribute("open");
  return open.length > 0;
}

// Another run: nothing of the last one stays but where the visitor's hands are.
function begin(next) {
  halt();
  closeOpening();
  fixedHandle.classList.remove("glow");
  pictures.clear();
  demanded.clear();
  hand = first = null;
  [tau, fixed] = [next.tau, next.dda_depth];
  if (!next.hands) return; // as whoever sent the link left it
  ({ tau, fixed, depth: hand } = next.hands);
  if (next.hands.method) choose(next.hands.method);
}

const demanded = new Set();
let centred = null;
function receive(next) {
  pending = "";
  const another = next.key !== value.key;
  if (another || stale) begin(next);
  stale = next.phase === "error" && !another;
  awaited = next.source === "damaged" && another;
  value = next;
  summarise();
  draw();
  if (awaited) writeAddress();
  if (value.phase === "done" && value.key !== centred) {
    writeAddress();
    centred = value.key;
  }
  demand();
}

// What comes out at a depth that was moved to is computed, for all depths, once a run and line.
function demand() {
  const now = depthNow();
  const moves = hand !== null || fixed !== value.dda_depth || tau !== value.tau;
  const lines = shown().filter((name) => !outcome(name, now).probs).map(missingLine);
  const line = lines.find((name) => name && !demanded.has(name));
  if (!line || !moves || value.notice) return; // slow, or others are served: the frame's own button
  demanded.add(line);
  trigger("expand", { every: line });
}

let waiting = 0;
window.dga = {
  // Something of the input was changed: what is shown is from before, until its damaged picture comes.
  changed: () => {
    halt();
    stale = true;
    draw();
    clearTimeout(waiting);
    waiting = setTimeout(() => trigger("input", {}), 300);
  },
  // What a run is asked for besides the controls, as the visitor's hands left it.
  asked: () => [tau, fixed, first ?? chosen],
  waiting: () => {
    clearTimeout(waiting);
    pending = words.waiting;
    halt();
    const top = element.getBoundingClientRect().top;
    if (top > window.innerHeight - 320 || top < 0) element.scrollIntoView({ behavior: motion.matches ? "auto" : "smooth", block: "start" });
    draw();
  },
  pick: (name) => {
    clearTimeout(waiting);
    if (name !== value.recorded || stale) return trigger("select", { example: name });
    begin({ ...value, hands: null }); // as it was recorded
    moved();
  },
};

motion.addEventListener("change", () => { halt(); draw(); });
for (const node of ["#line b", "#adapt", "#examples button"]) appears(document, node).then(soon);
new ResizeObserver(() => { measured = 0; fit(); soon(); }).observe(plot);
watch("value", () => receive(props.value));
// What an address names, or what this tab had, is on its way: the page's first run is not it.
const address = new URLSearchParams(location.search);
const named = props.keys.some((key) => address.has(key)) || sessionStorage.getItem("dga-last");
const { opens } = value;
value = { ...value, key: null, phase: "opening" };
draw();
if (opens && !named) {
  json(opens).then((run) => {
    if (value.key !== null) return;
    receive(run);
    openWith();
  }, () => { value = { ...value, phase: "error", error: words.lost }; draw(); });
}
