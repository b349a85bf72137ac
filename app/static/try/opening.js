// The opening plays itself once, if the first run tells it: wrong, noise, stop, right; too deep, wrong.
const SCENES = [2, 4.5, 5.3, 7.8, 10, 12]; // seconds at which each ends
const SKIP = ["keydown", "pointerdown", "wheel", "touchstart", "scroll"];
let skipped = null;

// What is seen after so many seconds: {said, frames, reach: to which depth the curve, ring}.
function sceneAt(seconds) {
  const { t } = depthNow();
  const part = SCENES.findIndex((end) => seconds < end);
  const share = (from, length) => clamp((seconds - from) / length, 0, 1);
  const noise = (depth) => ({ frame: noised(depth), title: fill(words.noised_to, { depth }) });
  const ended = (name) => { const { frame, probs } = outcome(name, depthNow()); return { frame, probs }; };
  const back = (name, from, at) => (at ? { frame: wayBack(name, at) ?? noised(from) } : ended(name));
  if (part === 0) return { said: [fill(words.opens_wrong, { label: labelOf(value.input.probs) }), "wrong"], frames: {}, reach: 0 };
  if (part === 1) {
    const depth = Math.round(t * share(2, 2.3));
    return { said: [words.opens_noise, ""], frames: { noised: noise(depth) }, reach: depth };
  }
  const frames = { noised: noise(t) };
  if (part === 2) return { said: [words.opens_stop, ""], frames, reach: t, ring: true };
  const left = Math.round(t * (1 - share(5.3, 1.5)));
  frames["dga-guided"] = back("dga-guided", t, left);
  if (part === 3) {
    const right = [fill(words.opens_right, { label: labelOf(ended("dga-guided").probs) }), "right"];
    return { said: left ? [words.reverse, ""] : right, frames, reach: t };
  }
  const deep = Math.round(fixed * share(7.8, 0.8));
  const there = Math.round(fixed * (1 - share(8.6, 0.6)));
  frames.dda = deep < fixed ? noise(deep) : back("dda", fixed, there);
  if (part === 5) {
    frames["dga-plus"] = ended("dga-plus");
    const { probs } = frames["dga-plus"];
    return { said: [fill(words.opens_plus, { label: labelOf(probs), share: percentOf(Math.max(...probs)) }), ""], frames, reach: t };
  }
  const wrong = [fill(words.opens_too_deep, { label: labelOf(ended("dda").probs) }), "wrong"];
  return { said: there ? [fill(words.opens_fixed, { depth: fixed }), ""] : wrong, frames, reach: t };
}

function closeOpening() {
  if (!skipped) return;
  skipped.abort();
  skipped = scene = null;
  fixedHandle.classList.add("glow"); // until it is moved, or another run comes
  draw();
}

// Only where it is true of the run; once a visit.
function openWith() {
  const now = depthNow();
  const read = (name) => outcome(name, now).probs;
  const told = now?.crossed && shown().every(read) && now.t < fixed && verdict(value.input.probs) === "wrong" &&
    verdict(read("dga-guided")) === "right" && verdict(read("dda")) === "wrong" && chanceAt(read("dga-plus")) > chanceAt(read("dga-guided"));
  if (!told || sessionStorage.getItem("dga-opened")) return;
  sessionStorage.setItem("dga-opened", "1");
  skipped = new AbortController();
  for (const kind of SKIP) window.addEventListener(kind, closeOpening, { signal: skipped.signal, capture: true, passive: true });
  if (motion.matches) return closeOpening();
  const began = performance.now();
  let seen = "";
  const step = () => {
    if (!skipped) return;
    const seconds = (performance.now() - began) / 1000;
    if (seconds >= SCENES.at(-1)) return closeOpening();
    scene = sceneAt(seconds);
    const key = [scene.said, scene.reach, ...Object.values(scene.frames).map(({ frame }) => keyOf(frame))].join();
    if (key !== seen) draw(); // not sixty times a second
    seen = key;
    setTimeout(step, 40);
  };
  step();
}
