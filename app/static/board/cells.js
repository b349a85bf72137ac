// Pictures of a row: drawn from a sheet or an address of their own, with a verdict and a tip.
let sheet = null; // [address, picture]

async function picture(address) {
  if (sheet?.[0] === address) return sheet[1];
  const image = new Image();
  image.src = address;
  await image.decode();
  return image;
}

async function paint(canvas, cell, value) {
  const turn = (canvas.turn = (canvas.turn ?? 0) + 1);
  if (value.sheet && !cell.src && sheet?.[0] !== value.sheet) {
    sheet = [value.sheet, picture(value.sheet)];
  }
  const image = await picture(cell.src ?? value.sheet);
  if (canvas.turn !== turn) return; // a later one was faster
  const { size } = value;
  const across = image.width / size;
  const at = cell.src ? 0 : cell.at;
  canvas.width = canvas.height = size;
  const from = [(at % across) * size, Math.floor(at / across) * size];
  canvas.getContext("2d").drawImage(image, ...from, size, size, 0, 0, size, size);
}

const sign = (kind) => `<svg viewBox="0 0 12 12" aria-hidden="true">${props.signs[kind]}</svg>`;

function newCell(column) {
  const cell = document.createElement("a");
  cell.className = "bd-cell";
  cell.dataset.column = column.name;
  cell.innerHTML =
    '<canvas width="1" height="1"></canvas><span class="bd-badge"></span>' +
    '<span class="bd-tip" aria-hidden="true"><b></b><span></span></span>';
  return cell;
}

function fillCell(node, cell, row, column, value) {
  const told = JSON.stringify([cell, row.link, row.file, value.sheet.length]);
  if (node.told === told) return;
  node.told = told;
  if (cell.src || cell.at !== undefined) {
    paint(node.querySelector("canvas"), cell, value);
    node.classList.add("there");
  }
  const badge = node.querySelector(".bd-badge");
  badge.className = `bd-badge ${cell.verdict}`;
  badge.innerHTML = cell.verdict ? sign(cell.verdict) : "";
  node.classList.toggle("right", cell.verdict === "right");
  node.classList.toggle("pending", !cell.said);
  const tip = node.querySelectorAll(".bd-tip > *");
  tip[0].className = cell.verdict;
  tip[0].innerHTML = cell.verdict ? sign(cell.verdict) : "";
  tip[0].append(cell.said ?? "");
  tip[1].textContent = cell.how ?? "";
  const waiting = node.classList.contains("there") ? props.words.pending : props.words.empty;
  const words = cell.said ? `${cell.said}${cell.verdict && `, ${cell.verdict}`}; ${cell.how}` : waiting;
  node.setAttribute("aria-label", `${row.name}, ${column}: ${words}`);
  const link = row.link || (row.file ? "./" : "");
  if (cell.said && link) {
    node.href = link;
    node.removeAttribute("role");
  } else {
    node.removeAttribute("href");
    node.setAttribute("role", "img");
  }
}
