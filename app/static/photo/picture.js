// The photo: damaged left of the divider, repaired right of it, outlines and depths over it.
const frame = find(".ph-frame");
const divider = find(".ph-divider");
let part = 42.4;
function divide(to) {
  part = clamp(to, 0, 100);
  frame.style.setProperty("--at", `${part}%`);
  divider.setAttribute("aria-valuenow", Math.round(part));
  divider.setAttribute("aria-valuetext", `${Math.round(part)} % ${words.damaged.toLowerCase()}`);
}
const source = (selector, address) => {
  const image = find(selector);
  if (!address) image.removeAttribute("src");
  else if (image.getAttribute("src") !== address) image.src = address;
};

function picture() {
  const [width, height] = value.size ?? [1, 1];
  frame.style.setProperty("--ratio", width / height);
  const after = inOne() ? pictures.get(depth) : value.repaired;
  const split = done() && Boolean(after) && !held && (!value.unchanged || inOne());
  source(".ph-before", value.damaged);
  source(".ph-after", after ?? value.damaged);
  source(".ph-clean", value.clean);
  source(".ph-map", value.places?.map);
  show(find(".ph-before"), split);
  show(divider, split);
  show(find(".ph-clean"), held && Boolean(value.clean));
  const over = done() && !inOne() && !held && Boolean(value.places);
  show(find(".ph-map"), over && mapped);
  frame.classList.toggle("mapped", over && mapped);
  show(find(".ph-legend"), over && mapped);
  find(".ph-lines").innerHTML = over ? outlines() : "";
  find(".ph-labels").innerHTML = over ? labels() : "";
  const [left, right] = [find(".ph-left"), find(".ph-right")];
  const { progress = [0, 0] } = value;
  const looked = working() && progress[1] ? fill(words.looked, { done: progress[0], total: progress[1] }) : "";
  put(left, held ? words.undamaged : looked || (value.truth ? words.damaged : words.came));
  put(right, inOne() ? fill(words.single_tag, { depth }) : words.repaired);
  show(right, split);
  show(find(".ph-show"), done() && Boolean(value.places?.labels.length) && !inOne());
  find(".ph-show").setAttribute("aria-checked", mapped);
  show(find(".ph-hold"), Boolean(value.clean) && value.truth);
  if (value.places) {
    const { deepest } = value.places;
    find(".ph-ticks").innerHTML = [0, 1, 2, 3, 4].map((n) => `<i>${Math.round((n * deepest) / 4)}</i>`).join("");
  }
}

const outlines = () => value.places.outlines.map((line) => {
  const path = `M${line.map(([x, y]) => `${1000 * x} ${1000 * y}`).join("L")}Z`;
  return `<path d="${path}"/><path class="white" d="${path}"/>`;
}).join("");
const labels = () => value.places.labels.map(([x, y, deep]) => {
  const place = `left: clamp(56px, ${100 * x}%, 100% - 56px); top: clamp(76px, ${100 * y}%, 100% - 84px)`;
  return `<span class="ph-pill" style="${place}">${words.depth} <b>${deep}</b></span>`;
}).join("");

const share = ({ clientX }) => {
  const { left, width } = frame.getBoundingClientRect();
  return (100 * (clientX - left)) / width;
};
function follow(node, event, move, over = () => {}) {
  const end = new AbortController();
  node.setPointerCapture(event.pointerId);
  node.addEventListener("pointermove", move, end);
  node.addEventListener("lostpointercapture", () => { end.abort(); over(); }, end);
}
frame.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  const handle = event.target.closest(".ph-divider");
  if (brush && !handle) return paint(event);
  if (divider.hidden) return;
  const move = (moved) => divide(share(moved));
  if (event.pointerType === "mouse") { event.preventDefault(); move(event); }
  divider.focus({ preventScroll: true });
  follow(frame, event, move);
});
const BY = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Home: -100, End: 100 };
divider.addEventListener("keydown", (event) => {
  const by = BY[event.key] * (event.shiftKey ? 5 : 1);
  if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  divide(part + by);
});

function hold(is) {
  if (held === is || (is && find(".ph-hold").hidden)) return;
  held = is;
  picture();
}
const look = find(".ph-hold");
look.addEventListener("pointerdown", (event) => { hold(true); follow(look, event, () => {}, () => hold(false)); });
look.addEventListener("keydown", ({ key }) => [" ", "Enter"].includes(key) && hold(true));
look.addEventListener("keyup", () => hold(false));
look.addEventListener("blur", () => hold(false));
look.addEventListener("contextmenu", (event) => event.preventDefault());
find(".ph-show").addEventListener("click", () => { mapped = !mapped; picture(); });
divide(part);
