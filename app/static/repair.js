// The first page: settings go out, a growing record comes back, and every touch repairs by itself.
import { all, countSteps, data, describeReading, explain, fillRow, find, getJson } from "./base.js";
import { checkRadio, make, mark, percent, put, putImage, receiveFiles } from "./base.js";
import { Refusal, run } from "./base.js";
import { drawInside, keepsStop } from "./inside.js";
import { makeBrush } from "./brush.js";
import { resetDivider, revealRepair } from "./divider.js";
import { offerCamera } from "./camera.js";
import { makeAsker, makeSharing, nameTouched } from "./hide.js";

const page = data();
const USUAL_RULE = { tau: null, max_depth: null };
/** Without damage, or before the first stroke of the brush, strength does not matter. */
function nameRecord({ photo, damage, strength, seed, max_depth }) {
  const what = ["none", "paint"].includes(damage) ? "none-5" : `${damage}-${strength}`;
  return [photo, what, seed, ...(max_depth == null ? [] : [max_depth])].join("-");
}
const USUAL = { strokes: "", seed: 0, ...USUAL_RULE }; // of another photo
const isRecorded = (some = settings) =>
  page.recorded.includes(nameRecord(some)) &&
  [some.tau, some.saved].every((choice) => choice == null) &&
  !some.strokes.length;

let settings = { ...page.opening };
const isSample = () => settings.photo in page.samples; // or somebody's own
let record = page.record ?? {};
let activeRun = null; // the one that is waited for
let shownDamage = page.opening.damage; // of the damaged picture in the record
let thumbnailsOf = ""; // the photo whose thumbnails the damages have
let inDivider = "repaired"; // which picture stands right of the divider
let linkMethod = ""; // whose picture a link asks for, until it is there
let ownPicture = null; // the visitor's file, as the browser itself shows it
const findOwnPicture = () => (ownPicture?.photo === settings.photo ? ownPicture.src : null);

const picture = find("#picture");
const before = find("#before");
const after = find("#after");

// ---- What is seen of the record

function showRow(name) {
  const row = find(`#row-${name}`);
  if (name === "damaged") {
    row.hidden = isUndamaged() && !isGame();
    put(find(".what", row), isGame() ? "Painted" : "Damaged");
  }
  if (name === "original")
    put(find(".what", row), isUndamaged() && !isGame() ? "As it came" : "Original");
  const part = name === "repaired" ? inDivider : name;
  const ours = isUnchanged() && !isBlank(part) ? "Left alone" : "Repaired";
  if (name === "repaired") {
    row.hidden = part === name && isUnchanged() && isUndamaged() && !isGame(); // the row above
    put(find(".what", row), part === name ? ours : page.sides[part]);
  }
  const middle = part === "repaired" && isBlank(part) && !isBlank("middle") && record.middle;
  const piece = part === "damaged" && isPainted() ? live?.reading : middle?.reading;
  if (middle) put(find(".what", row), "Middle");
  // Of a sample somebody said what it shows.
  if (piece) piece.is_right = isSample() && findThing() ? piece.label === findThing() : null;
  row.classList.toggle("is-old", isBlank(part) && !piece);
  fillRow(row, isBlank(part) ? piece : record[part]?.reading);
  find(".label", row).title = row.classList.contains("is-unsure") ? page.perhaps : "";
  const pending = state === "running" ? "…" : part === "repaired" && isGame() ? "not yet" : "";
  if (isBlank(part) && !piece) put(find(".label", row), isBefore() ? "not yet" : pending);
}

const showTag = (selector, side, part) =>
  put(find(selector), part ? side + mark(part.reading) : "");

/** Whether our repair left the photo as it was. */
const isUnchanged = () => !isOld.repaired && Boolean(record.repaired?.is_unchanged);

/** Whether nothing is done to the photo here: neither damage nor, so far, a stroke. */
function isUndamaged() {
  return isOld.damaged || !record.damaged
    ? settings.damage === "none" || isBefore()
    : record.is_damaged === false;
}

/** The photo as it came, as far as it is here: a sample at least small. */
function findWhole() {
  const { image } = (isOld.original ? null : record.original) ?? {};
  return image ?? findOwnPicture() ?? find(`#samples [value="${settings.photo}"] ~ img`)?.src;
}

