// Results: what an address names, the readings behind each bar, figures of tables and of one's own runs.
import { all, capitalise, data, draw, find, getJson } from "./base.js";
import { make, put, receiveFiles } from "./base.js";
import { summarise } from "./results-own.js";

const { figures, kinds, methods, onRepair } = data();

/** What the address names is opened and shown. */
function openTarget() {
  const name = location.hash.slice(1);
  const target = document.getElementById(name);
  if (!target) return;
  for (let fold = target; fold; fold = fold.parentElement.closest("details")) {
    if (fold.tagName === "DETAILS") fold.open = true;
  }
  const setting = target.closest(".setting");
  const { condition, strength } = setting?.dataset ?? {};
  for (const value of setting ? [condition, strength] : [])
    find(`.choose [value="${value}"]`).click();
  if (name !== "main") (target === setting ? find("#help") : target).scrollIntoView();
}

function showSetting() {
  const chosen = all(".choose :checked").map(({ value }) => value);
  const isChosen = ({ dataset }) => chosen.join() === [dataset.condition, dataset.strength].join();
  for (const setting of all(".setting")) setting.hidden = !isChosen(setting);
  put(find("h1"), all(".setting").find(isChosen)?.dataset.title ?? "This was not measured.");
}
for (const group of all(".choose")) group.addEventListener("change", showSetting);

// ---- What lies behind a bar

const dialog = find("#behind");

/** Readings that a method changed, and how many it left right and wrong. */
function compareReadings({ pictures, labels, readings }, kind, method) {
  const changes = { gained: [], lost: [], right: 0, wrong: 0 };
  const chosen = kind === "mean" ? Object.keys(readings).filter((one) => one !== "clean") : [kind];
  const name = ([label, share]) => `${labels[label]}, ${share} %`;
  for (const one of chosen) {
    const { source = [], [method]: others = [] } = readings[one] ?? {};
    pictures.forEach(([path, truth], place) => {
      const [before, after] = [source[place], others[place]];
      if (!before || !after) return;
      if (before[2] === after[2]) return changes[after[2] ? "right" : "wrong"]++;
      const cells = [kinds[one] ?? one, truth, name(before), name(after), path.split("/").at(-1)];
      changes[after[2] ? "gained" : "lost"].push(cells);
    });
  }
  return changes;
}

function tabulate(title, rows, isMixed) {
  const names = ["Damage", "It shows", "Read before", "Read after", "Photograph"];
  const pick = (cells) => (isMixed ? cells : cells.slice(1));
  const head = pick(names).map((name) => make("th", { scope: "col" }, name));
  const lines = rows.map((cells) =>
    make("tr", {}, ...pick(cells).map((cell) => make("td", {}, cell))),
  );
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...head)));
  table.append(make("tbody", {}, ...lines));
  const region = { class: "scroll", tabindex: 0, role: "region", "aria-label": title };
  return [make("h3", {}, `${title}: ${rows.length}`), ...(rows.length ? [make("div", region, table)] : [])];
}

async function showBehind({ exhibit, kind, method }) {
  const [words, place] = [find("#behind-words"), find("#behind-tables")];
  const what = kind === "mean" ? "All kinds" : kinds[kind];
  put(find("#behind-title"), `${what}: ${methods[method]}`);
  put(words, "…");
  place.replaceChildren();
  dialog.showModal();
  try {
    const tables = await getJson("results-files/photo/results-readings.json");
    const changes = compareReadings(tables[exhibit], kind, method);
    put(
      words,
      `${changes.right} stay right and ${changes.wrong} stay wrong. ImageNet’s photographs may not be ` +
        "shown here, and are named by their files. ",
    );
    const strength = exhibit.split("-").at(-1);
    const address = `.?photo=goldfish&damage=${kind}&strength=${strength}`;
    if (onRepair.includes(kind))
      words.append(make("a", { href: address }, "This damage on a photograph that may be"));
    place.append(
      ...tabulate("Became right", changes.gained, kind === "mean"),
      ...tabulate("Became wrong", changes.lost, kind === "mean"),
    );
  } catch (error) {
    put(words, `The readings could not be loaded. ${error.message}`);
  }
}
for (const button of all("button.behind")) {
  button.addEventListener("click", () => showBehind(button.dataset));
}

// ---- Figures, drawn by plotly.js

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

let library = null;
function loadPlotly() {
  library ??= new Promise((load, error) => {
    document.head.append(make("script", { src: "plotly.js", load, error }));
  });
  return library;
}

async function drawFigure(node) {
  try {
    await loadPlotly();
    await window.Plotly.newPlot(node, ...paint(figures[node.dataset.figure]), { displayModeBar: false });
  } catch {
    const lost = "The figure could not be drawn here. The table has its numbers.";
    node.replaceWith(make("p", { class: "quiet", id: node.id }, lost));
  }
}

// Its size changes when its fold is opened, too.
const sizes = new ResizeObserver((changes) => {
  for (const { target, contentRect } of changes) if (contentRect.width) drawFigure(target);
});
for (const node of all(".plot")) sizes.observe(node);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const node of all(".js-plotly-plot")) drawFigure(node);
});

// ---- One's own results, which stay in this browser

/** As the charts above, of shares in per cent. */
function drawLine({ label, cells, start, end, low, high }) {
  const at = (share) => `${share}%`;
  const line = (from, to, kind = "") =>
    draw("line", { class: kind, x1: at(from), x2: at(to), y1: 11, y2: 11 });
  const svg = draw("svg", { class: "ours", "aria-hidden": "true" });
  svg.append(draw("rect", { y: 8, width: "100%", height: 6, rx: 3 }));
  if (low !== undefined) svg.append(line(low, high, "interval"));
  if (start !== undefined)
    svg.append(line(start, end), draw("circle", { class: "before", cx: at(start), cy: 11, r: 5 }));
  svg.append(draw("circle", { cx: at(end), cy: 11, r: 6 }));
  return make("li", {}, make("span", {}, label), svg, ...cells.map((cell) => make("b", {}, cell)));
}

async function showOwn(files) {
  if (!files.length) return;
  let answer;
  try {
    answer = summarise(await Promise.all(files.map((file) => file.text())));
  } catch (error) {
    answer = { sentence: error.message, heads: [], lines: [] };
  }
  put(find("#own-words"), answer.sentence);
  const name = ({ label, ...line }) => ({ ...line, label: kinds[label] ?? capitalise(label.replaceAll("_", " ")) });
  const heads = answer.heads.map((head) => make("b", {}, head));
  const lines = answer.lines.map(name).map(drawLine);
  find("#own-chart").replaceChildren(make("li", { class: "heads" }, ...heads), ...lines);
  find("#own").scrollIntoView();
}
receiveFiles(find("#own-file"), showOwn);

addEventListener("hashchange", openTarget);
openTarget();
