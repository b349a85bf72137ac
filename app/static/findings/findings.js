// Tables: a header sorts one way, then the other, then back to the order they came in.
function sort(header) {
  const table = header.closest("table");
  const body = table.tBodies[0];
  const numeric = header.classList.contains("n");
  const read = (row) => {
    const text = row.cells[header.cellIndex].textContent.trim();
    if (text === "–") return null;
    return numeric ? Number(/^[+−-]?\d+(\.\d+)?/.exec(text)[0].replace("−", "-")) : text;
  };
  const turns = numeric ? ["descending", "ascending"] : ["ascending", "descending"];
  const turn = turns[turns.indexOf(header.getAttribute("aria-sort")) + 1];
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  if (turn) header.setAttribute("aria-sort", turn);
  const sign = turn === "descending" ? -1 : 1;
  const rows = [...body.rows];
  rows.forEach((row, place) => (row.dataset.place ??= place));
  rows.sort((a, b) => {
    const placed = a.dataset.place - b.dataset.place;
    if (!turn) return placed;
    const [x, y] = [read(a), read(b)];
    if (x === null || y === null) return (x === null) - (y === null) || placed;
    return sign * (numeric ? x - y : x.localeCompare(y)) || placed;
  });
  body.append(...rows);
}

async function copy(button) {
  const lines = button.parentElement.querySelector("pre");
  const text = [...lines.children].map((line) => line.textContent).join("\n");
  try {
    await navigator.clipboard.writeText(text);
    copied(button);
  } catch {
    // Without https there is no clipboard: select, so that the keyboard can copy.
    window.getSelection().selectAllChildren(lines);
  }
}

element.addEventListener("click", (event) => {
  const header = event.target.closest(".ex-table th[scope=col]");
  if (header) sort(header);
  const button = event.target.closest(".copy-lines");
  if (button) copy(button);
  const link = event.target.closest('a[href^="./findings#"]');
  if (!link) return;
  event.preventDefault();
  goTo(link.hash);
  unfold();
});

// Figures: the library and a figure's JSON come when its fold is opened, else its picture does.
const texts = {};
const figure = (address) => (texts[address] ??= fetched(address).then((answer) => answer.text()));
let library;
function plotly() {
  if (!props.plotly.length) throw new Error("not installed");
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    [script.src] = props.plotly;
    script.onload = () => resolve(window.Plotly);
    script.onerror = reject;
    document.head.append(script);
  });
  return library;
}

// As the file has it, in the page's font and in the colours of its theme.
function themed(text) {
  const style = getComputedStyle(element);
  const color = (name) => style.getPropertyValue(name).trim();
  for (const [drawn, name] of Object.entries(props.colors)) text = text.replaceAll(drawn, color(name));
  const { data, layout } = JSON.parse(text);
  const family = style.fontFamily;
  const hoverlabel = { bgcolor: color("--card"), bordercolor: color("--line2"), font: { family, color: color("--ink") } };
  // A click in the legend hides a line in every panel, and its band, which comes before it.
  data.forEach((trace, i) => (trace.legendgroup = trace.name ?? data[i + 1]?.name));
  const modebar = { bgcolor: "transparent", color: color("--ink3"), activecolor: color("--acc") };
  // A finger that scrolls must not zoom.
  const dragmode = matchMedia("(hover: none)").matches ? false : "zoom";
  return [data, { ...layout, font: { ...layout.font, family }, dragmode, hoverlabel, modebar, uirevision: true }];
}

const drawn = new Map();
const buttons = [["zoomIn2d", "zoomOut2d", "resetScale2d"]];
const resized = new ResizeObserver((changes) => {
  for (const { target } of changes) if (target.offsetWidth) window.Plotly.Plots.resize(target);
});
async function draw(node) {
  if (drawn.has(node)) return;
  drawn.set(node, "");
  try {
    const [text, lib] = await Promise.all([figure(node.dataset.figure), plotly()]);
    const bar = !matchMedia("(hover: none)").matches && "hover";
    await lib.newPlot(node, ...themed(text), { displaylogo: false, modeBarButtons: buttons, displayModeBar: bar });
    drawn.set(node, text);
    resized.observe(node);
  } catch {
    node.replaceWith(node.querySelector("template")?.content ?? "");
  }
}
new MutationObserver(() => {
  for (const [node, text] of drawn) if (text) window.Plotly.react(node, ...themed(text));
}).observe(document.body, { attributeFilter: ["class"] });

