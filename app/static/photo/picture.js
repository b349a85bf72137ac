// The photo: damaged left of the divider, repaired right of it, outlines and depths over it.
const frame = find(".ph-frame");
const divider = find(".ph-divider");
const [switched, looks, actual] = [".ph-show", ".ph-hold", ".ph-actual"].map(find);
let part = 42.4;
function divide(to) {
  part = clamp(to, 0, 100);
  frame.style.setProperty("--at", `${part}%`);
  divider.setAttribute("aria-valuenow", Math.round(part));
  divider.setAttribute("aria-valuetext", `${Math.round(part)} % ${words.damaged.toLowerCase()}`);
}

function picture() {
  const { size = [1, 1], places, damaged, clean, rows } = value;
  const stale = !done() && !rows && Boolean(before);
  const after = (inOne() ? pictures.get(depth) : value.repaired) || (stale && before);
  const split = Boolean(rows || after) && !held && (stale || inOne() || !value.unchanged);
  const found = done() && !inOne() && !held && places;
  frame.style.setProperty("--ratio", size[0] / size[1]);
  frame.style.setProperty("--width", `${size[0]}px`);
  const sources = { before: damaged, after: after || damaged, rows, clean, map: places?.map };
  for (const [name, address] of Object.entries(sources)) {
    const image = find(`.ph-${name}`);
    if (!address) image.removeAttribute("src"); // else the next one begins with this
    else if (image.getAttribute("src") !== address) image.src = address;
  }
  show(find(".ph-before"), split);
  show(divider, split);
  show(find(".ph-right"), split);
  show(find(".ph-rows"), Boolean(rows) && !held);
  show(find(".ph-clean"), held);
  frame.classList.toggle("stale", stale);
  frame.classList.toggle("mapped", found && mapped);
  for (const name of [".ph-map", ".ph-legend"]) show(find(name), found && mapped);
  find(".ph-lines").innerHTML = found ? places.outlines.map(outline).join("") : "";
  find(".ph-labels").innerHTML = found ? places.labels.map(label).join("") : "";
  find(".ph-ticks").innerHTML = [0, 1, 2, 3, 4].map((n) =>
    `<i>${Math.round((n * (places?.deepest ?? 16)) / 4)}</i>`).join("");
  const came = value.truth ? words.damaged : words.came;
  put(find(".ph-left"), held ? words.undamaged : came);
  const single = fill(words.single_tag, { depth });
  const repaired = rows ? words.so_far : words.repaired;
  put(find(".ph-right"), stale ? words.before : inOne() ? single : repaired);
  show(switched, done() && !inOne() && places.labels.length > 0);
  switched.setAttribute("aria-checked", mapped);
  show(looks, value.truth && Boolean(clean));
}
const outline = (line) => {
  const path = `M${line.map(([x, y]) => `${1000 * x} ${1000 * y}`).join("L")}Z`;
  return `<path d="${path}"/><path class="white" d="${path}"/>`;
};
const label = ([x, y, deep]) => `<span class="ph-pill" style="--x: ${100 * x}%; --y: ${100 * y}%">
  ${words.depth} <b>${deep}</b></span>`;

// Where a pointer is on the photo, in shares of its sides.
const point = ({ clientX, clientY }) => {
  const { left, top, width, height } = frame.getBoundingClientRect();
  const shares = [(clientX - left) / width, (clientY - top) / height];
  return shares.map((share) => Math.round(1e4 * clamp(share, 0, 1)) / 1e4);
};
frame.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  if (brush && !event.target.closest(".ph-divider")) return paint(event);
  if (divider.hidden) return;
  const move = (moved) => divide(100 * point(moved)[0]);
  if (event.pointerType === "mouse") {
    event.preventDefault();
    move(event);
  }
  divider.focus({ preventScroll: true });
  follow(frame, event, move);
});
keysOf(divider, (by) => divide(part + by));

function hold(is) {
  if (held === is || (is && looks.hidden)) return;
  held = is;
  picture();
}
looks.addEventListener("pointerdown", (event) => {
  hold(true);
  follow(looks, event, () => {}, () => hold(false));
});
looks.addEventListener("keydown", ({ key }) => [" ", "Enter"].includes(key) && hold(true));
for (const kind of ["keyup", "blur"]) looks.addEventListener(kind, () => hold(false));
looks.addEventListener("contextmenu", (event) => event.preventDefault());
switched.addEventListener("click", () => { mapped = !mapped; picture(); });
actual.addEventListener("click", () => {
  const view = frame.parentElement;
  press(actual, view.classList.toggle("actual"));
  const { scrollWidth, scrollHeight, clientWidth, clientHeight } = view;
  view.scrollTo((scrollWidth - clientWidth) / 2, (scrollHeight - clientHeight) / 2);
});
divide(part);
