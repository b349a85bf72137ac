// Figures of what `dga gain` and `dga diagnose` wrote, with their intervals, as Python makes them.
const RESAMPLES = 2000;
const SURE = 0.5; // from which a finding counts as damage
const UNKNOWN = "These are no lines of gain or diagnose: drop the lines.jsonl of the folder they wrote.";
const signed = (points) => {
  const text = Math.abs(points).toFixed(1);
  return text === "0.0" ? text : `${points > 0 ? "+" : "−"}${text}`;
};
const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** Sentence and lines of a chart. Throws with a sentence. */
export function summarise(texts) {
  const lines = texts.flatMap(parseLines);
  const readings = lines.filter((line) => line?.method && line.path && line.corruption);
  if (readings.length) return summariseGain(readings);
  const pictures = lines.filter((line) => line?.path && Array.isArray(line.findings));
  if (pictures.length) return summariseDiagnoses(pictures);
  throw new Error(UNKNOWN);
}

/** An object a line; half a line at the end, of a run that goes on, is none. */
function parseLines(text) {
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n").filter(Boolean);
  try {
    return lines.map((line) => JSON.parse(line));
  } catch {
    throw new Error(UNKNOWN);
  }
}

/** The 95 % interval of a mean over pictures, by bootstrap; the same file gives the same one. */
function estimate(values) {
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const draw = () => mean(values.map(() => values[Math.floor(random() * values.length)]));
  const means = Array.from({ length: RESAMPLES }, draw).sort((one, other) => one - other);
  return [mean(values), means[Math.floor(0.025 * RESAMPLES)], means[Math.floor(0.975 * RESAMPLES)]];
}

/** Without labels a reading is right where it is that of the undamaged picture. */
function summariseGain(readings) {
  const isLabelled = readings.some(({ correct }) => correct != null);
  const method = readings.find((line) => line.method !== "source")?.method;
  const clean = (line) => line.method === "source" && line.corruption === "clean";
  const undamaged = new Map(readings.filter(clean).map((line) => [line.path, line.prediction]));
  const isRight = (line) =>
    isLabelled ? line.correct : line.prediction === undamaged.get(line.path);
  const pairs = new Map(); // by kind and path, before and after
  for (const line of readings) {
    if (line.method !== "source" && line.method !== method) continue;
    const key = JSON.stringify([line.corruption, line.path]);
    const side = line.method === "source" ? 0 : 1;
    (pairs.get(key) ?? pairs.set(key, []).get(key))[side] = Number(isRight(line));
  }
  const [byKind, byPath] = [new Map(), new Map()];
  for (const [key, pair] of pairs) {
    if (pair[0] === undefined || pair[1] === undefined) continue;
    const [kind, path] = JSON.parse(key);
    byKind.set(kind, [...(byKind.get(kind) ?? []), pair]);
    if (kind !== "clean") byPath.set(path, [...(byPath.get(path) ?? []), pair[1] - pair[0]]);
  }
  if (!byPath.size) throw new Error("These lines hold no picture both as it came and repaired.");
  const changes = [...byPath.values()].map(mean).map((change) => 100 * change);
  const [value, low, high] = estimate(changes);
  const verdict = low > 0 ? "helps" : high < 0 ? "harms" : "makes no sure change";
  const all = [...byKind].filter(([kind]) => kind !== "clean").flatMap(([, some]) => some);
  const count = (some, change) => some.filter(([one, other]) => other - one === change).length;
  const reading = isLabelled ? "right" : "as undamaged";
  const sentence =
    `Repair ${verdict}: ${signed(value)} points read ${reading} (${signed(low)} to ${signed(high)}, ` +
    `95 %), over ${byPath.size} pictures; ${count(all, 1)} became right, ${count(all, -1)} wrong.`;
  const lines = [...byKind].map(([label, some]) => {
    const [end, least, most] = estimate(some.map(([, after]) => 100 * after));
    const start = 100 * mean(some.map(([before]) => before));
    const shares = `${start.toFixed(1)} → ${end.toFixed(1)}`;
    const cells = [shares, `${count(some, 1)} / ${count(some, -1)}`];
    return { label, cells, start, end, low: least, high: most };
  });
  lines.sort((one, other) => other.end - other.start - one.end + one.start);
  return { sentence, heads: [`read ${reading}, %`, `became ${reading} / wrong`], lines };
}

/** Wilson's 95 % interval of a share, in per cent. */
function estimateShare(count, total) {
  const z = 1.96 ** 2;
  const middle = (count + z / 2) / (total + z);
  const half = (1.96 / (total + z)) * Math.sqrt((count * (total - count)) / total + z / 4);
  return [100 * Math.max(0, middle - half), 100 * Math.min(1, middle + half)];
}

function summariseDiagnoses(pictures) {
  const counts = new Map();
  for (const { findings } of pictures) {
    const kinds = findings.filter(({ sureness }) => sureness >= SURE).map(({ kind }) => kind);
    for (const kind of new Set(kinds)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const total = pictures.length;
  const damaged = pictures.filter((picture) => picture.damaged).length;
  const [low, high] = estimateShare(damaged, total);
  const share = ((100 * damaged) / total).toFixed(1);
  const sentence = `${damaged} of ${total} pictures are damaged: ${share} % (${low.toFixed(1)} to ${high.toFixed(1)}, 95 %).`;
  const lines = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([label, count]) => {
      const [least, most] = estimateShare(count, total);
      const cells = [`${count} of ${total}`];
      return { label, cells, end: (100 * count) / total, low: least, high: most };
    });
  return { sentence, heads: ["found in"], lines };
}
