const page = element.closest("#analysis") ?? element; // on its own where there are no results
const { words, figures, severity } = props;
const touch = window.matchMedia("(pointer: coarse)").matches;
page.dataset.severity = severity;

// Tables: a header sorts one way, then the other, then back to the order they came in.
function value(row, column) {
  const text = row.cells[column].textContent.trim();
  return text === "–" ? null : text;
}
const number = (text) => Number(/^[+−-]?\d+(\.\d+)?/.exec(text)[0].replace("−", "-"));

function sort(header) {
  const table = header.closest("table");
  const body = table.tBodies[0];
  const numeric = header.classList.contains("n");
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
    const [x, y] = [value(a, header.cellIndex), value(b, header.cellIndex)];
    if (x === null || y === null) return (x === null) - (y === null) || placed;
    return sign * (numeric ? number(x) - number(y) : x.localeCompare(y)) || placed;
  });
  body.append(...rows);
}

async function copy(button) {
  const lines = button.parentElement.querySelector("pre");
  const text = [...lines.children].map((line) => line.textContent).join("\n");
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without https there is no clipboard: select, so that the keyboard can copy.
    window.getSelection().selectAllChildren(lines);
    return;
  }
  button.textContent = words.copied;
  setTimeout(() => (button.textContent = words.copy), 2000);
}

page.addEventListener("click", (event) => {
  const header = event.target.closest(".ex-table th[scope=col]");
  if (header) sort(header);
  const button = event.target.closest(".copy-lines");
  if (button) copy(button);
});

// Figures: asked for when they come near the window.
const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries.filter((e) => e.isIntersecting)) {
      near.unobserve(entry.target);
      trigger("select", { name: entry.target.id, touch });
    }
  },
  { rootMargin: "300px 0px" },
);

if (severity) keepGroup("exhibit-severity");

// Gradio adds the other components when it likes.
let awaited = figures;
function meet() {
  awaited = awaited.filter(({ id, title, height }) => {
    const plot = document.getElementById(id);
    if (!plot) return true;
    plot.setAttribute("role", "figure");
    plot.setAttribute("aria-label", title);
    plot.style.minHeight = `${height}px`;
    plot.querySelector(".empty")?.removeAttribute("aria-label"); // of a div without a role
    near.observe(plot);
    return false;
  });
  if (awaited.length) return;
  added.disconnect();
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
  mark();
}
const added = new MutationObserver(meet);
added.observe(page, { childList: true, subtree: true });

// Contents: the section being read. Gradio's <base> would send a plain "#..." to the first page.
const links = [...element.querySelectorAll("a")];
for (const link of links) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    history.replaceState(history.state, "", location.pathname + location.search + link.hash);
    document.getElementById(link.hash.slice(1)).scrollIntoView();
  });
}
function mark() {
  const line = window.innerHeight / 3;
  const begun = links.filter((link) => {
    const section = document.getElementById(link.hash.slice(1));
    return section && section.getBoundingClientRect().top < line;
  });
  for (const link of links) link.removeAttribute("aria-current");
  begun.at(-1)?.setAttribute("aria-current", "true");
}
let waiting = false;
window.addEventListener("scroll", () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    mark();
  });
}, { passive: true });
meet();

window.dgaAnalysis = {
  choose(chosen) {
    page.dataset.severity = chosen;
    window.dispatchEvent(new Event("resize")); // plotly redraws what was hidden meanwhile
    mark();
    return [];
  },
};
