// Where everything is, in pixels of the plot.
const FRAME = 32; // a film frame is at least this wide, or there is one for 10 depths, not 5
const PITCH = 64;

function layout() {
  const width = plot.clientWidth;
  const narrow = width < 560;
  const b = { width, narrow, left: narrow ? 6 : 128, right: width - (narrow ? 6 : 0) };
  const depth = (b.right - b.left) / value.steps;
  b.every = 5 * depth < FRAME ? 10 : 5;
  b.frame = Math.min(b.every * depth, 48);
  b.top = 48;
  b.bottom = b.top + (narrow ? 176 : 224);
  b.strip = b.bottom + (narrow ? 64 : 36);
  b.rail = b.strip + b.frame + 8;
  b.flag = b.rail + (narrow ? 34 : 20);
  b.lanes = lanesAt(b, depth);
  b.end = b.lanes.at(-1).rail;
  b.height = b.end + 12;
  b.x = (k) => b.left + k * depth;
  b.y = (c) => b.top + (1 - c) * (b.bottom - b.top);
  b.depthAt = (x) => clamp(Math.round((x - b.left) / depth), 0, value.steps);
  return b;
}

// On a phone a lane's name stands behind its fold; too deep a fold leaves no room there.
function lanesAt(b, depth) {
  const deepest = Math.max(0, ...value.lanes.map((lane) => lane.depth));
  b.above = b.narrow && b.left + deepest * depth + 112 > b.width;
  const pitch = Math.max(PITCH, b.frame + 24) + (b.above ? 20 : 0);
  const first = b.flag + 36 + (b.above ? 20 : 0);
  return Object.keys(words.lane).map((name, i) => {
    const y = first + i * pitch;
    return { name, y, middle: y + b.frame / 2, rail: y + b.frame + 7 };
  });
}

const deepestFold = (stop) => {
  const depths = value.lanes.map((lane) => (ownDepth(lane.name) ? lane.depth : stop?.t ?? 0));
  return Math.max(0, ...depths);
};
