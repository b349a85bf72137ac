// Where in the run we are: a depth on the way forward, or on one method's way back.
const PACE = 110; // milliseconds a step while playing

let at = { part: "forward", depth: 0, lane: "dga-guided" };
let following = true; // the newest frame, until the visitor takes hold of the playhead
let timer = 0;

const deepest = () => Math.max(mean.length - 1, 0);
const current = () => laneOf(at.lane);
const goesBack = (lane) => Boolean(lane) && stepsOf(lane) > 0;

// Depth at which time turns; without a way back, the end of the curve.
const fold = () => (goesBack(current()) ? current().depth : deepest());
const lastMoment = () => (goesBack(current()) ? fold() + stepsOf(current()) : fold());
const moment = () => (at.part === "forward" ? at.depth : fold() + stepAt(current(), at.depth));

function place(next) {
  at = { ...at, ...next };
  if (at.part === "reverse" && !goesBack(current())) at.part = "forward";
  if (at.part === "forward") at.depth = clamp(at.depth, 0, deepest());
  else {
    const made = stepAt(current(), Math.min(at.depth, current().depth));
    at.depth = current().visited[clamp(made, 1, stepsOf(current()))];
  }
}

function seek(time) {
  const now = clamp(time, 0, lastMoment());
  if (now <= fold()) place({ part: "forward", depth: now });
  else place({ part: "reverse", depth: current().visited[now - fold()] });
}

function step(count) {
  const beyond = at.part === "forward" && at.depth > fold();
  if (beyond) place({ depth: at.depth + count });
  else seek(moment() + count);
}

function nextMethod(by = 1) {
  const names = value.lanes.filter(goesBack).map((lane) => lane.name);
  if (!names.length) return;
  const index = names.indexOf(at.lane);
  place({ lane: names[(index + by + names.length) % names.length] });
}

function takeHold(act) {
  following = false;
  act();
  draw();
}

function pause() {
  clearTimeout(timer);
  timer = 0;
}

function tick() {
  const before = moment();
  step(1);
  if (moment() === before) pause();
  else timer = setTimeout(tick, PACE);
  draw();
}

// Without motion: to the fold, then to the end, then back to the beginning.
function jump() {
  const ends = [fold(), lastMoment()];
  seek(ends.find((end) => end > moment()) ?? 0);
}

function play() {
  if (timer) return takeHold(pause);
  if (motion.matches) return takeHold(jump);
  following = false;
  if (moment() >= lastMoment()) seek(0);
  timer = setTimeout(tick, PACE);
  draw();
}

function follow() {
  if (!following) return;
  const newest = value.lanes.findLast(goesBack);
  if (!newest) return place({ part: "forward", depth: deepest() });
  if (running()) return place({ part: "reverse", lane: newest.name, depth: reached(newest) });
  const lane = ["dga-guided", "dga", "dga-plus", "dda"].find((name) => goesBack(laneOf(name)));
  // A finished run is met in the middle of its way back: there is something to see and to do.
  const depth = value.recorded ? Math.round(0.4 * laneOf(lane).depth) : 0;
  if (value.recorded && lane === "dda") place({ part: "forward", lane, depth: 0 });
  else place({ part: "reverse", lane, depth });
}

const headKeys = {
  ArrowRight: () => step(1), ArrowUp: () => step(1),
  ArrowLeft: () => step(-1), ArrowDown: () => step(-1),
  Home: () => seek(0), End: () => seek(lastMoment()),
  m: () => nextMethod(), M: () => nextMethod(-1),
};
head.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " ") play();
  else if (!(event.key in headKeys)) return;
  else {
    pause();
    const far = event.shiftKey && event.key.startsWith("Arrow");
    const sign = event.key === "ArrowRight" || event.key === "ArrowUp" ? 1 : -1;
    takeHold(far ? () => step(5 * sign) : headKeys[event.key]);
  }
  event.preventDefault();
});

function whereWords() {
  if (!mean.length) return words.nowhere;
  const known = { depth: at.depth };
  if (at.part === "forward") {
    known.confidence = mean[at.depth].toFixed(2);
    return fill(words.at_forward, known);
  }
  const lane = current();
  known.method = words.methods[at.lane];
  Object.assign(known, { step: stepAt(lane, at.depth), steps: allSteps(lane) });
  return fill(words.at_reverse, known);
}

function playhead(b) {
  head.hidden = !mean.length;
  if (head.hidden) return;
  const back = at.part === "reverse";
  const [top, bottom] = back ? [b.flag, b.end] : [b.top, b.rail];
  head.style.cssText = `left:${b.x(at.depth)}px;top:${top}px;height:${bottom - top}px`;
  head.firstElementChild.style.top = back ? "0" : `${b.bottom + 5 - top}px`;
  const shift = clamp(b.x(at.depth), b.left + (b.narrow ? 8 : 10), b.width - 14) - b.x(at.depth);
  head.firstElementChild.style.marginLeft = `${shift}px`;
  put(head.firstElementChild, String(at.depth));
  const beyond = !back && at.depth > fold();
  head.setAttribute("aria-valuemax", beyond ? deepest() : lastMoment());
  head.setAttribute("aria-valuenow", beyond ? at.depth : moment());
  head.setAttribute("aria-valuetext", whereWords());
  head.dataset.part = at.part;
  head.dataset.depth = at.depth;
  head.dataset.lane = at.lane;
}
