// The whole screen follows one value; the line above it is operated from here, too.
const page = (window.dgaBoard ??= {});
let bar = null; // the line above, once it is there
const known = new Map(); // pictures of own rows, by cell, while a value comes without them
// path: what Try it needs to open the same file, after a reload too
const uploads = new Map(JSON.parse(sessionStorage.getItem("dga-board-files") ?? "[]"));
let order = new URLSearchParams(location.search).get("order") ?? "family";
let layout = "";

const token = () => sessionStorage.getItem("dga-board");
page.ask = (wanted = {}) => {
  const { image, severity } = props.value ?? {};
  return JSON.stringify({ image, severity: severity ?? undefined, ...wanted, token: token() });
};

function show() {
  const value = props.value;
  if (!value) return;
  page.value = value;
  if (!(order in value.orders)) order = "family";
  put(find("h1"), value.headline);
  put(find(".bd-lead"), value.lead);
  put(find(".bd-notice"), value.notice);
  showTotals(value);
  showRows(value);
  if (bar) showLine(value);
  const own = value.image === "own";
  find(".bd-command").hidden = !own;
  find(".bd-legend").hidden = !value.rows.length;
  find("input[type=file]").disabled = value.running;
  if (page.opened) remember(value); // before that the address is still to be read
  element.dataset.key = value.key;
}

function remember({ image, severity }) {
  const fields = { image, ...(severity && { severity }), ...(order !== "family" && { order }) };
  history.replaceState(history.state, "", `${location.pathname}?${new URLSearchParams(fields)}`);
}

const columnTitle = (value, column) => (column.name === "damaged" ? value.first : column.title);

function showTotals(value) {
  const list = find(".bd-totals");
  list.hidden = !value.totals.some((total) => total.of);
  list.innerHTML = value.totals
    .map((total, i) => {
      const marks = value.orders[order].map((row) => `<i${total.marks[row] ? ' class="on"' : ""}></i>`);
      const right = total.right === null ? "" : `<b>${total.right}</b> `;
      return `<div class="bd-total" data-column="${total.name}"><span class="bd-method">
        ${props.columns[i].mark}${columnTitle(value, props.columns[i])}</span>
        <span class="bd-count">${right}${total.of || "&nbsp;"}</span>
        <span class="bd-dots" aria-hidden="true">${marks.join("")}</span>
        <span class="bd-why">${total.why}</span></div>`;
    })
    .join("");
}

// Rows are made anew where others are shown or they stand elsewhere; else only filled.
function showRows(value) {
  const rows = value.orders[order];
  const wanted = JSON.stringify([value.key, rows, value.rows.map((row) => row.name)]);
  if (wanted !== layout) {
    layout = wanted;
    if (value.image === "own" && value.rows.some((row) => row.cells[0].src)) known.clear();
    makeRows(value, rows);
  }
  for (const [number, row] of value.rows.entries()) {
    const line = find(`.bd-row[data-row="${number}"]`);
    put(line.querySelector(".bd-under"), row.under);
    const pick = line.querySelector("select");
    if (pick && document.activeElement !== pick) pick.value = row.truth ?? "";
    for (const [i, column] of props.columns.entries()) {
      const id = `${value.key} ${number} ${i}`;
      const cell = { ...row.cells[i] };
      if (cell.src) known.set(id, cell.src);
      else if (value.image === "own" && known.has(id)) cell.src = known.get(id);
      fillCell(line.querySelectorAll(".bd-cell")[i], cell, row, columnTitle(value, column), value);
    }
  }
}

function makeRows(value, rows) {
  const panels = find(".bd-panels");
  panels.replaceChildren();
  const families = order === "family" && value.rows[0]?.family;
  const half = families
    ? rows.findIndex((number) => value.rows[number].family === "Weather")
    : Math.ceil(rows.length / 2);
  for (const part of [rows.slice(0, half), rows.slice(half)]) {
    if (!part.length) continue;
    const panel = panels.appendChild(document.createElement("section"));
    panel.className = "bd-panel";
    const heads = props.columns.map(
      (column) =>
        `<span data-column="${column.name}">${column.mark}<b>${columnTitle(value, column)}</b></span>`,
    );
    panel.innerHTML = `<div class="bd-head" aria-hidden="true"><span></span>${heads.join("")}</div>`;
    let family = "";
    for (const number of part) {
      const row = value.rows[number];
      if (families && row.family !== family) {
        family = row.family;
        panel.appendChild(document.createElement("h2")).textContent = family;
      }
      panel.appendChild(newRow(value, row, number));
    }
  }
}

