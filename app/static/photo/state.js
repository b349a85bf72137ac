// What is shown: the server's value, which depth everywhere, and what the visitor has armed.
const page = (window.dgaPhoto = {});
const words = props.words;
const at = (selector) => document.querySelector(selector);
const show = (node, is) => { if (node && node.hidden === is) node.hidden = !is; };
const db = (number) => fill(props.db, { value: number.toFixed(1) });
const press = (node, is) => node.setAttribute("aria-pressed", is);
let value = { phase: "empty", truth: true, places: null, singles: {}, said: [], damage: { kind: "strokes", severity: 3, strokes: [] } };
let way = "each"; // or "one": one depth everywhere
let depth = 8;
let going = null; // the depth that is being computed
let wanted = []; // those still to be asked for
let held = false;
let mapped = false;
let brush = "";
const pictures = new Map(); // of one depth everywhere
const working = () => value.phase === "wait" || value.phase === "working";
const done = () => value.phase === "done" && Boolean(value.repaired);
const inOne = () => way === "one" && done() && value.truth;

page.ask = (more = {}) => {
  const { name, damage, key } = value;
  const { kind, severity, strokes } = damage;
  return JSON.stringify({ name, key, damage: { kind, severity, strokes }, ...more });
};
const choose = (more, damage = {}) => {
  halt();
  const next = { ...value.damage, ...damage };
  trigger("select", { ask: page.ask({ ...more, damage: next }) });
};

// One depth after another, each a turn of its own in the queue.
function next() {
  wanted = wanted.filter((one) => !(one in value.singles) || (one === depth && !pictures.has(one)));
  if (going !== null || !wanted.length || !done()) return draw();
  going = wanted.shift();
  trigger("expand", { ask: page.ask({ depth: going }) });
  draw();
}
function halt() {
  if (going !== null) trigger("stop", {});
  [going, wanted, surveys] = [null, [], false];
}
page.news = (told) => {
  if (told.key !== value.key) return;
  const { singles, best, closeUps, said, single, error = "" } = told;
  value = { ...value, singles, best, closeUps, said, error };
  if (single) pictures.set(single[0], single[1]);
  if (told.going !== undefined || going === null) return draw();
  if (error) [going, wanted] = [null, []];
  const finished = single?.[0] === going;
  going = null;
  if (finished || error) next();
  else draw();
};
page.begin = () => {
  halt();
  way = "each";
  brush = "";
  value = { ...value, phase: "wait", error: "" };
  draw();
  return page.ask();
};