/** The nearest picture at hand of what the photo will look like; strokes are drawn over it. */
function previewDamage() {
  const { original, damaged } = isOld.original ? {} : record;
  const { photo, damage } = settings;
  const isKept = damage === shownDamage && damage !== "paint"; // strokes may be taken back
  if (original && isKept && !isUndamaged()) return damaged?.image;
  const name = isUndamaged() || damage === "paint" ? "none" : damage;
  const thumbnail =
    thumbnailsOf === photo ? find(`#damage [value="${name}"] ~ .face img`).getAttribute("src") : null;
  return name === "none" ? (findWhole() ?? thumbnail) : (thumbnail ?? findWhole());
}

function showPicture() {
  const { width, height } = record.original ?? {};
  const right = record[inDivider] ?? record.repaired;
  const isLeftOld = isOld.damaged || !record.damaged;
  const isSquare = width === height || inDivider === "repaired" || !record.film;
  const damaged = isSquare ? record.damaged?.image : record.film[0].image; // as the others see it
  const preview = isLeftOld ? previewDamage() : damaged;
  const left = preview ?? damaged;
  const isRightOld = !right || Boolean(isOld[right === record.repaired ? "repaired" : inDivider]);
  const isPlain =
    isUndamaged() &&
    Boolean(preview) &&
    (isRightOld || (right === record.repaired && right.is_unchanged !== false));
  const whole = isRightOld ? left : right.image; // never the repair of another damage
  putImage(before, left);
  putImage(after, whole);
  before.classList.toggle("is-old", Boolean(isOld.damaged) && !preview);
  after.classList.toggle("is-old", isRightOld && !isPlain);
  picture.classList.toggle("is-plain", isPlain);
  showStrokes();
  find("#hold").hidden = isUndamaged(); // it would show what the left half shows
  const isAsItCame =
    isUndamaged() || (isLeftOld && settings.damage !== "paint" && preview === findWhole());
  const side = isAsItCame ? "As it came" : isPainted() ? "Painted" : "Damaged";
  if (isLeftOld) put(find("#tag-before"), preview ? side : "");
  else showTag("#tag-before", side, record.damaged);
  const isAlone = inDivider === "repaired" && right?.is_unchanged;
  const isHere = !isRightOld && !isBefore();
  showTag("#tag-after", isAlone ? "Left alone" : page.sides[inDivider], isHere ? right : null);
  if (isRightOld && !isBefore())
    put(find("#tag-after"), state === "painting" ? nameScore() : countParts() || describeState());
  const size = isSquare ? `${width} × ${height}` : "middle square";
  put(find("#size"), width && width !== height ? size : "");
  if (record.original?.image)
    picture.style.setProperty("--held", `url("${record.original.image}")`);
}

function showFound() {
  const { waiting } = record;
  const found = isOld.found || isBefore() ? null : record.found;
  const isUntouched = find(".first").matches(".is-untouched"); // no more than its first words
  find("#again").hidden = !["failed", "stopped"].includes(state);
  const text =
    state === "painting" || (state !== "failed" && isBefore() && !isBlank("original"))
      ? describeAim()
      : found
        ? `Found: ${isUntouched ? found.sentence.replace(/\..*/s, ".") : found.sentence}`
        : waiting && state === "running"
          ? `Busy just now: ${waiting === 1 ? "one visitor is" : `${waiting} visitors are`} before you.`
          : describeWork();
  const other = inDivider === "repaired" || isOld[inDivider] ? null : record[inDivider];
  const theirs = other?.depth
    ? `${countSteps(other.depth)} of noise added, then as many taken out.${nameLimit()}`
    : `${nameRest(inDivider)}.`;
  put(find("#found"), other ? `${page.sides[inDivider]}: ${theirs}` : text);
  const isShared = found && !isGame(); // a game has a place for that of its own
  find("#share").hidden = !isShared || !isSample(); // own photos have no link
  const download = find("#download");
  const isTaken = isShared && record.download && !isOld.download && !isUnchanged() && !other;
  download.hidden = find("#card").hidden = !isTaken;
  if (record.download) download.href = record.download;
  for (const card of all(".keep-card")) {
    card.href = `card.png?${writeQuery()}`;
    card.download = isSample() ? `${settings.photo}.png` : "card.png";
  }
}

/** Why another method added no noise: one of our limits, or its own rule. */
const nameRest = (name) =>
  name === "paper" && record.stop?.has_given_up && !isOld.stop
    ? `left alone: even after ${page.horizon} steps its detector would be sure of damage`
    : "left alone";

