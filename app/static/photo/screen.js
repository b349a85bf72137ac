// All parts together, and what is chosen.
function sentence() {
  if (value.key === undefined) return; // the page came with its first words
  const here = value.singles[depth];
  const rival = pictures.has(depth) ? words.each : words.single_waits;
  const own = fill(rival, { own: db(value.own ?? 0) });
  const known = here === undefined ? words.single_unknown : words.single;
  const said = inOne() ? `${fill(known, { depth, here: db(here ?? 0) })}<br>${own}` : value.said;
  const heading = at(".ph-said h1");
  if (heading.innerHTML !== said) heading.innerHTML = said;
  put(at(".ph-note"), value.note);
  put(at(".ph-notice"), [misread, value.notice].filter(Boolean).join(" "));
  put(at(".ph-error"), value.error);
}

const graded = () => !["none", "strokes", "ramp"].includes(value.damage.kind);
function rail() {
  const root = at("#ph-rail");
  const { kind, severity } = value.damage;
  const close = root.querySelector(".ph-close");
  show(close, Boolean(value.closeUps) || open());
  close.classList.toggle("open", !value.closeUps);
  put(close.querySelector("h2"), value.closeUps ? words.no_single : words.does_single);
  const unknown = "<figure><u></u><figcaption></figcaption></figure>".repeat(4);
  const asks = `<button type="button" class="ph-button" data-survey>${words.draw}</button>`;
  close.querySelector("div").innerHTML = value.closeUps || (done() && !surveys ? asks : unknown);
  root.querySelector(".ph-found").classList.toggle("unknown", !done());
  root.querySelector(".ph-found span").innerHTML = value.found ?? "";
  for (const node of root.querySelectorAll("[data-name], [data-brush]")) {
    press(node, [value.name, brush].includes(node.dataset.name ?? node.dataset.brush));
  }
  root.querySelector(".ph-upload").classList.toggle("on", value.name === "");
  root.querySelector(".ph-already input").checked = kind === "none";
  show(root.querySelector(".ph-damage"), kind !== "none");
  const n = painted().length;
  const counted = n === 1 ? words.stroke : n ? fill(words.strokes, { n }) : "";
  const said = [brush && words.paint, counted].filter(Boolean);
  put(root.querySelector(".ph-strokes span"), said.join(" · "));
  show(root.querySelector("[data-undo]"), n > 0);
  root.querySelector("select").value = isOwn() ? "" : kind;
  show(root.querySelector(".ph-severity"), graded());
  for (const node of root.querySelectorAll("[data-severity]")) press(node, Number(node.dataset.severity) === severity);
  for (const node of root.querySelectorAll(".ph-slide input")) {
    const unit = node.name === "size" ? "px" : "%";
    put(node.previousElementSibling.querySelector("b"), `${node.value} ${unit}`);
  }
}

function draw() {
  if (!ready) return;
  find(".ph-box").dataset.phase = value.phase;
  if (!done()) mapped = false;
  picture();
  sentence();
  chart();
  rail();
  const [count, total] = working() && value.progress?.[0] ? value.progress : [0, 1];
  at("#ph-buttons").style.setProperty("--share", `${(100 * count) / total}%`);
  for (const node of at("#ph-files").querySelectorAll("button")) node.disabled = !done();
  const { seconds, recorded } = value;
  const took = recorded ? words.recorded
    : fill(value.unchanged ? words.looked : words.seconds, { seconds: seconds?.toFixed(1) });
  put(at(".ph-seconds"), done() ? took : "");
}

// A whole value, or with the same key a part of it.
function receive(given) {
  const whole = given.damage !== undefined;
  const other = given.key !== value.key;
  if (!whole && (other || value.change !== change)) return; // of a photo that is gone, or goes
  if (whole && given.change < change && !given.error) return; // another was asked for since
  const ended = !done();
  if (given.rows && !value.rows) show(canvas, false);
  value = whole ? given : { ...value, ...given };
  change = value.change;
  if (other) {
    pictures.clear();
    [going, wanted, surveys, one, depth] = [null, [], false, false, given.best ?? depth];
  }
  for (const [k, address] of Object.entries(given.pictures ?? {})) pictures.set(Number(k), address);
  if (given.single) pictures.set(...given.single);
  if (!whole && given.singles) { // a depth everywhere is done, or failed
    going = null;
    if (value.error) wanted = [];
    surveys &&= wanted.length > 0;
  }
  if (!working()) show(canvas, false);
  if (done()) before = "";
  if (value.error) asked = null; // what a link wanted is not what is shown
  if (done() && asked !== null) [depth, one, asked] = [asked, true, null];
  if (going === null && !value.error) next();
  else draw();
  if (ended && done()) put(at(".ph-spoken"), at(".ph-said h1").innerText);
  writeAddress();
}

// A link is the state; own photos and strokes are nobody else's.
function writeAddress() {
  const { kind, severity } = value.damage;
  const told = new URLSearchParams({ photo: value.name, damage: kind });
  if (graded()) told.set("severity", severity);
  if (inOne()) told.set("depth", depth);
  const known = value.name && !isOwn() && (one || !value.recorded);
  history.replaceState(history.state, "", location.pathname + (known ? `?${told}` : ""));
}

