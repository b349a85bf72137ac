// The film: frames on a canvas, rails and fold above it in SVG.
const pictures = new Map(); // by address; an image once it is decoded, null before
const COLUMNS = 10;
const GAP = 6; // between the last frame and the line that folds down
const ROUND = 8;

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
    });
  }
  return pictures.get(address);
}

// {image, x, y, side}: where a state is in its sheet; null while it is not there.
function forwardFrame(depth) {
  const image = picture(value.forward);
  if (!image) return null;
  const side = image.naturalWidth / COLUMNS;
  return { image, x: (depth % COLUMNS) * side, y: Math.floor(depth / COLUMNS) * side, side };
}

function reverseFrame(lane, depth, estimate = false) {
  let column = Math.max(stepAt(lane, depth), 1) - 1;
  for (const [count, address] of lane.strips) {
    if (column < count) {
      const image = picture(address);
      const side = image ? image.naturalHeight / 2 : 0;
      return column < 0 || !image ? null : { image, x: column * side, y: estimate ? side : 0, side };
    }
    column -= count;
  }
  return null;
}

function wholePicture(address) {
  const image = picture(address);
  return image && { image, x: 0, y: 0, side: image.naturalWidth };
}

function paint(context, from, x, y, width, height) {
  if (!from || width <= 0) return;
  const part = Math.min(width / height, 1) * from.side;
  context.drawImage(from.image, from.x, from.y, part, from.side, x, y, width, height);
}

function film(b, stop) {
  const scale = window.devicePixelRatio || 1;
  reel.width = b.width * scale;
  reel.height = b.height * scale;
  reel.style.cssText = `width:${b.width}px;height:${b.height}px`;
  const context = reel.getContext("2d");
  context.scale(scale, scale);
  context.imageSmoothingQuality = "high";
  const turn = stop?.t ?? value.steps;
  const last = Math.max(laneOf("dda")?.depth ?? 0, turn);
  for (let k = 0; k < value.steps && k < mean.length; k += b.every) {
    context.globalAlpha = k <= turn ? 1 : k <= last ? 0.65 : 0.35;
    paint(context, forwardFrame(k), b.x(k), b.strip, b.frame - 1, b.frame);
  }
  const old = moved(stop);
  for (const place of b.lanes) {
    const lane = laneOf(place.name);
    context.globalAlpha = old && !ownDepth(place.name) ? 0.4 : 1;
    if (lane) laneFilm(context, b, lane, place);
  }
}

function laneFilm(context, b, lane, place) {
  const kept = lane.restored ? wholePicture(lane.restored) : forwardFrame(0);
  if (!lane.depth) paint(context, kept, b.left, place.y, b.frame - 1, b.frame);
  const end = b.x(lane.depth) - GAP;
  for (let k = Math.ceil(reached(lane) / b.every) * b.every; k < lane.depth; k += b.every) {
    if (k && !stepAt(lane, k)) continue; // before its first step
    const width = k ? Math.min(b.frame - 1, end - b.x(k)) : b.frame - 1;
    paint(context, reverseFrame(lane, k), b.x(k), place.y, width, b.frame);
  }
}

const chevron = (x, y, way) =>
  `<path d="M${x - 3 * way} ${y - 4}l${4 * way} 4l${-4 * way} 4" class="way"/>`;

// Arrows at even distances, none too near an end.
function arrows(from, to, y, way) {
  const count = Math.min(3, Math.floor((to - from) / 56));
  const at = (i) => from + ((i + 1) * (to - from)) / (count + 1);
  return Array.from({ length: count }, (_, i) => chevron(at(i), y, way)).join("");
}

const marked = (name, x, y) =>
  marks[name].replace("<svg ", `<svg x="${x - 6}" y="${y - 6}" width="12" height="12" `);

function forwardRail(b, stop) {
  const known = Math.max(mean.length - 1, 0);
  const turn = stop ? stop.t : Math.min(known, value.max_depth);
  const dda = laneOf("dda");
  let out = stroke(b.left, b.rail, b.right, b.rail, "ground");
  if (!mean.length) return out;
  if (!running() && !whole(value.curves[0])) {
    out += box(b.x(mean.length - 1), b.strip, b.right - b.x(mean.length - 1), b.frame, "hatched");
  }
  if (dda && stop && dda.depth > turn) {
    out += `<g class="of-dda">${stroke(b.x(turn), b.rail, b.x(dda.depth), b.rail, "rail")}</g>`;
  }
  out += `<g class="of-forward">${stroke(b.left, b.rail, b.x(turn), b.rail, "rail")}`;
  return out + arrows(b.left, b.x(turn), b.rail, 1) + dot(b.left, b.rail, 4, "knot") + "</g>";
}