/** That the paper's own rule would have gone on. */
const nameLimit = () => {
  const { stop } = inDivider === "paper" && !isOld.stop ? record : {};
  const isLimited = stop && !stop.is_crossed && stop.depth === page.cap;
  return isLimited ? " That is our limit, which Inside can lift." : "";
};

function showTiles() {
  for (const name of ["paper", "fixed"]) {
    const tile = find(`#tile-${name}`);
    const part = record[name];
    const image = find("img", tile);
    image.hidden = !part;
    putImage(image, part?.image);
    tile.disabled = !part;
    tile.classList.toggle("is-old", Boolean(isOld[name]));
    tile.setAttribute("aria-pressed", String(inDivider === name));
    const { tau, max_depth } = settings;
    let choice = "";
    if (name === "paper" && tau != null) choice = `, at your τ ${percent(tau)}`;
    if (name === "paper" && max_depth != null) choice += ", without our limit";
    const hasBegun = record.repaired && !isOld.repaired;
    let text = "not computed";
    if (state === "running")
      text = hasBegun ? "being computed …" : "comes after our repair";
    const deed = part?.depth === 0 ? "left alone: " : "";
    if (part && !isOld[name])
      text = `${deed}${describeReading(part.reading)}${choice}`;
    put(find(".reading", tile), text);
  }
}

/** How often photos with such damage are repaired, at full strength whatever was chosen. */
function showRates() {
  const { damage } = settings;
  const isNone = damage === "none";
  const isOwn = isNone && !isSample() && !isUnchanged(); // as damaged as it came
  const kind = isOwn ? "mean" : damage;
  const { [kind]: plain, [`${kind}-saved`]: saved } = page.rates;
  const rate = settings.saved == null ? (plain ?? saved) : (saved ?? plain);
  find("#rates").hidden = !rate;
  if (!rate) return put(find("#how-often"), "How often this damage is repaired was not measured.");
  let pictures = "photographs with this damage at full strength";
  if (isOwn) pictures = "pictures that were badly damaged, and saved as JPEG";
  else if (isNone) pictures = "undamaged photographs";
  find("#rate").href = `results#${rate.place}`;
  const count = ({ before, after, pictures }) =>
    [before, after].map((share) => Math.round(share * pictures));
  const [before, after] = count(plain ?? saved);
  const others = plain && saved ? `; of the same, saved as JPEG, ${count(saved).join(" and ")}` : "";
  put(
    find("#how-often"),
    `Of ${rate.pictures} ${pictures}, ${before} are read right, and ${after} after our repair${others}.`,
  );
  for (const part of ["before", "after"]) {
    find(`#rates .${part}`).style.setProperty("--share", `${100 * rate[part]}%`);
  }
}

// Before the first touch there are the picture, what is read of it, and little else.
function begin({ key } = {}) {
  const first = find(".first");
  if (key === "Tab" || key === "Shift" || !first.matches(".is-untouched")) return;
  first.classList.remove("is-untouched");
  setTimeout(showControls); // after what the touch has chosen
  showFound();
}
for (const kind of ["click", "keydown"]) find(".first").addEventListener(kind, begin);

const LONG = innerWidth > 1340 ? 85 : 100; // letters, from which a headline is set smaller
function showAll() {
  const isUnsaid = isOld.headline || !record.headline;
  const question = state === "failed" ? "Not repaired" : "What does AI see? …";
  const sentences = isUnsaid ? [question] : record.headline.split(/(?<=[.!?]) /);
  if (inDivider !== "repaired") sentences.splice(Number(settings.damage !== "none")); // of our repair
  const headline = describeGame() || sentences.join(" ") || page.sides[inDivider];
  put(find("#headline"), headline);
  find("#headline").classList.toggle("is-long", headline.length > LONG);
  for (const name of ["original", "damaged", "repaired"]) showRow(name);
  showPicture();
  putImage(find('#damages [value="none"] ~ .face img'), findWhole());
  showFound();
  showTiles();
  showRates();
  showGame();
  find("#reset").hidden = Object.keys(USUAL_RULE).every((name) => settings[name] == null);
  find("#working").hidden = state !== "running" || Boolean(record.repaired && !isOld.repaired);
  const { done, total } = isOld.progress ? {} : (record.progress ?? {});
  find("#working").classList.toggle("is-counted", done < total); // the whole is not counted
  find("#working i").style.width = done < total ? `${(100 * done) / total}%` : "";
  showInside();
}

