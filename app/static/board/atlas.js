// The atlas: rows by depths, right or wrong, own depths as dots, the fixed depth a line to drag.
const COLUMNS = 10; // of a row's sheet
const asked = new URLSearchParams(location.search).get("dda");
if (/^[1-9]?\d$/.test(asked)) page.fixed = Number(asked);
let stop = [0, 0]; // the cell that Tab reaches: row, depth
let open = null; // the one whose pictures are shown
let [soon, later, frame, going] = [0, 0, 0, 0];
const sheets = new Map();
const depths = () => props.value.counts.length;
page.fixedOf = ({ fixed, counts }) => {
  if (page.fixed >= counts.length) page.fixed = undefined; // by an address
  return Math.min(page.fixed ?? fixed, counts.length - 1);
};
const middle = (depth) => `${(100 * (depth + 0.5)) / depths()}%`;
const share = (part) => `--s:${Math.round(100 * clamp((part - 0.2) / 0.75, 0, 1))}%`;
const kindOf = ({ right }, depth) => (right.length ? (right[depth] ? "right" : "wrong") : "sure");

function cellAt(row, number, depth, failed) {
  if (!row.said) return `<i class="at-cell ${failed ? "missing" : ""}" role="gridcell"></i>`;
  const [label, part] = row.said[depth];
  const kind = kindOf(row, depth);
  const name = `${row.name}, ${props.words.depth} ${depth}: ${label} ${percent(part)}${row.right.length ? `, ${kind}` : ""}`;
  const own = depth === row.own;
  return `<a class="at-cell ${kind}" role="gridcell" tabindex="${number === stop[0] && depth === stop[1] ? 0 : -1}"
    data-depth="${depth}" style="${share(part)}" href="${safe(row.link)}&amp;depth=${depth}" aria-label="${safe(name)}${own ? `, ${props.words.own_depth}` : ""}">${own ? `<i class="at-own ${row.sure ? "" : "unsure"}"></i>` : ""}</a>`;
}

function legend(value) {
  const shades = (kind) => [0, 33, 67, 100].map((s) => `<i class="at-cell ${kind}" style="--s:${s}%"></i>`).join("");
  const filled = value.rows.filter((row) => row.said);
  const told = filled.some((row) => row.right.length) ? ["right", "wrong"] : [];
  if (filled.some((row) => !row.right.length)) told.push("sure");
  return `${told.map((kind) => `<span>${shades(kind)}${props.words[`legend_${kind}`]}</span>`).join("")}
    <span><i class="at-own"></i>${props.words.own_depth}</span>
    <span><i class="at-own unsure"></i>${props.words.unsure}</span>
    <span class="of-dda">${props.marks.dda}${props.words.drag}</span>`;
}

