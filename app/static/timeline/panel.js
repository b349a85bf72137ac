// The frame at the playhead, large, and what it is.
const [large, small] = [find(".tl-picture"), find(".tl-thumb")];

function show(canvas, from, name) {
  canvas.setAttribute("aria-label", name);
  if (!from) return; // the last frame stays until this one is decoded
  const context = canvas.getContext("2d");
  if (canvas.width !== from.side) canvas.width = canvas.height = from.side;
  context.drawImage(from.image, from.x, from.y, from.side, from.side, 0, 0, from.side, from.side);
}

function wipe() {
  for (const canvas of [large, small]) {
    canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
  }
}

function forwardPanel() {
  const k = at.depth;
  put(find(".tl-name"), k ? words.noised : words.input);
  show(large, forwardFrame(k), `${words.noised}, ${whereWords()}`);
  show(small, forwardFrame(0), words.input);
  const range = curves.length > 1
    ? fill(words.range, { low: lows[k].toFixed(2), high: highs[k].toFixed(2) }) : "";
  put(find(".tl-where"), fill(words.confidence, { c: mean[k].toFixed(2), range }));
  put(find(".tl-about b"), words.came_from);
  const left = props.signal[k];
  const share = left > 0.005 ? percent(left) : words.hardly;
  const past = k - fold();
  const unused = goesBack(current()) && past > 0;
  const more = unused ? fill(words.past, { steps: counted(words.steps, past) }) : "";
  put(find(".tl-about span"), fill(words.power, { share }) + more);
}

function reversePanel() {
  const lane = current();
  const [done, steps] = [stepAt(lane, at.depth), allSteps(lane)];
  find(".tl-name").innerHTML = marks[at.lane] + words.methods[at.lane];
  show(large, reverseFrame(lane, at.depth), whereWords());
  show(small, reverseFrame(lane, at.depth, true), words.estimate);
  const known = { step: done, steps, left: steps - done };
  put(find(".tl-where"), fill(at.depth ? words.step_left : words.step_last, known));
  put(find(".tl-about b"), words.estimate);
  put(find(".tl-about span"), words.estimate_more);
}

function panel(stop) {
  const known = mean.length > 0;
  find(".tl-panel").classList.toggle("unknown", !known);
  find(".tl-panel").dataset.lane = at.part === "reverse" ? at.lane : "forward";
  put(find(".tl-depth"), known ? fill(words.at_depth, { depth: at.depth }) : "");
  put(find(".tl-state sub"), String(known ? at.depth : ""));
  if (known && at.part === "forward") forwardPanel();
  if (known && at.part === "reverse") reversePanel();
  for (const button of element.querySelectorAll(".tl-switch button")) {
    button.setAttribute("aria-pressed", button.dataset.part === at.part);
    button.disabled = !known || (button.dataset.part === "reverse" && !value.lanes.some(goesBack));
  }
  for (const button of element.querySelectorAll(".tl-play button")) button.disabled = !known;
  put(find(".tl-run span"), timer ? words.pause : motion.matches ? words.jump : words.play);
  find(".tl-run").classList.toggle("playing", Boolean(timer));
}

// Names of the methods: buttons, because they choose whose way back is followed.
function lanes(b, stop) {
  for (const button of element.querySelectorAll(".tl-lane")) {
    const { name, y, middle } = b.lanes.find((p) => p.name === button.dataset.lane);
    const lane = laneOf(name);
    const behind = b.narrow && !b.above && lane ? b.x(deepestFold(stop)) + 8 : 0;
    button.style.left = b.narrow ? `${behind || b.left - 6}px` : "-8px";
    button.style.top = `${b.above ? y - 16 : middle}px`;
    button.classList.toggle("above", b.above);
    button.setAttribute("aria-pressed", at.lane === name);
    button.disabled = !lane || !goesBack(lane);
    const more = lane && (b.narrow || b.x(deepestFold(stop)) + 274 > b.right);
    put(button.querySelector("small"), more ? counted(words.lane_short, allSteps(lane)) : "");
  }
}

element.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { lane, part, by } = button.dataset;
  if (lane) takeHold(() => place({ lane, ...reverseDepth(laneOf(lane)) }));
  if (part) takeHold(() => (part === "forward" ? place({ part }) : place(reverseDepth(anyLane()))));
  if (by) takeHold(() => { pause(); step(Number(by)); });
  if (button.matches(".tl-run")) play();
  if (button.matches(".tl-again")) document.getElementById("adapt")?.click();
});
const anyLane = () => (goesBack(current()) ? current() : value.lanes.find(goesBack));
const reverseDepth = (lane) =>
  ({ part: "reverse", lane: lane.name, depth: Math.min(at.depth, lane.depth - 1) });