// Where noise does not hide the opening's damage, Inside begins with a recorded run where it does.
let example = null; // until the visitor changes something

/** Of what is old, only the drawings stay, dimmed and without what was read. */
function showInside() {
  find("#example")?.toggleAttribute("hidden", !example);
  if (example) return drawInside(example, page.falling, changeInside, page, false);
  const stays = ([name]) =>
    !isOld[name] || name === "film" || name === "curve" || (name === "depths" && isOld.film);
  const seen = Object.fromEntries(Object.entries(record).filter(stays));
  if (isOld.curve) seen.curve = { ...record.curve, is_done: false, is_old: true };
  find("#chart").classList.toggle("is-old", Boolean(isOld.curve));
  find("#film").classList.toggle("is-old", Boolean(isOld.film));
  drawInside(seen, settings, changeInside, page, state === "running");
}

/** Who touches a control of Inside has its example as the photo above. */
function changeInside(some, wait) {
  if (example?.film) {
    settings = { ...page.falling };
    const whole = example;
    example = null;
    receive(whole);
    showControls();
    keepAddress(true);
  }
  change(some, wait);
}

// ---- Running

let state = "done"; // or painting, running, failed; stopped: after our repair, before the rest
let patience = 2000; // milliseconds from a failure until the same is asked again
let isOld = {}; // parts of the last result that no newer one has replaced
function describeState() {
  if (state === "failed") return "";
  if (state === "running" && !isBlank("middle")) return "Now the whole photo …"; // first its middle
  return isBefore() ? "Reading the photo …" : "Looking …";
}
/** How far a repair is; empty where that is not counted. */
function countParts() {
  const { done, total } = isOld.progress ? {} : (record.progress ?? {});
  if (!total || state !== "running") return "";
  return done < total ? `${done} of ${total} parts` : `the whole, after ${total} parts`;
}
function describeWork() {
  if (state === "failed") return "This page tries again by itself.";
  const parts = countParts();
  return parts ? `Repairing ${parts} …` : describeState();
}

// ---- Hide it from AI: while somebody paints, the classifier is asked; then the repair is

const KEYS = matchMedia("(pointer: fine)").matches ? " Keys: arrows, Space." : "";
const describeAim = () =>
  (findThing()
    ? "Paint until AI sees something else; then our repair strikes back."
    : "Paint, and our repair answers each stroke.") + KEYS;
let live = null; // what is read of the strokes so far, and the share that they touch
const isGame = () => settings.damage === "paint";
const isPainted = () => isGame() && (settings.strokes !== "" || state === "painting");
const isBefore = () => isGame() && !isPainted();
/** What nothing is said of: it is old, or there is no stroke yet. */
const isBlank = (part) =>
  !record[part] || Boolean(isOld[part]) || (isBefore() && part !== "original");
/** What there is to hide: null where nobody knows, or nothing of the photo has come. */
function findThing() {
  const { reading } = isOld.original ? {} : (record.original ?? {});
  if (!reading) return null;
  return record.truth ?? (reading.is_sure ? reading.label : null);
}
const isHidden = () => live && live.reading.label !== findThing();

const ask = makeAsker(
  (asked, answer) => {
    if (state !== "painting" || asked.photo !== settings.photo) return;
    live = { ...answer, strokes: asked.strokes };
    if (asked.strokes === settings.strokes && !brush.isDrawing())
      if (isHidden()) return startRepair();
    put(find("#headline"), describeGame());
    put(find("#tag-after"), nameScore());
    showRow("damaged");
    showGame();
  },
  (asked, error) => {
    const isWanted = state === "painting" && asked.photo === settings.photo;
    if (isWanted && !brush.isDrawing()) fail(explain(error));
  },
);

const nameScore = () => (live ? `${nameTouched(live.touched)} brushed over` : "");

function startRepair() {
  state = "running";
  showAll();
  start();
}

function fail(sentence) {
  state = "failed";
  say(sentence, true);
  showAll();
  clearTimeout(fail.timer);
  fail.timer = setTimeout(() => state === "failed" && resume(), patience);
  patience = Math.min(2 * patience, 60_000);
}

/** After what came to nothing: a stroke, or an answer. */
function resume() {
  say("");
  const isPainting = settings.strokes && findThing();
  markOld(["damage"], isPainting ? "painting" : "running");
  if (isPainting) ask(settings);
  else start();
}

