// What the screen shows of its value: Gradio changes what differs from what is there.
const page = (window.dgaBoard ??= {});

const sign = (kind) =>
  kind && `<svg viewBox="0 0 12 12" aria-hidden="true">${props.signs[kind]}</svg>`;

function total({ name, title, mark, right, of, marks, why }) {
  const dots = marks.map((on) => `<i${on ? ' class="on"' : ""}></i>`);
  return `<div class="bd-total of-${name}" data-column="${name}"><span class="bd-method">${mark}${title}</span>
    <span class="bd-count">${right === null ? "" : `<b>${right}</b> `}${of || "&nbsp;"}</span>
    <span class="bd-dots" aria-hidden="true">${dots.join("")}</span>
    <span class="bd-why">${why}</span></div>`;
}

function panel(value, numbers) {
  const heads = value.totals.map(
    ({ name, title, mark }) => `<span class="of-${name}" data-column="${name}">${mark}<b>${title}</b></span>`,
  );
  const rows = numbers.map((number, i) => {
    const { family } = value.rows[number];
    const first = family && family !== value.rows[numbers[i - 1]]?.family;
    return (first ? `<h2>${family}</h2>` : "") + rowOf(value, number);
  });
  return `<section class="bd-panel"><div class="bd-head" aria-hidden="true"><span></span>
    ${heads.join("")}</div>${rows.join("")}</section>`;
}

function rowOf(value, number) {
  const row = value.rows[number];
  const kinds = value.kinds.map(
    (kind) => `<option ${kind === row.truth ? "selected" : ""}>${kind}</option>`,
  );
  const pick = `<select value="${row.truth ?? ""}" aria-label="${safe(row.name)}: ${props.words.name}">
    <option value="">${props.words.name}</option>${kinds.join("")}</select>`;
  return `<div class="bd-row" data-row="${number}"><div class="bd-name"><b>${safe(row.name)}</b>
    <span class="bd-under">${row.under}</span>${kinds.length ? pick : ""}</div>
    ${row.cells.map((cell, i) => cellOf(row, cell, value.totals[i])).join("")}</div>`;
}

function cellOf(row, { src, said, how, verdict }, { name, title }) {
  const waiting = src ? props.words.pending : props.words.empty;
  const words = said ? `${said}${verdict && `, ${verdict}`}; ${how}` : waiting;
  const kinds = `bd-cell ${verdict} ${src ? "there" : ""} ${said ? "" : "pending"}`;
  return `<a class="${kinds}" data-column="${name}" ${said ? `href="${safe(row.link)}"` : 'role="img"'}
    aria-label="${safe(`${row.name}, ${title}: ${words}`)}"><img alt="" ${src ? `src="${src}"` : ""}>
    <span class="bd-badge ${verdict}">${sign(verdict)}</span><span class="bd-tip" aria-hidden="true">
    <b class="${verdict}">${sign(verdict)}${safe(said ?? "")}</b><span>${how ?? ""}</span></span>
    ${said ? `<span class="bd-said ${row.file ? "" : "by-touch"}" aria-hidden="true">${safe(row.file ? said : said.replace(/ \d+.%$/, ""))}</span>` : ""}</a>`;
}

page.drawn = (value) => {
  page.value = value;
  return `<p class="bd-notice" role="status">${safe(value.notice)}</p>
    <h1>${value.method ? value.headlines[page.fixedOf(value)] : value.headline}</h1><p class="bd-lead">${value.lead}</p>
    ${value.method ? page.atlas(value) : pictures(value)}`;
};
function pictures(value) {
  const rows = [...value.rows.keys()];
  const weather = value.rows.findIndex(({ family }) => family === "Weather");
  const half = weather > 0 ? weather : Math.ceil(rows.length / 2);
  const panels = [rows.slice(0, half), rows.slice(half)].filter((part) => part.length);
  const counted = value.totals.some(({ of }) => of);
  return `<section class="bd-totals" aria-label="${props.words.right}" ${counted ? "" : "hidden"}>
    ${value.totals.map(total).join("")}</section>
    <div class="bd-panels">${panels.map((part) => panel(value, part)).join("")}</div>`;
}

// The address says what is shown, once the server has answered what it said at first.
function remember() {
  const { image, severity, method: atlas } = props.value;
  const dda = atlas && page.fixed;
  const fields = { image, severity, atlas, dda };
  for (const name in fields) if (fields[name] == null || fields[name] === "") delete fields[name];
  history.replaceState(history.state, "", `${location.pathname}?${new URLSearchParams(fields)}`);
}
watch("value", remember);

element.addEventListener("change", ({ target }) => {
  if (target.type === "file") return;
  const { row } = target.closest(".bd-row").dataset;
  trigger("edit", { ask: page.ask({ row, truth: target.value }) });
});

// An own picture is opened in Try it as if it had been chosen there.
function leave(cell) {
  const { file: path, name } = props.value.rows[cell.closest("[data-row]").dataset.row];
  if (!path) return;
  const url = `./gradio_api/file=${encodeURI(path)}`;
  const picture = { path, url, orig_name: name, meta: { _type: "gradio.FileData" } };
  sessionStorage.setItem("dga-picture", JSON.stringify(picture));
  sessionStorage.setItem("dga-last", "?image=own");
}
element.addEventListener("click", ({ target }) => {
  const cell = target.closest("[data-row] a[href]");
  if (cell) leave(cell);
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
      const { path } = await upload(file);
      files.push({ path, name });
    } catch {
      files.push({ path: "", name }); // the server names it among those left out
    }
  }
  put(said, props.words.dropped);
  if (files.length) trigger("upload", { ask: page.ask({ image: "own", files }) });
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