page.atlas = (value) => {
  const { words } = props;
  const [fixed, all] = [page.fixedOf(value), value.counts.map((_, depth) => depth)];
  const title = fill(words.fixed, { depth: fixed });
  const best = value.counts.indexOf(Math.max(...value.counts));
  if (!value.rows[stop[0]]?.said) stop = [Math.max(0, value.rows.findIndex((row) => row.said)), 0];
  const rows = value.rows.map((row, i) => {
    const first = row.family && row.family !== value.rows[i - 1]?.family;
    const verdict = (depth) => (row.right?.length ? sign(kindOf(row, depth)) : "");
    return `${first ? `<div class="at-family" aria-hidden="true"><span>${row.family}</span></div>` : ""}
      <div class="at-row" role="row" data-row="${i}"><b class="at-name" role="rowheader" title="${safe(row.name)}">${safe(row.name)}</b>
      ${all.map((depth) => cellAt(row, i, depth, value.failed)).join("")}
      <span class="at-sign">${verdict(row.own)}</span><span class="at-sign">${verdict(fixed)}</span>
      <span class="at-range">${row.right?.length ? `${row.right.filter(Boolean).length} ${fill(words.of, { known: depths() })}` : ""}</span></div>`;
  });
  const bars = all.map((depth) => {
    const count = value.counts[depth];
    const told = depth === fixed || depth === best || depth === 0 ? count : "";
    return `<i class="at-bar ${depth === fixed ? "on" : ""}" style="--h:${(100 * count) / (value.known || 1)}%"><b>${told}</b></i>`;
  });
  const total = (count, name) => `<span class="at-total"><b>${count}</b>${name}</span>`;
  return `<p class="at-legend" ${value.rows.some((row) => row.said) ? "" : "hidden"}>${legend(value)}</p>
    <section class="bd-panel at ${value.known ? "" : value.rows.some((row) => row.truth) ? "unread" : "bare"}" ${value.rows.length ? "" : "hidden"}><div class="at-grid" style="--at:${middle(fixed)}">
    <div class="at-row at-head"><span class="at-name"></span><div class="at-track"><button type="button" class="at-fixed of-dda"
    role="slider" aria-label="${fill(words.fixed, { depth: "" }).trim()}" aria-valuemin="0" aria-valuemax="${depths() - 1}"
    aria-valuenow="${fixed}" aria-valuetext="${value.known ? `${title}: ${value.counts[fixed]} ${words.count}` : title}">${props.marks.dda}<b>${title}</b></button></div>
    <b class="own">${words.own_column}</b><b class="of-dda">${fixed}</b><b>${words.range}</b></div>
    <div class="at-body" role="grid" aria-label="${words.atlas}">${rows.join("")}
    <div class="at-over" aria-hidden="true"><i class="at-line"></i></div></div>
    <div class="at-row at-foot" role="img" aria-label="${words.at_each}, ${all.map((depth) => `${depth}: ${value.counts[depth]}`).join(", ")}">
    <span class="at-name"><b>${words.at_each}</b>${fill(words.of, value)}</span>${bars.join("")}
    ${total(value.own, words.count)}${total(value.counts[fixed], words.count)}${total(value.best, words.possible)}</div>
    <div class="at-row at-axis" aria-hidden="true"><span class="at-name">${words.depth}</span>
    ${all.map((depth) => `<i>${depth % 4 ? "" : depth}</i>`).join("")}</div></div></section>`;
};

function fix(depth) {
  page.fixed = clamp(depth, 0, depths() - 1);
  find(".at-grid").style.setProperty("--at", middle(page.fixed)); // the line at once, the rest in a frame
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => (props.redrawn = page.fixed)); // any change makes Gradio draw
  clearTimeout(later);
  later = setTimeout(remember, 300); // a browser counts how often an address changes
}
function drag(event) {
  const { left, width } = find(".at-track").getBoundingClientRect();
  fix(Math.floor(((event.clientX - left) / width) * depths()));
}
element.addEventListener("pointerdown", (event) => event.target.closest(".at-fixed") && follow(element, event, drag));
const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
element.addEventListener("keydown", (event) => {
  const by = ARROWS[event.key];
  const end = { Home: 0, End: depths() - 1 }[event.key];
  const cell = event.target.closest(".at-cell");
  if ((!by && end === undefined) || !(cell || event.target.closest(".at-fixed"))) return;
  event.preventDefault();
  if (!cell) return fix(end ?? page.fixedOf(props.value) + (by[1] || -by[0]) * (event.shiftKey ? 5 : 1));
  let [row, depth] = stop;
  do row += by?.[0] ?? 0; while (by?.[0] && props.value.rows[row] && !props.value.rows[row].said);
  depth = clamp(end ?? depth + by[1], 0, depths() - 1);
  if (props.value.rows[row]) find(`[data-row="${row}"] [data-depth="${depth}"]`).focus();
});

