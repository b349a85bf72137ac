// What is shown: the server's value, which depth everywhere, and what the visitor has armed.
const { words } = props;
const at = (selector) => document.querySelector(selector);
const show = (node, is) => { node.hidden = !is; };
const press = (node, is) => node.setAttribute("aria-pressed", is);
const db = (number) => fill(props.db, { value: number.toFixed(1) });
let value = { phase: "empty", truth: true, singles: {}, damage: { kind: "strokes", strokes: [] } };
let opening = value; // what everybody begins with
let one = false; // one depth everywhere is shown
let depth = 8; // that one
let going = null; // the depth that is being computed
let wanted = []; // those still to be asked for
let surveys = false; // all of them are, for the best
let held = false;
let mapped = false;
let brush = "";
let before = ""; // the repaired picture, before something was changed
let change = 0; // how many were asked for: answers may come in another order
const pictures = new Map(); // of one depth everywhere
const working = () => value.phase === "wait" || value.phase === "working";
const done = () => value.phase === "done" && Boolean(value.repaired);
const rated = () => done() && value.truth;
const inOne = () => one && rated();
// Whether the best single depth would say something that is not known.
const open = () => value.truth && value.best == null && !(done() && (value.unchanged || value.left < 0.2));

const ask = (more) => {
  const { name, key, damage } = value;
  return { ask: JSON.stringify({ name, key, damage, change, ...more }) };
};
// Another photo or damage: shown damaged at once, then repaired by itself.
function choose(photo, damage = {}) {
  halt();
  misread = "";
  show(canvas, false);
  before = photo.name === undefined ? value.repaired || before : "";
  const changed = { ...value.damage, ...damage };
  value = { ...value, damage: changed, repaired: "", rows: "", phase: "empty" };
  change += 1;
  trigger("select", ask(photo));
  draw();
}
// One depth after another, each a turn of its own in the queue; this one before the others.
function next() {
  wanted = wanted.filter((k) => !(k in value.singles));
  if (inOne() && !pictures.has(depth)) wanted.unshift(depth);
  if (going === null && wanted.length && done()) {
    going = wanted.shift();
    trigger("expand", ask({ depth: going }));
  }
  writeAddress();
  draw();
}
function halt() {
  if (going !== null) trigger("stop", {});
  [going, wanted, surveys] = [null, [], false];
}
function look(each) {
  one = !each;
  if (one) for (const address of pictures.values()) new Image().src = address; // for the hand
  next();
}
window.dgaPhoto = {
  begin: () => {
    halt();
    arm("");
    one = false;
    value = { ...value, rows: "", phase: "wait", error: "" };
    draw();
    return ask({}).ask;
  },
};
