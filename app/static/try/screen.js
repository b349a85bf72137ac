// All parts together: what is drawn when a value comes, when something moves, when sizes change.
function draw() {
  const now = depthNow();
  element.querySelector(".try").dataset.phase = value.phase;
  Object.assign(plot.dataset, { phase: value.phase, source: value.source ?? "", key: value.key, tStar: now ? now.t : "" });
  headline(now);
  pictureRow(now);
  lanes(now);
  controls();
  found();
  drawZoom(now);
  bar();
}

let asked = 0;
function soon() {
  asked ||= requestAnimationFrame(() => { asked = 0; draw(); });
}

function found() {
  const node = find(".found");
  const told = value.found;
  node.classList.toggle("unknown", !told);
  if (!told || node.dataset.key === value.key) return;
  node.dataset.key = value.key;
  find(".gauges").innerHTML = told.gauges.map(([name, said]) => `<span class="gauge"><i>${name}</i> ${said}</span>`).join("");
  put(find(".found-says"), told.sentence);
}

// The button, the line under it, and what the address says.
function bar() {
  const button = byId("adapt");
  if (button) {
    const progress = value.progress;
    button.style.setProperty("--share", progress ? `${100 * progress.share}%` : "0%");
    const said = progress?.words ?? (stale && !pending ? words.again : "");
    if (said) button.dataset.words = said;
    else delete button.dataset.words;
    byId("bar").classList.toggle("running", Boolean(progress || pending) || running());
  }
  put(find(".error"), value.phase === "error" ? value.error : "");
  put(find(".neutral"), value.phase === "cancelled" ? value.error : subject().notice ?? "");
  const source = subject().input?.src;
  const thumb = document.querySelector("#line img");
  if (thumb && source && thumb.getAttribute("src") !== source) thumb.src = source;
  for (const part of document.querySelectorAll("#line :is(img, p)")) part.classList.toggle("old", awaited);
  put(document.querySelector("#line b"), subject().title);
  put(document.querySelector("#line p span"), subject().damage ?? "");
  for (const node of document.querySelectorAll("#examples button")) {
    node.setAttribute("aria-pressed", !fresh && !stale && node.dataset.name === value.recorded);
  }
  for (const node of element.querySelectorAll("[data-file]")) node.disabled = value.phase !== "done" || value.source === "quick";
}

function query() {
  const fields = new URLSearchParams(subject().link ?? value.link ?? "");
  if (!fields.size) return location.search;
  fields.set("tau", tau.toFixed(2));
  fields.set("dda", fixed);
  return `?${fields}`;
}
// Also for whoever comes back to this tab, with the key of a finished run, see arrive.
function writeAddress() {
  if (!subject().link || (centred === null && !location.search)) return;
  if (centred !== null) history.replaceState(history.state, "", query()); // it came with the first
  sessionStorage.setItem("dga-last", fresh ? query() : `${query()}&key=${value.key}`);
}

async function copyLink(button) {
  const address = location.origin + location.pathname + query();
  if (!navigator.clipboard) return prompt(words.copy, address); // without https
  await navigator.clipboard.writeText(address);
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
  pictures.clear();
  hand = null;
  stale = awaited = false;
  fresh = null;
  watched = null;
  if (next.source === "recorded" || value.key === null) {
    [tau, fixed] = next.hands ?? [next.tau, next.dda_depth ?? fixed];
    wide = false;
  }
  const best = ["dga-guided", "dga-plus", "dga", "dda"];
  if (next.source === "quick") chosen = "dga-plus";
  else if (value.source === "quick" || value.key === null) chosen = best.find((name) => shown.includes(name));
}

let centred = null;
function receive(next) {
  pending = "";
  if (next.source === "damaged") {
    fresh = next;
    awaited = false;
    stale = !empty();
    if (empty()) {
      value = { ...value, ...next };
      [tau, fixed] = [next.tau, next.dda_depth];
    }
    writeAddress();
    return draw();
  }
  if (next.phase === "error" && next.key === value.key) stale = true;
  else if (next.key !== value.key || (stale && next.source === "recorded")) begin(next);
  value = next;
  summarise();
  draw();
  if (value.phase === "done" && value.key !== centred) {
    writeAddress();
    centred = value.key;
    requestAnimationFrame(() => bring(chosen));
  }
}

let waiting = 0;
window.dga = {
  // Something of the input was changed: the run is from before, and the quick path may run.
  changed: () => {
    halt();
    stale = awaited = !empty();
    draw();
    clearTimeout(waiting);
    waiting = setTimeout(() => trigger("input", {}), 300);
  },
  // What a run is asked for besides the controls, as the visitor's hands left it.
  tau: () => tau,
  dda: () => fixed,
  waiting: () => {
    clearTimeout(waiting);
    pending = words.waiting;
    halt();
    const top = element.getBoundingClientRect().top;
    if (top > window.innerHeight - 320 || top < 0) element.scrollIntoView({ behavior: motion.matches ? "auto" : "smooth", block: "start" });
    draw();
  },
  pick: (name) => { clearTimeout(waiting); trigger("select", { example: name }); },
};

motion.addEventListener("change", () => { halt(); draw(); });
for (const node of ["#line b", "#adapt", "#examples button"]) appears(document, node).then(soon);
new ResizeObserver(() => { fit(); soon(); }).observe(plot);
watch("value", () => receive(props.value));
// What an address names, or what this tab had, is on its way: the page's first run is not it.
const named = /[?&](corruption|run)=/.test(location.search) || sessionStorage.getItem("dga-last");
const { opens } = value;
value = { ...value, key: null, phase: "opening" };
draw();
if (opens && !named) {
  fetch(opens).then((answer) => answer.json()).then((run) => { if (value.key === null) receive(run); });
}