/** Of a piece of a stroke only the reading is asked for. */
function paintPiece(strokes) {
  clearTimeout(change.timer);
  activeRun?.cancel();
  activeRun = null;
  if (state !== "painting") {
    for (const name of Object.keys(record)) if (name !== "original") isOld[name] = true;
    [state, live] = ["painting", null];
    showAll();
  }
  ask({ ...settings, strokes });
  put(find("#headline"), describeGame());
}

/** The photo with its strokes alone, until its repair is there. */
function showStrokes() {
  const isAlone = isPainted() && (!record.repaired || Boolean(isOld.repaired));
  picture.classList.toggle("is-painting", isAlone);
  brush.show(isAlone);
}

/** The headline while somebody paints. */
function describeGame() {
  const thing = findThing();
  const name = isSample() ? `the ${thing}` : `“${thing}”`;
  if (!isGame() || state === "failed" || inDivider !== "repaired") return "";
  if (!isPainted()) {
    if (!record.original || isOld.original) return "";
    return thing ? `Can you hide ${name} from AI?` : "AI is not sure what this is, even unpainted.";
  }
  if (record.repaired && !isOld.repaired) return "";
  if (state === "running" && thing && isHidden())
    return "Hidden from AI. Can the repair find it? …";
  if (state !== "painting") return "";
  if (!thing || !live) return "Painting …";
  const isLate = brush.isDrawing() || live.strokes !== settings.strokes; // of earlier strokes
  const sees = live.reading.is_sure ? "AI still sees" : "Nearly: AI still guesses";
  const sight = isHidden() ? `Hidden: AI no longer sees ${name}` : `${sees} ${name}`;
  return sight + (isLate ? " …" : ".");
}

function showGame() {
  find("#game").hidden = !isGame();
  const { repaired, damaged, touched } = record;
  const isDone = isPainted() && repaired && !isOld.repaired;
  const share = !isPainted() ? 0 : isOld.touched ? live?.touched : (touched ?? live?.touched);
  put(find("#touched"), share == null ? (state === "failed" ? "–" : "…") : nameTouched(share));
  const thing = findThing();
  const [was, is] = [damaged, repaired].map((part) => part?.reading.label === thing);
  let outcome = isDone ? "" : "Use little paint.";
  if (record.original && !isOld.original && !thing) outcome = "No score: AI is not sure of it.";
  if (isDone && thing)
    outcome = was ? "Not hidden yet." : is ? "The repair wins." : "The painter wins.";
  put(find("#outcome"), outcome);
  find("#sharing").hidden = !isDone;
  find("#sharing .share").hidden = !isSample();
}

// Who paints sees no more than the repair; the rest is computed where it comes into sight.
new IntersectionObserver(([{ isIntersecting }]) => {
  if (isIntersecting && isGame() && state === "done" && !record.depths) startRepair();
}).observe(find("#inside"));

// The bar marks what the middle of the screen shows.
const marks = { page: find(".bar [aria-current]"), location: find('.bar [href$="#inside"]') };
new IntersectionObserver(
  ([{ isIntersecting }]) => {
    const [here, there] = isIntersecting ? ["location", "page"] : ["page", "location"];
    marks[here].setAttribute("aria-current", here);
    marks[there].removeAttribute("aria-current");
  },
  { rootMargin: "-50% 0px" },
).observe(find("#inside"));

for (const button of all(".share")) makeSharing(button, say);
const BY_RULE = ["stop", "paper", "guided"];
const OLD_BY = { tau: BY_RULE, max_depth: BY_RULE };

/** What other settings make old is marked at once; a damage leaves the original as it is. */
function markOld(changed, next = "running") {
  const parts = Object.keys(record).filter(
    (name) => name !== "original" || changed.includes("photo"),
  );
  for (const name of changed.flatMap((setting) => OLD_BY[setting] ?? parts)) isOld[name] = true;
  state = next;
  showAll();
}

/** Where only the paper's rule was changed, what grows again as it was is there already. */
function isBehind(name, value) {
  const grownPart = isOld[name] ? null : record[name];
  if (name === "curve") return value.confidence.length < grownPart?.confidence.length;
  return name === "depths" && value.length < grownPart?.length;
}

