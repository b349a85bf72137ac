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

// What the address names is opened and shown; of two severities' tables only one is there.
function unfold() {
  const wanted = location.hash && document.getElementById(location.hash.slice(1));
  if (!wanted) return;
  for (let fold = wanted; fold; fold = fold.parentElement.closest("details")) fold.open = true;
  wanted.scrollIntoView();
}
unfold();