// What a cell holds: the damaged and the rebuilt picture, fetched a row at a time.
const pop = document.body.appendChild(Object.assign(document.createElement("div"), { className: "at-pop", hidden: true }));
const sheetKey = (row) => `${props.value.key} ${props.value.rows[row]?.file} ${row}`;
page.sheet = ({ key, row, src }) => {
  clearTimeout(going);
  going = 0;
  if (key === props.value.key) sheets.set(sheetKey(row), src);
  if (open) show(open); // its row may have had to wait
};
function show(cell) {
  clearTimeout(soon);
  const row = cell && props.value.rows[cell[0]];
  open = row?.said && depths() ? cell : null;
  pop.hidden = !open;
  if (!open) return;
  const [number, depth] = open;
  const sheet = sheets.get(sheetKey(number));
  if (!sheet && !going) {
    going = setTimeout(() => (going = 0), 5000); // nothing came
    trigger("expand", { ask: page.ask({ row: number }) });
  }
  const tile = (k) => {
    const at = `${(100 * (k % COLUMNS)) / (COLUMNS - 1)}% ${(100 * Math.floor(k / COLUMNS)) / (Math.ceil(depths() / COLUMNS) - 1)}%`;
    const [label, part] = row.said[k];
    const verdict = kindOf(row, k);
    return `<figure><i style="${sheet ? `background-image:url(${sheet});background-position:${at}` : ""}"></i>
      <figcaption class="${verdict}">${verdict === "sure" ? "" : sign(verdict)}<b>${safe(label)}</b> ${percent(part)}</figcaption></figure>`;
  };
  pop.innerHTML = `<div>${tile(0)}<span>→</span>${tile(depth)}</div><p><b>${safe(row.name)}, ${props.words.depth} ${depth}</b>
    <span>${props.words.own_depth}: ${row.own}</span></p><a data-row="${number}" href="${safe(row.link)}&amp;depth=${depth}">${props.words.open}</a>`;
  const { left, right, top, bottom } = find(`[data-row="${number}"] [data-depth="${depth}"]`).getBoundingClientRect();
  const half = pop.offsetWidth / 2;
  pop.style.left = `${clamp((left + right) / 2, half + 8, innerWidth - half - 8)}px`;
  pop.style.top = `${bottom + pop.offsetHeight + 12 > innerHeight ? top - pop.offsetHeight - 8 : bottom + 8}px`;
}
const pointed = (event) => {
  const cell = event.target.closest?.("a.at-cell");
  return cell && [Number(cell.closest("[data-row]").dataset.row), Number(cell.dataset.depth)];
};
const byTouch = matchMedia("(hover: none)");
element.addEventListener("pointerover", (event) => {
  if (byTouch.matches) return;
  clearTimeout(soon);
  const cell = pointed(event);
  soon = setTimeout(show, 120, cell);
});
element.addEventListener("pointerleave", () => byTouch.matches || show(null));
element.addEventListener("focusin", (event) => {
  const cell = pointed(event);
  if (!cell) return;
  const before = find('.at-cell[tabindex="0"]');
  if (before) before.tabIndex = -1;
  event.target.tabIndex = 0;
  stop = cell;
  if (event.target.matches(":focus-visible")) show(cell);
});
document.addEventListener("click", (event) => {
  const cell = pointed(event);
  if (cell && byTouch.matches) event.preventDefault();
  if (byTouch.matches && !pop.contains(event.target)) show(cell);
});
document.addEventListener("scroll", () => byTouch.matches || (open && show(open)), true);
document.addEventListener("keydown", ({ key }) => key === "Escape" && show(null));
pop.addEventListener("click", ({ target }) => target.closest("a") && leave(target.closest("a")));
// Where the panel is wider than the screen it opens at the fixed depth, beside the names.
let opened = false;
function opens() {
  const [panel, names, fixed] = [".at", ".at-name", ".at-fixed"].map((part) => find(part)?.getBoundingClientRect());
  if (panel && !opened) find(".at").scrollLeft += (fixed.left + fixed.right - names.right - panel.right) / 2;
  opened = Boolean(panel?.width);
}
watch("value", () => { show(null); requestAnimationFrame(opens); });
requestAnimationFrame(opens);
props.redrawn = 0; // what Gradio drew before it knew how