function receive(part) {
  patience = 2000;
  const isNew = part.repaired && (isOld.repaired || !record.repaired);
  if ("damaged" in part) shownDamage = settings.damage;
  if ("repaired" in part) loadThumbnails(); // no earlier: the server repairs first
  if ("damaged" in part && isOld.damaged) {
    const { repaired, paper, fixed, curve, film, depths } = record;
    record = { waiting: 0, repaired, paper, fixed, curve, film, depths };
  }
  for (const [name, value] of Object.entries(part)) {
    if (!isBehind(name, value)) record[name] = value;
    delete isOld[name];
  }
  if (record[linkMethod] && !isOld[linkMethod]) [inDivider, linkMethod] = [linkMethod, ""];
  showAll();
  if (isNew) revealRepair();
}

async function start(isStep = false) {
  keepAddress(isStep);
  const name = nameRecord(settings);
  const is_brief = isGame() && find("#inside").getBoundingClientRect().top > innerHeight;
  const thisRun = isRecorded()
    ? readRecorded(name)
    : run("watch", { ...settings, is_brief }, receive);
  activeRun = thisRun;
  try {
    await thisRun.done;
  } catch (error) {
    if (thisRun !== activeRun || error.name === "AbortError") return;
    const sentence = explain(error);
    if (sentence === page.goneSentence) {
      change({ ...page.opening });
      say(sentence, true);
    } else if (record.repaired && !isOld.repaired) {
      state = "stopped"; // behind a finished repair, which stays
      say(sentence, true);
    } else {
      fail(sentence);
    }
  }
  if (thisRun !== activeRun) return;
  activeRun = null;
  if (state === "running") {
    for (const part of Object.keys(isOld)) delete record[part]; // of a run that was brief
    [state, isOld] = ["done", {}];
  }
  showAll();
}

function readRecorded(name) {
  const end = new AbortController();
  const done = getJson(`recorded/runs/${name}.json`, { signal: end.signal }).then(receive);
  return { done, cancel: () => end.abort() };
}

/** Change some settings and repair again. */
function change(some, wait = 0) {
  const next = { ...settings, ...some };
  if (["none", "paint"].includes(next.damage)) next.saved = null;
  const changed = Object.keys(next).filter((name) => next[name] !== settings[name]);
  if (!changed.length) return { failed: resume, stopped: startRepair }[state]?.();
  begin();
  example = null;
  const isOther = next.photo !== settings.photo || next.damage !== settings.damage;
  const isElsewhere = next.photo !== settings.photo;
  if (isElsewhere || (isOther && next.damage === "paint")) resetDivider();
  settings = next;
  if (isElsewhere && !isRecorded()) forgetPhoto();
  say("");
  if (isOther) [inDivider, live] = ["repaired", null];
  if (!next.strokes) live = null;
  linkMethod = "";
  if (changed.join() === "tau" && state === "done" && keepsStop(record, next, page)) {
    keepAddress(false);
    return showAll();
  }
  activeRun?.cancel();
  activeRun = null;
  const isOnlyRead = next.strokes && "strokes" in some && !isOther && findThing();
  markOld(changed, isOnlyRead ? "painting" : "running");
  showControls();
  clearTimeout(change.timer);
  if (isOnlyRead) {
    keepAddress(false);
    return ask(settings);
  }
  change.timer = setTimeout(() => start(isOther), wait);
}

/** Nothing of the photo before stands beside a new one. */
function forgetPhoto() {
  [record, isOld, thumbnailsOf] = [{}, {}, ""];
  for (const image of [before, after, ...all("#noised img, #rebuilt img, .face img")])
    image.removeAttribute("src");
  showAll();
}

function say(text, isFault = false) {
  const notice = find("#notice");
  notice.hidden = !text;
  notice.classList.toggle("is-fault", isFault);
  put(notice, text);
}

// ---- The address is the state, but for own photos

// Where this tab keeps the settings of an own photo until it loads again.
const OWN_PHOTO = "own-photo";
let storage = null;
try {
  storage = sessionStorage;
} catch {} // a browser that allows none

/** What is seen, as a link says it. */
function writeQuery() {
  const query = new URLSearchParams();
  for (const name of ["photo", "damage", "strength", "saved", "seed", ...Object.keys(USUAL_RULE)]) {
    const isSaid = name === "damage" && settings.strokes; // by the strokes
    if (!isSaid && settings[name] != null && settings[name] !== page.opening[name])
      query.set(name, settings[name]);
  }
  if (settings.strokes) query.set("strokes", settings.strokes);
  const method = linkMethod || inDivider;
  if (method !== "repaired") query.set("method", method);
  return query.toString();
}