// Lanes that fold at one depth lie side by side, so that each can be seen.
const OFFSET = { dga: -2, "dga-guided": 1.5, dda: 5, "dga-plus": 0 };
const offset = (name, fold, stop) =>
  name === "dda" && Math.abs(fold - stop.t) > 1 ? 0 : OFFSET[name];

function laneRail(b, lane, place, fold, stop) {
  const stale = moved(stop) && !ownDepth(place.name);
  const x = b.x(fold) + offset(place.name, fold, stop);
  const tip = stale ? b.left : b.x(Math.min(reached(lane), fold));
  const bend = Math.min(ROUND, x - b.left);
  // DGA+ goes in on noise of its own, which the forward strip does not show.
  const apart = place.name === "dga-plus";
  const fall = apart
    ? `M${x} ${place.rail}`
    : `M${x} ${b.rail}V${place.rail - bend}q0 ${bend} ${-bend} ${bend}`;
  const path = `${fall}H${Math.min(tip, x - bend)}`;
  const done = stale || reached(lane) === 0;
  const end = done ? marked(place.name, b.left, place.rail) : dot(tip, place.rail, 4, "end");
  const kind = `of-${place.name}${stale ? " old" : ""}`;
  return (
    `<g class="${kind}"><path d="${path}" class="rail"/>` +
    arrows(tip, x, place.rail, -1) + (apart ? dot(x, place.rail, 4, "knot") : "") + (done ? ring(b, place) : "") + end + "</g>"
  );
}

const ring = (b, place) => box(b.left + 1, place.y + 1, b.frame - 3, b.frame - 2, "frame");

function hatch(b, lane, place) {
  const left = reached(lane);
  if (!left || running()) return "";
  return box(b.left, place.y, b.x(left) - b.left - 1, b.frame, "hatched");
}

function laneSvg(b, place, stop) {
  const lane = laneOf(place.name);
  const ground = stroke(b.left, place.rail, b.right, place.rail, "ground");
  if (!lane || !stop) return ground;
  const fold = ownDepth(place.name) ? lane.depth : stop.t;
  if (!fold) return `<g class="of-${place.name}">${ring(b, place)}</g>`;
  const begun = stepsOf(lane) > 0 || settled();
  return (begun ? laneRail(b, lane, place, fold, stop) : ground) + hatch(b, lane, place);
}

function filmSvg(b, stop) {
  let out = forwardRail(b, stop);
  if (!b.narrow) {
    out += label(0, b.strip + 17, words.forward_way, "start", "strong");
    out += label(0, b.strip + 33, words.forward_more, "start");
    out += label(0, b.rail + 19, words.reverse_way, "start", "strong");
    out += label(0, b.rail + 35, words.reverse_more, "start");
  }
  out += b.lanes.map((place) => laneSvg(b, place, stop)).join("");
  const dda = laneOf("dda");
  if (stop && dda) out += `<g class="of-dda">${dot(b.x(dda.depth), b.rail, 4, "knot")}</g>`;
  if (stop && stop.t) out += `<g class="of-forward">${dot(b.x(stop.t), b.rail, 5, "knot")}</g>`;
  return out + hints(b, stop);
}

// Beside the lanes: what they are, and on wide screens how to read them.
function hints(b, stop) {
  if (b.narrow) {
    const strong = (text) => `<tspan class="strong">${text}</tspan>`;
    const way = (y, name, rest) => label(b.right, y, `${strong(name)} ${rest}`, "end");
    return (
      way(b.strip - 10, words.forward_way, words.forward_more) +
      way(b.rail + 22, words.reverse_way, words.reverse_more)
    );
  }
  const x = b.x(deepestFold(stop)) + 24;
  if (!value.lanes.length || x + 250 > b.right) return "";
  const beside = ({ name, middle }) =>
    label(x, middle + 4, laneWords(laneOf(name)), "start", "plain");
  const texts = b.lanes.filter(({ name }) => laneOf(name)).map(beside);
  const room = x + 440 < b.right;
  return texts.join("") + (room ? label(x, b.rail + 36, words.read_lanes, "start") : "");
}
