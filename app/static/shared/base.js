// Before every script of the page: what several of them need.
const motion = window.matchMedia("(prefers-reduced-motion: reduce)");
const find = (selector) => element.querySelector(selector);
const fill = (text, known) => text.replace(/\{(\w+)\}/g, (_, name) => known[name]);
const percent = (share) => {
  const whole = Math.round(100 * share);
  return `${whole === 100 && share < 0.9995 ? 99 : whole}\u00a0%`;
};
const clamp = (number, low, high) => Math.min(Math.max(number, low), high);
const safe = (text) => new Option(text).innerHTML.replaceAll('"', "&quot;");
const put = (node, text) => {
  if (node && node.textContent !== text) node.textContent = text;
};
// A key with Ctrl and the like is the browser's.
const modified = (event) => event.ctrlKey || event.metaKey || event.altKey;
// A slider's keys: by how much it is moved.
const BY = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -100, End: 100 };
const keysOf = (node, change) => node.addEventListener("keydown", (event) => {
  const by = BY[event.key] * (event.shiftKey ? 5 : 1);
  if (modified(event) || !by) return;
  event.preventDefault();
  event.stopPropagation();
  change(by);
});
// Until the pointer is lifted; whether it was, or something took it away, such as a second finger.
function follow(node, event, move, over = () => {}) {
  const end = new AbortController();
  const leave = (last) => { end.abort(); over(last.type !== "pointercancel"); };
  node.setPointerCapture(event.pointerId);
  node.addEventListener("pointermove", move, end);
  for (const kind of ["pointercancel", "lostpointercapture"]) node.addEventListener(kind, leave, end);
}
// Of Run and Cancel the one that is switched off hands the focus of whoever presses keys to the other.
function takeTurns(row) {
  let last = null;
  row.addEventListener("keyup", ({ target }) => { last = target; });
  new MutationObserver(() => {
    if (!last?.disabled || ![last, document.body].includes(document.activeElement)) return;
    (last = row.querySelector(":scope > button:enabled, .ph-button:enabled") ?? last).focus();
  }).observe(row, { subtree: true, attributeFilter: ["disabled"] });
}
// Gradio's <base> would send a plain "#..." to the first page.
const goTo = (hash) => history.replaceState(history.state, "", location.pathname + location.search + hash);
// What is said where an address names a part that is not on the page.
const anchor = () => location.hash.slice(1);
const strayed = () => (!anchor() || document.getElementById(anchor()) ? "" : fill(props.words.strayed, { part: anchor().slice(0, 40) }));
const copied = (node) => {
  put(node, props.words.copied);
  setTimeout(() => put(node, props.words.copy), 2000);
};
// Rejected also where there is nothing: after a restart an address may be gone.
const fetched = (address) => fetch(address).then((answer) => (answer.ok ? answer : Promise.reject(answer)));
const json = (address) => fetched(address).then((answer) => answer.json());
async function appears(root, selector) {
  for (let frames = 0; frames < 600; frames++) {
    const node = root.querySelector(selector);
    if (node) return node;
    await new Promise(requestAnimationFrame);
  }
  return null;
}
// One Tab stop a group, at first the one named so; arrows, Home and End go through it. The answer is
// called when the group has changed.
function rove(root, items, opens = "") {
  let stop = null;
  const all = () => [...root.querySelectorAll(items)].filter((item) => item.checkVisibility());
  const keep = () => {
    const there = all();
    if (!there.includes(stop)) stop = there.find((item) => opens && item.matches(opens)) ?? there[0];
    for (const item of there) item.tabIndex = item === stop ? 0 : -1;
  };
  root.addEventListener("focusin", ({ target }) => {
    const within = all().includes(target);
    document.body.classList.toggle("roves", within && target.matches(":focus-visible")); // says so, see page.css
    if (!within) return;
    stop = target;
    keep();
  });
  root.addEventListener("focusout", () => document.body.classList.remove("roves"));
  root.addEventListener("keydown", (event) => {
    const there = all();
    const index = there.indexOf(event.target);
    const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1 }[event.key];
    if (index < 0 || to === undefined || modified(event)) return;
    event.preventDefault();
    event.stopPropagation();
    there.at(to % there.length).focus();
  });
  return keep;
}