/** `isStep`: whether Back leads to what was before. Own photos have no address. */
function keepAddress(isStep) {
  const text = isSample() ? writeQuery() : "";
  storage?.setItem(OWN_PHOTO, JSON.stringify(isSample() ? null : settings));
  const address = location.pathname + (text && `?${text}`) + location.hash;
  const isNew = JSON.stringify(history.state) !== JSON.stringify(settings);
  if (isStep && isNew) history.pushState(settings, "", address);
  else history.replaceState(settings, "", address);
  for (const link of all("a[href*='#']"))
    if (link.pathname === location.pathname) link.search = location.search;
}

addEventListener("popstate", ({ state: earlier }) => {
  if (!earlier) return history.replaceState(settings, ""); // a link within the page
  const next = { ...earlier };
  if (JSON.stringify(next) === JSON.stringify(settings)) return;
  change(next);
});

// ---- Controls

/** A sample opens with its own damage, unless the visitor has chosen another. */
find("#samples").addEventListener("change", ({ target: { value: photo } }) => {
  const isChosen = !["none", page.samples[settings.photo]].includes(settings.damage);
  const own = { damage: page.samples[photo], strength: page.opening.strength };
  change({ ...USUAL, photo, ...(isChosen ? {} : own) });
});
const chooseDamage = (damage) => change({ damage, strokes: "", max_depth: null });
for (const group of ["#damages", "#everyday-damages"])
  find(group).addEventListener("change", ({ target }) => chooseDamage(target.value));
const brush = makeBrush(find("#strokes"), picture, page.brush, {
  onPiece: paintPiece,
  onStroke: (strokes) => change({ strokes }),
  onCancel: resume,
  onFull: () => say(`${page.brush.full} Please undo some, or begin again.`, true),
});
find("#hide").addEventListener("click", () => {
  change({ ...USUAL, damage: "paint" });
  find("#strokes").focus({ preventScroll: true });
  find("#headline").scrollIntoView({ block: "nearest" }); // it asks
});
find("#stop-painting").addEventListener("click", () => {
  chooseDamage(isSample() ? page.opening.damage : "none");
});
find("#again").addEventListener("click", () => change({}));

function showControls() {
  if (page.thumbnails.includes(settings.photo)) loadThumbnails();
  checkRadio(find("#samples"), settings.photo);
  find("#idea").hidden = !isSample();
  find("#vocabulary").hidden = isSample(); // whoever brings a photo may bring one of herself
  checkRadio(find("#damage"), settings.damage);
  if (!isGame()) showChosen(find(`#damage label:has([value="${settings.damage}"])`));
  find("#saved").checked = settings.saved != null;
  find("#strength").value = settings.strength;
  find("#strength").setAttribute("aria-valuetext", `${settings.strength} of 5`);
  find("#brushes").hidden = !isGame();
  for (const place of ["#strength-row", ".damage .switch"])
    find(place).classList.toggle("is-empty", settings.damage === "none");
  find("#hide").hidden = isGame();
  find(".first").classList.toggle("is-game", isGame());
  find("#draw-here").hidden = !isGame() || settings.strokes !== "";
  brush.toggle(isGame(), settings.photo, settings.strokes);
}

function showChosen(damage) {
  if (damage.matches(".more, #everyday *") || settings.saved != null) openMore(true);
  const strip = damage.closest(".choices, #everyday-damages"); // on a phone it scrolls sideways
  if (strip.id === "everyday-damages") find("#everyday").open = true;
  const margin = (strip.clientWidth - damage.offsetWidth) / 2;
  strip.scrollTo({ left: damage.offsetLeft - strip.offsetLeft - margin });
}

function openMore(open) {
  find("#damage").classList.toggle("is-open", open);
  find("#more").setAttribute("aria-expanded", String(open));
  put(find("#more .face"), open ? "−" : `+${all("#damages .more, #everyday .thumb").length}`);
  put(find("#more .later"), open ? "fewer" : "more");
}

find("#saved").addEventListener("change", ({ target }) => {
  change({ saved: target.checked ? page.quality : null });
});
find("#more").addEventListener("click", () => {
  const isOpening = find("#more").getAttribute("aria-expanded") !== "true";
  openMore(isOpening);
  if (isOpening) find("#damages .more input").focus({ preventScroll: true }); // they come before it
});
find("#strength").addEventListener("input", (event) => {
  change({ strength: Number(event.target.value) }, 150);
});
for (const name of ["paper", "fixed"]) {
  find(`#tile-${name}`).addEventListener("click", () => {
    inDivider = inDivider === name ? "repaired" : name;
    linkMethod = "";
    keepAddress(false);
    showAll();
    picture.scrollIntoView({ block: "nearest" });
  });
}
find("#draw").addEventListener("click", () => changeInside({ seed: settings.seed + 1 }));
// Each hides itself: the focus goes where the way back is.
find("#lift").addEventListener("click", () => {
  change({ max_depth: page.deepest });
  find("#reset").focus();
});
find("#reset").addEventListener("click", () => {
  change(USUAL_RULE);
  find("#tau").focus({ preventScroll: true });
});

