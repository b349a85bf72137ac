// What the scripts of several pages need.

/** What the server put into the page. */
export const data = () => JSON.parse(document.getElementById("data").textContent);

export const find = (selector, root = document) => root.querySelector(selector);
export const all = (selector, root = document) => [...root.querySelectorAll(selector)];
find(".stalled").remove();

/** Set a text only where it changed: screen readers repeat what is set. */
export function put(node, text) {
  if (node && node.textContent !== text) node.textContent = text;
}

/** Set an image's source only where it changed; without one it keeps what it shows. */
export function putImage(image, source) {
  if (source && image.src !== source) image.src = source;
}

/** An element with attributes (a function is a listener) and children. */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** An element of SVG. */
export function draw(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

/** 0.934 as 93 %; nothing is 100 % that is not. */
export function percent(share) {
  const whole = Math.round(100 * share);
  return `${whole === 100 && share < 0.9995 ? 99 : whole}\u00a0%`;
}

/** Whether a reading is right, if known. */
export const mark = ({ is_right }) => ({ true: "\u00a0✓", false: "\u00a0✗" })[is_right] ?? "";

/** What the classifier sees, "perhaps" if it is unsure, and whether that is right. */
export const nameReading = (reading) =>
  `${reading.is_sure ? "" : "perhaps "}${reading.label}${mark(reading)}`;

/** The same, with how sure the classifier is. */
export const describeReading = (reading) => `${nameReading(reading)} ${percent(reading.share)}`;

export const countSteps = (depth) => `${depth} step${depth === 1 ? "" : "s"}`;
export const capitalise = (text) => text[0].toUpperCase() + text.slice(1);

/** The place of the entry whose depth is nearest to another. */
export function findNearest(entries, depth) {
  const distances = entries.map((entry) => Math.abs(entry.depth - depth));
  return distances.indexOf(Math.min(...distances));
}

/** A row with a reading: its bar, its words, its share. */
export function fillRow(row, reading) {
  row.classList.toggle("right", reading?.is_right === true);
  row.classList.toggle("wrong", reading?.is_right === false);
  row.classList.toggle("is-unsure", reading?.is_sure === false);
  row.style.setProperty("--share", `${100 * (reading?.share ?? 0)}%`);
  put(find(".label", row), reading ? nameReading(reading) : "");
  put(find(".share", row), reading ? percent(reading.share) : "");
}

export const clamp = (number, low, high) => Math.min(Math.max(number, low), high);

/** After a press on `node`: `move` gets each event; `end` whether the press was not cancelled. */
export function drag(node, press, move, end = () => {}) {
  press.preventDefault();
  node.setPointerCapture(press.pointerId);
  const listeners = new AbortController();
  const { signal } = listeners;
  const stop = ({ type }) => {
    listeners.abort();
    end(type === "pointerup");
  };
  node.addEventListener("pointermove", move, { signal });
  for (const kind of ["pointerup", "pointercancel"]) node.addEventListener(kind, stop, { signal });
}

/** Check the radio button of a value in `root`, or none. */
export function checkRadio(root, value) {
  for (const button of all("[type=radio]", root)) button.checked = button.value === value;
}

/** A sentence for whoever sees the page, and the HTTP status it came with. */
export class Refusal extends Error {}

const LOST = "The server does not answer.";
function lose(error) {
  throw error.name === "AbortError" ? error : new Refusal(LOST);
}

async function ask(address, options) {
  const answer = await fetch(address, options).catch(lose);
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  throw new Refusal(typeof body.detail === "string" ? body.detail : (body.error ?? LOST));
}

/** JSON of one of the server's own addresses. Throws a Refusal. */
export const getJson = async (address, options) => (await ask(address, options)).json();

/** The same, of what is sent there for this page. */
export const postJson = (address, body) =>
  getJson(`${address}?page=${thisPage}`, { method: "POST", body });

/** What to say of an error. */
export const explain = (error) =>
  error instanceof Refusal ? error.message : "Something went wrong. Please try again.";

/** The parts of a stream of server-sent events, as [event, data]. */
async function* readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (true) {
    const { value, done } = await reader.read().catch(lose);
    if (done) return;
    text += value;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const [, event, content] = /^event: (.*)\ndata: (.*)$/s.exec(text.slice(0, end)) ?? [];
      if (event) yield [event, JSON.parse(content)];
    }
  }
}

export const thisPage = Math.random().toString(36).slice(2); // of one page only the latest run goes on

/**
 * One run on the server: `onPart` gets each part of the record as it is made. `body`: instead of
 * settings, such as a camera's frame.
 * Returns { done, cancel }; `done` resolves at the end and rejects with a Refusal.
 */
export function run(name, settings, onPart, body) {
  const end = new AbortController();
  const { signal } = end;
  const done = (async () => {
    const stream = await ask(name, {
      method: "POST",
      body: body ?? JSON.stringify({ settings, page: thisPage }),
      signal,
    });
    for await (const [event, content] of readEvents(stream.body)) {
      if (signal.aborted) return;
      if (event === "error") throw new Refusal(content.error);
      if (event === "part") onPart(content);
      if (event === "end") return;
    }
    throw new Refusal(LOST);
  })();
  return { done, cancel: () => end.abort() };
}

/** `take` gets the files that `input` chooses, and those dropped anywhere on the page. */
export function receiveFiles(input, take) {
  input.addEventListener("change", () => {
    take([...input.files]);
    input.value = "";
  });
  const show = (isDropping) => document.body.classList.toggle("dropping", isDropping);
  addEventListener("dragover", (event) => {
    event.preventDefault();
    show(true);
  });
  addEventListener("dragleave", ({ relatedTarget }) => relatedTarget || show(false));
  addEventListener("drop", (event) => {
    event.preventDefault();
    show(false);
    take([...event.dataTransfer.files]);
  });
}

for (const node of all(".address")) put(node, document.baseURI);
