// One run as the server tells it, and what the visitor looks at in it.
const { words, marks } = props;
const METHODS = ["dga", "dga-guided", "dga-plus", "dda"];

let { value } = props; // the run on the screen
let stale = false; // what was changed has not come back damaged yet
let awaited = false; // it has, and is about to be repaired
let tau = value.tau;
let fixed = value.dda_depth ?? 1;
let hand = null; // a depth chosen by hand; null: where the detector stops
let chosen = "dga-guided";
let own = chosen; // guided, or dga
let detail = false; // chances at every depth
let covered = false;
let presenting = false;
let scene = null; // of the opening, see opening.js
let playing = null; // {depth, back} while Play goes on, see play.js
let pending = ""; // words of a run that waits in line

const byId = (id) => document.getElementById(id);
const press = (button) => button && !button.disabled && button.click();
const percentOf = (mille) => `${mille >= 995 && mille < 1000 ? 99 : Math.floor((mille + 5) / 10)} %`;
const running = () => value.phase === "forward" || value.phase === "reverse";
const empty = () => !value.input;
const busy = () => running() || awaited || Boolean(value.progress);
const deepest = () => (value.forward?.depths ?? 33) - 1;
const lastJudged = () => (value.curves[0]?.length ?? 1) - 1;

const best = (probs) => probs.indexOf(Math.max(...probs));
const labelOf = (probs) => value.classes[best(probs)];
const kind = () => value.truth ?? (value.clean ? best(value.clean.probs) : best(value.input.probs));
const verdict = (probs) => (value.truth == null ? "" : best(probs) === value.truth ? "right" : "wrong");

// The server's stops are for tau 0.00, 0.01 ... 1.00 and, last, for the run's own.
const atTau = (list) => list.at(tau === value.tau ? -1 : Math.round(100 * tau));

// Where noise ends: {t, key}; key names the state in the server's words; null: not known.
function depthNow() {
  const stop = value.stops ? atTau(value.stops) : null;
  if (hand !== null && hand !== stop?.[0]) return { t: hand, key: `${hand}d`, crossed: true };
  if (!stop) return null;
  return { t: stop[0], key: `${stop[0]}${stop[1] ? "c" : "n"}`, crossed: stop[1] };
}

const shown = () => [own, "dga-plus", "dda"];
const lineOf = (name) => (name === "dda" && !value.every?.dda ? value.dda_line : name);
const byHand = (name, now) => name !== "dda" && Boolean(now?.key.endsWith("d"));

// Whose outcomes at every depth would serve a method, and are not known: null, if they are.
function missingLine(name) {
  const line = lineOf(name) ?? (value.same ? "dga-guided" : "dda");
  const can = !stale && !busy() && value.phase === "done";
  return can && name !== "dga-plus" && !value.every?.[line] ? line : null;
}

// Depth and key of one method's outcome, and whether the run itself made it.
function askedOf(name, now) {
  if (name === "dda") return { depth: fixed, key: `${fixed}`, made: fixed === value.dda_depth };
  if (name === "dga-plus") {
    const by = byHand(name, now) ? now.t : null;
    return { depth: by ?? value.found?.t_star ?? null, key: by === null ? "own" : `${by}`, made: by === null };
  }
  return { depth: now?.t ?? null, key: now?.key ?? "", made: now?.key === `${value.t_star}${value.crossed ? "c" : "n"}` };
}

// {frame, probs, depth, key}: a method's picture as it is now; frame null: not known.
function outcome(name, now) {
  const { depth, key, made } = askedOf(name, now);
  const result = value.results?.[name];
  const unchanged = name === "dga-plus" ? made && value.found?.unchanged : depth === 0;
  if (unchanged && value.input) { // the same bytes
    return { frame: wholePicture(value.input.src), probs: value.input.probs, depth, key, state: "done" };
  }
  if (result && (made || (running() && hand === null))) {
    return { frame: wholePicture(result.src), probs: result.probs, depth, key, state: result.state };
  }
  const line = value.every?.[lineOf(name)];
  const probs = line?.probs[depth];
  if (!probs) return { frame: null, probs: null, depth, key };
  return { frame: cell(line, depth), probs, depth, key, state: "done" };
}

const chanceAt = (probs) => (probs ? probs[kind()] / 1000 : null);

// Pictures by address: an image once it is decoded, null before.
const pictures = new Map();
function picture(address) {
  if (!address) return null;
  if (!pictures.has(address)) {
    pictures.set(address, null);
    const image = new Image();
    image.src = address;
    image.decode().then(() => {
      if (!pictures.has(address)) return; // of a run that is no longer shown
      pictures.set(address, image);
      soon();
    }, () => {});
  }
  return pictures.get(address);
}

// {image, x, y, side}: where a picture is in its sheet; null while it is not there.
function cell(sheet, index) {
  const image = sheet && picture(sheet.src);
  if (!image) return null;
  const side = image.naturalWidth / sheet.columns;
  return { image, side, x: (index % sheet.columns) * side, y: Math.floor(index / sheet.columns) * side };
}

function wholePicture(address) {
  const image = picture(address);
  return image && { image, x: 0, y: 0, side: image.naturalWidth };
}

function wayBack(name, depth) {
  const lane = value.lanes?.find((lane) => lane.name === name);
  if (!lane) return null;
  let step = lane.visited.findLastIndex((k) => k >= depth) - 1;
  for (const [count, address] of lane.strips) {
    if (step >= 0 && step < count) {
      const image = picture(address);
      return image && { image, x: step * image.naturalHeight, y: 0, side: image.naturalHeight };
    }
    step -= count;
  }
  return null;
}

// The sheet of all depths is lossy, which shows where there is little noise.
const noised = (depth) => {
  if (depth === value.t_star && value.x_t_star) return wholePicture(value.x_t_star);
  return depth < (value.forward?.depths ?? 0) ? cell(value.forward, depth) : null;
};
