const { words, corruptions, rules, examples } = props;
const byId = (id) => document.getElementById(id);

let pressed = props.chosen;
let lastCorruption = Object.keys(corruptions)[0];
let last = null;

const write = (selector, text) => put(document.querySelector(selector), text);

function press(name) {
  pressed = name in examples ? name : null;
  document.querySelectorAll("#examples button").forEach((button) =>
    button.setAttribute("aria-pressed", button.dataset.name === pressed));
  if (last) show(last);
}

// In the order of InputCard.settings() on the server.
function show(values) {
  last = values;
  const [picture, corruption, severity, seed, paths, scale, maxDepth, rule] = values;
  const title = !picture ? words.none : pressed ? examples[pressed] : words.own;
  const known = { picture: title, corruption: corruptions[corruption], severity, seed };
  const kind = corruption ? "" : "_as_is";
  write(".summary b", fill(words["summary" + kind], known));
  write(".summary p span", fill(words["summary_more" + kind], known));
  const image = document.querySelector(".summary img");
  const example = pressed && document.querySelector(`#examples [data-name="${pressed}"] img`);
  if (image) image.src = example ? example.src : picture?.url ?? "";
  image?.toggleAttribute("hidden", !picture);
  const run = { scale: Number(Number(scale).toFixed(2)), max_depth: maxDepth, rule: rules[rule], paths };
  write('[data-words="guidance"]', fill(words.guidance, run));
  write('[data-words="stopping"]', fill(paths === 1 ? words.stopping_one : words.stopping, run));
}

function asIs(on, now) {
  if (now) lastCorruption = now;
  const interactive = !on;
  return [
    { __type__: "update", value: on ? null : lastCorruption, interactive },
    { __type__: "update", interactive },
  ];
}

// On a phone the card is one line until it is asked for.
function open(on) {
  byId("input").classList.toggle("open", on);
  const button = element.querySelector("button");
  button.setAttribute("aria-expanded", on);
  button.textContent = on ? words.close : words.change;
}

function fold(button) {
  const on = button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", on);
  byId("input").classList.toggle("with-advanced", on);
  if (on) byId("advanced").scrollIntoView({ behavior: motion.matches ? "auto" : "smooth", block: "nearest" });
}

// Gradio's own three buttons stay in the page, out of sight.
async function take(kind) {
  write(".source-note", "");
  const picture = byId("picture");
  if (kind === "Upload") return picture.querySelector("input[type=file]").click();
  if (kind === "Paste") {
    const able = navigator.clipboard && navigator.clipboard.read;
    if (!able) return write(".source-note", words.no_clipboard);
  }
  if (kind === "Capture") {
    picture.querySelector('[aria-label="Remove Image"]')?.click();
    await new Promise(requestAnimationFrame);
  }
  picture.querySelector(`.source-selection button[aria-label^="${kind}"]`)?.click();
  if (kind === "Capture") (await appears(picture, '[title="grant webcam access"] button'))?.click();
}

document.addEventListener("click", (event) => {
  const { target } = event;
  const source = target.closest("#sources button");
  if (source) take(source.dataset.source);
  const folded = target.closest("#advanced-toggle button");
  if (folded) fold(folded);
  if (target.closest("#input-summary button")) open(!byId("input").classList.contains("open"));
  if (target.closest("#adapt")) open(false);
});

window.dgaInput = { show, press, asIs, open };
requestAnimationFrame(() => {
  press(pressed);
  ["corruption", "severity", "rule"].forEach(keepGroup);
});
