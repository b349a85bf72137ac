// The sentence, the line below it and what it says on the cards.
function ending(stop) {
  if (!stop.crossed) return stop.t === 0 ? "_left" : "_never";
  return stop.t === 0 ? "_zero" : "";
}

function sentence(stop) {
  const { phase } = value;
  if (phase === "empty" || (phase === "error" && !finished())) return words.empty;
  if (phase === "cancelled" && !value.after && !finished()) return words.cancelled;
  if (phase === "forward" || !stop) return words.forward;
  const kind = ending(stop);
  const known = { t: stop.t, steps: value.steps, tau: tau.toFixed(2), horizon: value.horizon };
  known.limit = value.bound ? words.bound : words.threshold;
  if (moved(stop)) return fill(words["moved" + kind], known);
  if (!value.after) return fill(words["reverse" + kind], known);
  known.before = quote(value.before);
  known.after = quote(value.after);
  known.verb = value.before[0] === value.after[0] ? words.verb_same : words.verb_other;
  return fill(words["done" + kind], known);
}

function statusWords(stop) {
  if (waiting) return words.waiting;
  if (value.progress) return value.progress.words;
  if (moved(stop)) return "";
  if (value.recorded) return value.recorded;
  if (value.rule === "quantile") return words.quantile_help;
  return value.phase === "empty" || finished() ? words.tau_help : "";
}

function status(stop) {
  const { progress, phase } = value;
  const track = find(".tl-track");
  track.hidden = !progress && !waiting;
  track.classList.toggle("waiting", waiting);
  if (progress && !waiting) {
    track.setAttribute("aria-valuenow", Math.round(100 * progress.share));
    track.firstElementChild.style.width = `${100 * progress.share}%`;
  }
  put(find(".tl-words"), statusWords(stop));
  put(find(".tl-error"), waiting ? "" : value.error);
  find(".tl-status").hidden = Boolean(value.error) && !waiting && !moved(stop);
  const again = find(".tl-again");
  again.hidden = !moved(stop) || waiting;
  if (!again.hidden) put(again, fill(words.again, { t: stop.t }));
  find(".tl").classList.toggle("dim", phase === "error" && !waiting);
}

function pale(name, note) {
  const card = document.getElementById(`card-${name}`);
  if (!card) return;
  card.classList.toggle("stale", Boolean(note));
  if (note) card.dataset.again = note;
}

function markStale(stop) {
  const note = moved(stop) ? fill(words.again, { t: stop.t }) : "";
  for (const name of ["x_t_star", "dga", "dga-guided"]) pale(name, note);
  const deeper = settled() && ddaDepth !== null && ddaDepth !== value.dda_depth;
  pale("dda", deeper ? fill(words.again_depth, { t: ddaDepth }) : "");
}

const laneWords = (lane) => {
  if (lane.depth) return counted(words.lane[lane.name], allSteps(lane));
  return lane.restored ? words.lane_inverse : words.lane_zero;
};