async function send(file) {
  if (!file) return;
  const said = at(".ph-upload i");
  const { megabytes: most } = props.most;
  put(said, words.sending);
  try {
    const has = Math.round(file.size / 2 ** 20);
    if (file.size > most * 2 ** 20) throw new Error(fill(words.too_large, { has, most }));
    choose({ name: "", path: (await upload(file)).path }, { kind: "none", strokes: [] });
  } catch (error) {
    value.error = String(error?.message ?? error);
    draw();
  }
  put(said, words.own_detail);
}
const usual = (kind) => ({ kind, strokes: kind === "strokes" ? opening.damage.strokes : [] });

function listen() {
  at("#ph-rail").addEventListener("click", ({ target }) => {
    const { name, brush: tool, severity, undo: back } = target.closest("button")?.dataset ?? {};
    if (name) choose({ name }, value.name || value.damage.kind !== "none" ? {} : usual("strokes"));
    if (target.closest("[data-survey]")) lookForBest();
    if (severity) choose({}, { severity: Number(severity) });
    if (back !== undefined) undo();
    if (tool) arm(brush === tool ? "" : tool);
    if (brush) frame.focus({ preventScroll: true });
  });
  at("#ph-rail").addEventListener("change", ({ target }) => {
    if (target.type === "checkbox") choose({}, usual(target.checked ? "none" : value.name ? "strokes" : "ramp"));
    if (target.tagName === "SELECT") choose({}, usual(target.value));
    if (target.type === "file") send(target.files[0]);
  });
  at("#ph-rail").addEventListener("input", ({ target }) => target.type === "range" && rail());
  at("#ph-files").addEventListener("click", ({ target }) => {
    const { file } = target.closest("button")?.dataset ?? {};
    if (file) trigger("download", ask({ file }));
  });
  document.body.addEventListener("dragover", (event) => event.preventDefault());
  document.body.addEventListener("drop", (event) => {
    event.preventDefault();
    send(event.dataTransfer.files[0]);
  });
  document.addEventListener("keydown", keys);
  takeTurns(at("#ph-buttons"));
  document.addEventListener("keyup", ({ key }) => key === "h" && hold(false));
}

function keys({ key, target, altKey, ctrlKey, metaKey }) {
  if (!element.isConnected || altKey || target.closest?.("input:not([type=range]), select")) return;
  if (ctrlKey || metaKey) return key === "z" && undo();
  if (key === "d") switched.hidden || switched.click();
  if (key === "h") hold(true);
  if (key === "s" && rated()) look(one);
  if (key === "Escape" && at(":popover-open")) return; // the sheet's
  if (key === "Escape" && brush) arm("");
  else if (key === "Escape" && working()) at("#ph-buttons button:not(.primary):enabled")?.click();
  else if (key === "Escape") { halt(); draw(); }
  if (["[", "]"].includes(key)) {
    at("#ph-rail [name=size]").value = knob("size") + (key === "]" ? 8 : -8);
    rail();
  }
}

// On a phone photos and damage are sheets.
const phone = window.matchMedia("(max-width: 760px)");
function fold() {
  for (const sheet of document.querySelectorAll("#ph-photo, #ph-damage")) {
    sheet.popover = phone.matches ? "auto" : null;
    sheet.querySelector("h2").autofocus = phone.matches; // as it opens; in the page's HTML it would be at once
  }
}
phone.addEventListener("change", fold);

let ready = false;
let asked = null; // a depth everywhere, by the address
let misread = ""; // what of it was not understood

// What the address names, the nearest where it is not here, and the sentences that say so.
function linked() {
  const address = new URLSearchParams(location.search);
  const found = { photo: opening.name, damage: "strokes", severity: 3, depth: null };
  const told = [];
  for (const [part, here] of Object.entries(props.known)) {
    const given = address.get(part);
    if (given === null || (part === "severity" && ["none", "strokes", "ramp"].includes(found.damage))) continue;
    const numbers = Object.keys(here).map(Number);
    const near = /^-?\d+$/.test(given) ? clamp(Number(given), Math.min(...numbers), Math.max(...numbers)) : given;
    if (Object.hasOwn(here, near)) found[part] = near;
    const used = here[found[part]] ?? words.each_own;
    if (`${found[part]}` !== given) told.push(fill(words.unknown, { part, value: given.slice(0, 40), used }));
  }
  return [found, told.join(" ")];
}
watch("value", () => ready && !props.value.opens && receive(props.value));
Promise.all([
  ...["select", "h1", "button"].map((part) => appears(document, `#ph-rail ${part}`)),
  appears(document, "#ph-files button"),
  json(props.value.opens),
]).then((there) => {
  opening = there.at(-1);
  ready = true;
  listen();
  fold();
  const [{ photo: name, damage: kind, severity, depth: deep }, said] = linked();
  asked = deep === null ? null : Number(deep);
  if (name !== opening.name || kind !== "strokes") {
    value = { ...value, name, key: null, said: "" };
    choose({ name }, { ...usual(kind), severity: Number(severity) });
  }
  misread = said;
  if (name === opening.name && kind === "strokes") receive(opening);
  else draw();
}, () => put(at(".ph-error"), words.lost));
