// Results: folds that an address opens, and figures drawn when their fold is opened.
import { all, data, find, make, put } from "./base.js";

const { figures } = data();
const LOST = "The figure could not be drawn here. The table has its numbers.";

/** What the address names is opened and shown; what the page does not have is said. */
function openTarget() {
  const name = location.hash.slice(1);
  const target = document.getElementById(name);
  const unknown = name && !target;
  const notice = `This page has no “${name}”. Here are the answers from the top.`;
  put(find(".notice"), unknown ? notice : "");
  if (unknown) scrollTo(0, 0);
  if (!target) return;
  for (let fold = target; fold; fold = fold.parentElement.closest("details")) {
    if (fold.tagName === "DETAILS") fold.open = true;
  }
  if (name !== "main") target.scrollIntoView();
}

/** A figure with each colour's variable replaced by what it is in this theme. */
function paint(figure) {
  const style = getComputedStyle(document.body);
  const color = (name) => style.getPropertyValue(name).trim();
  const readColor = (_, name) => JSON.stringify(color(name));
  const text = JSON.stringify(figure).replace(/"(--[a-z0-9]+)"/g, readColor);
  const { data: traces, layout } = JSON.parse(text);
  const font = { color: color("--ink") };
  const hoverlabel = { bgcolor: color("--card"), bordercolor: color("--line2"), font };
  return [traces, { ...layout, hoverlabel, font: { ...layout.font, family: style.fontFamily } }];
}

let library;
function loadPlotly() {
  library ??= new Promise((resolve, reject) => {
    const script = make("script", { src: "plotly.js", async: true });
    script.onload = () => (window.Plotly ? resolve(window.Plotly) : reject());
    script.onerror = reject;
    document.head.append(script);
  });
  return library;
}

const drawn = new Set();
const resize = new ResizeObserver((changes) => {
  for (const { target } of changes) if (target.offsetWidth) window.Plotly.Plots.resize(target);
});

async function drawFigure(node) {
  if (drawn.has(node)) return;
  drawn.add(node);
  try {
    const plotly = await loadPlotly();
    await plotly.newPlot(node, ...paint(figures[node.dataset.figure]), { displayModeBar: false });
    resize.observe(node);
  } catch {
    drawn.delete(node);
    node.replaceWith(make("p", { class: "quiet", id: node.id }, LOST));
  }
}

for (const fold of all("details.fold")) {
  fold.addEventListener("toggle", () => {
    const plot = find(":scope > .plot", fold);
    if (fold.open && plot) drawFigure(plot);
  });
}
for (const link of all('a[href^="results#"]')) {
  link.addEventListener("click", () => {
    if (link.hash === location.hash) openTarget();
  });
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const node of drawn) window.Plotly?.react(node, ...paint(figures[node.dataset.figure]));
});
for (const node of all(".address")) put(node, document.baseURI);
addEventListener("hashchange", openTarget);
openTarget();