// What a figure shows as a table: a row a point.
async function list(fold) {
  if (fold.querySelector("table")) return;
  const { data, layout } = JSON.parse(await figure(fold.dataset.figure));
  const axis = (trace, letter) => layout[`${letter}axis${(trace[`${letter}axis`] ?? letter).slice(1)}`] ?? {};
  const titles = (letter) => {
    const axes = Object.keys(layout).filter((name) => name.startsWith(`${letter}axis`));
    return [...new Set(axes.map((name) => layout[name].title?.text).filter(Boolean))].join(" / ") || letter;
  };
  const panel = (trace) =>
    layout.annotations?.find((words) => words.yref === `${trace.yaxis ?? "y"} domain`)?.text.replace(/<.+?>/g, " ");
  const rows = data.flatMap((trace, i) => {
    if (trace.hoverinfo === "skip") return [];
    const band = data[i - 1]?.hoverinfo === "skip" && data[i - 1].y;
    return trace.x.map((x, at) => {
      const cells = { panel: panel(trace), series: trace.name, x, y: trace.y[at] };
      for (const letter of ["x", "y"]) {
        const { tickvals, ticktext } = axis(trace, letter);
        if (!ticktext || !isNaN(ticktext[0])) continue;
        cells.series ||= ticktext[tickvals.indexOf(cells[letter])];
        delete cells[letter];
      }
      cells.interval = trace.text?.[at].replace(/.*\((.*)\)/, "$1");
      if (band) cells.interval = `${band.at(-1 - at)} to ${band[at]}`;
      return cells;
    });
  });
  const heads = { panel: props.words.panel, series: props.words.series, x: titles("x"), y: titles("y"), interval: props.words.interval };
  const kept = Object.keys(heads).filter((name) => rows.some((row) => ![undefined, ""].includes(row[name])));
  const type = (name) => ("xy".includes(name) ? "n" : "");
  const cell = (text, name) => `<td class="${type(name)}">${safe(String(text ?? "–").replace(/^-/, "−"))}</td>`;
  const head = kept.map((name) => `<th scope="col" class="${type(name)}"><button type="button">${safe(heads[name])}</button></th>`);
  const body = rows.map((row) => `<tr>${kept.map((name) => cell(row[name], name)).join("")}</tr>`);
  const label = safe(fold.parentElement.firstElementChild.textContent);
  fold.insertAdjacentHTML("beforeend", `<div class="ex-table" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("")}</tbody></table></div>`);
}

// A chart is open where it stands beside its answer, of all severities or of none.
const beside = matchMedia("(min-width: 1100px)");
const opened = (card, open) => card.querySelectorAll(".fi-how").forEach((fold) => { fold.open = open; });
const fit = () => opened(element, beside.matches);
beside.addEventListener("change", fit);
fit();

element.addEventListener("toggle", ({ target }) => {
  if (target.matches(".fi-how")) opened(target.closest(".fi-card"), target.open);
  if (!target.open) return;
  if (target.id === "all") listed();
  const node = target.matches(".ex") && target.querySelector(".ex-plot");
  if (node) draw(node);
  if (target.matches(".ex-numbers")) list(target).catch(() => target.remove());
}, true);

// All tables and figures come when somebody wants to see one.
const exhibits = find("#all ul");
let every;
const listed = () => (every ??= json(props.listing).then(
  (html) => { exhibits.innerHTML = html; },
  () => { every = null; put(exhibits, props.words.lost); },
));

// What the address names is opened and shown; of two severities' tables only one is there.
async function unfold() {
  if (strayed() && exhibits) await listed();
  put(find(".notice"), strayed());
  const wanted = document.getElementById(anchor());
  if (!wanted) return;
  for (let fold = wanted; fold; fold = fold.parentElement.closest("details")) fold.open = true;
  wanted.scrollIntoView();
}
window.addEventListener("hashchange", unfold);
unfold();
