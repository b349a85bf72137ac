// Play: noise goes in until t*, then all methods come back at once; deeper ones arrive later.
const LENGTH = 6000; // ms
const INWARD = 0.42; // share of it in which noise goes in
let clock = 0; // of the animation frame
let began = 0;
let share = 0;

function playingFrame(name, { frame, depth }) {
  if (depth === null) return frame;
  if (!playing.back) return name === "dga-plus" ? wholePicture(value.input?.src) : noised(Math.min(playing.depth, depth));
  const at = depth - (playing.from - playing.depth); // all go at one pace
  if (at <= 0) return frame;
  const made = askedOf(name, depthNow()).made;
  return (made && wayBack(name, at)) || (name === "dga-plus" ? wholePicture(value.input?.src) : noised(depth));
}

function momentAt(part) {
  const now = depthNow();
  const depths = inRow().filter((name) => METHODS.includes(name)).map((name) => outcome(name, now).depth ?? 0);
  const from = Math.max(now?.t ?? 0, ...depths, 1);
  const back = part > INWARD;
  const ease = motion.matches ? Math.round(part * 8) / 8 : part;
  const depth = back ? Math.round(from * (1 - (ease - INWARD) / (1 - INWARD))) : Math.round(from * (ease / INWARD));
  const here = clamp(depth, 0, from);
  return { depth: here, from, back, arrived: (found) => back && (found.depth ?? 0) - (from - here) <= 0 };
}

function tick(time) {
  share = Math.min(share + (time - began) / LENGTH, 1);
  began = time;
  const before = playing;
  playing = share < 1 ? momentAt(share) : null;
  clock = playing ? requestAnimationFrame(tick) : 0;
  if (!playing || playing.depth !== before?.depth || playing.back !== before.back) draw();
}

function halt() {
  cancelAnimationFrame(clock);
  clock = 0;
  playing = null;
}

function play() {
  if (clock) {
    cancelAnimationFrame(clock); // pause: what is seen stays
    clock = 0;
    return draw();
  }
  if (!depthNow() || running()) return;
  if (!playing) share = 0;
  began = performance.now();
  clock = requestAnimationFrame(tick);
}

function controls() {
  const button = find(".play");
  button.disabled = !depthNow() || running();
  button.classList.toggle("on", Boolean(clock));
  put(button.querySelector("span"), clock ? words.pause : phone.matches ? words.play_short : words.play);
  find(".detail").disabled = button.disabled || !value.every;
}
find(".detail").addEventListener("click", ({ currentTarget }) => {
  detail = !detail;
  currentTarget.setAttribute("aria-pressed", detail);
  draw();
});
find(".play").addEventListener("click", play);