function newRow(value, row, number) {
  const line = document.createElement("div");
  line.className = "bd-row";
  line.dataset.row = number;
  line.innerHTML = '<div class="bd-name"><b></b><span class="bd-under"></span></div>';
  line.querySelector("b").textContent = row.name;
  if (value.kinds.length) {
    const pick = line.firstChild.appendChild(document.createElement("select"));
    pick.setAttribute("aria-label", `${row.name}: ${props.words.name}`);
    pick.append(new Option(props.words.name, ""), ...value.kinds.map((kind) => new Option(kind)));
    pick.addEventListener("change", () =>
      trigger("edit", { ask: page.ask(), row: number, truth: pick.value }),
    );
  }
  line.append(...props.columns.map(newCell));
  return line;
}

function showLine(value) {
  const chosen = bar.querySelector(`[data-image="${value.image}"]`);
  const thumb = bar.querySelector(".bd-what > img");
  const own = value.image === "own";
  thumb.hidden = own;
  if (!own) thumb.src = chosen.querySelector("img").src;
  const name = chosen.textContent.trim();
  bar.querySelector(".bd-title").innerHTML = "<b></b>";
  bar.querySelector(".bd-title b").textContent = name;
  bar.querySelector(".bd-title").append(own ? "" : props.words.detail);
  for (const radio of bar.querySelectorAll("[name=bd-severity]")) {
    radio.checked = Number(radio.value) === value.severity;
    radio.disabled = value.running || own;
  }
  for (const radio of bar.querySelectorAll("[name=bd-order]")) radio.checked = radio.value === order;
  for (const button of bar.querySelectorAll("[data-image]")) {
    button.disabled = value.running;
    button.setAttribute("aria-pressed", button === chosen);
  }
  bar.querySelector('[data-tool="table"]').disabled = !value.csv;
  const zip = bar.querySelector('[data-tool="zip"]');
  zip.hidden = !own;
  zip.disabled = !value.zip;
}

function saveTable({ csv, file }) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
  link.download = `${file}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function operate() {
  bar = document.querySelector("#board-line:has(.bd-change)");
  if (!bar) {
    requestAnimationFrame(operate);
    return;
  }
  bar.addEventListener("change", ({ target }) => {
    if (target.name === "bd-severity") {
      trigger("select", { ask: page.ask({ severity: Number(target.value) }) });
    } else if (target.name === "bd-order") {
      order = target.value;
      show();
    }
  });
  bar.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button?.dataset.image) {
      bar.querySelector("details").open = false;
      const severity = props.value?.severity ?? undefined;
      trigger("select", { ask: page.ask({ image: button.dataset.image, severity }) });
    }
    if (button?.dataset.tool === "table") saveTable(page.value);
    if (button?.dataset.tool === "zip") trigger("download", { ask: page.ask() });
  });
  document.addEventListener("click", ({ target }) => {
    const menu = bar.querySelector("details");
    if (!menu.contains(target)) menu.open = false;
  });
  bar.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") bar.querySelector("details").open = false;
  });
  show();
}
operate();

// An own picture is opened in Try it as if it had been chosen there.
element.addEventListener("click", ({ target }) => {
  const cell = target.closest("a[href='./']");
  const row = cell && page.value.rows[cell.closest(".bd-row").dataset.row];
  const file = row && uploads.get(row.file);
  if (file) sessionStorage.setItem("dga-picture", JSON.stringify(file));
});

// Each file is a request of its own, so that the server's limits hold for each.
async function send(chosen) {
  const files = [];
  const all = [...chosen];
  const said = find(".bd-sending");
  for (const [done, file] of all.slice(0, props.most + 1).entries()) {
    put(said, fill(props.words.uploading, { done: done + 1, total: Math.min(all.length, props.most) }));
    const name = file.name;
    if (done === props.most) {
      files.push({ name }); // the server says that there were more
      break;
    }
    try {
      const { path, url } = await upload(file);
      files.push({ path, name });
      uploads.set(path, { path, url, orig_name: name, meta: { _type: "gradio.FileData" } });
    } catch {
      files.push({ path: "", name }); // the server names it among those left out
    }
  }
  sessionStorage.setItem("dga-board-files", JSON.stringify([...uploads].slice(-4 * props.most)));
  put(said, props.words.dropped);
  if (files.length) trigger("upload", { ask: page.ask({ image: "own" }), files });
}

const drop = find(".bd-drop");
drop.querySelector("input").addEventListener("change", ({ target }) => {
  send(target.files).finally(() => (target.value = ""));
});
for (const name of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", name === "dragover");
    if (name === "drop" && !page.value?.running) send(event.dataTransfer.files);
  });
}

watch("value", show);
show();