// ---- Own photos: chosen, pasted or dropped

async function upload(file) {
  if (!file) return;
  const fileName = file.name || "The photo";
  if (file.size > page.mostBytes)
    return say(
      `${fileName}: the file is too large, at most ${page.mostBytes >> 20} MB are read.`,
      true,
    );
  say(`Reading ${fileName} …`);
  try {
    const headers = {
      "x-name": encodeURIComponent(file.name || "photo"),
      "content-type": "application/octet-stream",
    };
    const photo = await getJson("photo", { method: "POST", headers, body: file });
    await showOwn(file, photo.photo);
    change({ ...USUAL, photo: photo.photo, damage: "none" });
    const [width, height] = photo.full_size;
    const reduced = `${width} × ${height} pixels, reduced to ${photo.width} × ${photo.height} here.`;
    const lost = `Of this file a repaired download lacks ${photo.losses.join(", ")}.`;
    const notes = [width > photo.width && reduced, photo.losses.length && lost].filter(Boolean);
    if (notes.length) say(notes.join(" "));
  } catch (error) {
    say(
      error instanceof Refusal
        ? `${fileName}: ${error.message} The photo before stays.`
        : "The photo could not be sent. Please try again.",
      true,
    );
  }
}

/** The file itself is seen until the server sends the picture; few browsers show HEIC. */
async function showOwn(file, photo) {
  if (ownPicture) URL.revokeObjectURL(ownPicture.src);
  const image = make("img", { src: URL.createObjectURL(file) });
  const isShown = await image.decode().then(() => true).catch(() => false);
  ownPicture = isShown ? { photo, src: image.src } : null;
}

receiveFiles(find("#photo"), ([file]) => upload(file));
offerCamera(page.side, upload);
addEventListener("paste", (event) => upload([...event.clipboardData.files][0]));

/** What each damage makes of the photo, recorded or made by the server. */
async function loadThumbnails() {
  const { photo } = settings;
  if (photo === thumbnailsOf) return;
  thumbnailsOf = photo;
  for (const image of all("#damage .face img")) image.removeAttribute("src");
  const isRecorded = page.thumbnails.includes(photo);
  const address = isRecorded ? `recorded/thumbnails/${photo}.json` : `thumbnails/${photo}`;
  const thumbnails = await getJson(address).catch(() => ({}));
  if (photo !== thumbnailsOf) return;
  for (const [name, image] of Object.entries(thumbnails))
    putImage(find(`#damage [value="${name}"] ~ .face img`), image);
  showAll();
}

const { asked, stray } = document.body.dataset; // what the link asks for, as the server checked it
Object.assign(settings, JSON.parse(asked));
if (settings.max_depth) settings.max_depth = page.deepest; // none or all of it is offered here
const method = new URLSearchParams(location.search).get("method");
if (["paper", "fixed"].includes(method)) linkMethod = method;
if (!location.search) settings = JSON.parse(storage?.getItem(OWN_PHOTO) ?? null) ?? settings;
if (location.search || settings.photo !== page.opening.photo || !page.record) begin();
showControls();
if (JSON.stringify(settings) === JSON.stringify(page.opening) && page.record) {
  example = page.falling && {};
  receive({}); // a link may ask for another method
  revealRepair(true);
  // What stands further down: of this run, or of the example.
  getJson(`recorded/runs/${nameRecord(page.falling ?? settings)}.json`)
    .then((rest) => {
      if (JSON.stringify(settings) !== JSON.stringify(page.opening)) return;
      if (!page.falling) return receive(rest);
      example &&= rest;
      showInside();
    })
    .catch(() => {
      [state, example] = ["stopped", null];
      showAll();
    });
} else {
  if (settings.photo !== page.opening.photo) forgetPhoto();
  markOld(["damage"]);
  start();
}
if (stray) say(stray);
keepAddress(false);
if (location.hash === "#inside") find("#inside").focus();
