// All parts together, and what is chosen.
function sentence() {
  const lines = inOne() ? [
    [fill(pictures.has(depth) || depth in value.singles ? words.single : words.single_unknown, { depth, here: db(value.singles[depth] ?? 0) })],
    [going === depth || !pictures.has(depth) ? words.single_waits : fill(words.each, { own: db(value.own) })],
  ] : value.said;
  const made = lines.map(([text, number, rest = "", kind = ""]) =>
    `<span>${safe(text)}${number ? `<b class="${kind}">${safe(number)}</b>${rest}` : ""}</span>`).join("");
  const heading = at("#ph-said h1");
  if (value.key === undefined) return; // the page came with its first words
  if (heading && heading.innerHTML !== made) heading.innerHTML = made;
  put(at(".ph-note"), value.note ?? "");
  put(at(".ph-notice"), value.notice ?? "");
  put(at(".ph-error"), value.error ?? "");
}

const ICONS = {
  exposure: "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M12.8 3.2l-1.1 1.1M4.3 11.7l-1.1 1.1",
  blur: "M8 2L14 13.5H2z",
  impulses: "M3 3h1v1H3zM11 5h1v1h-1zM6 11h1v1H6z",
  noise: "M8 3.4a4.6 4.6 0 1 1 0 9.2 4.6 4.6 0 0 1 0-9.2z",
};
function rail() {
  const root = at("#ph-rail");
  if (!root) return;
  const pairs = value.closeUps ?? [];
  const open = value.truth && (value.best ?? null) === null && !(done() && (value.unchanged || value.left < 0.2));
  show(root.querySelector(".ph-close"), pairs.length > 0 || open);
  root.querySelector(".ph-close").classList.toggle("open", !pairs.length);
  put(root.querySelector(".ph-close h2"), pairs.length ? words.no_single : words.does_single);
  root.querySelector(".ph-close div").innerHTML = !pairs.length ? "<figure><u></u><figcaption></figcaption></figure>".repeat(4) : pairs.map((pair) => pair.map(([image, text], i) => `<figure>
    <img src="${image}" alt=""><figcaption class="${i ? "of-dga-plus" : "of-dda"}">${i ? props.marks.each : props.marks.one}<span>${text}</span>
    ${i ? `<svg class="sign right" viewBox="0 0 12 12" aria-hidden="true">${props.tick}</svg>` : ""}</figcaption></figure>`).join("")).join("");
  const found = value.found ?? [];
  root.querySelector(".ph-found").classList.toggle("unknown", !found.length);
  root.querySelector(".ph-found span").innerHTML = found.map(([key, name, text, there]) =>
    `<span class="ph-gauge"><svg class="${key}" viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[key]}"/></svg><i>${name}</i> ${there ? `<b>${text}</b>` : text}</span>`).join("");
  const { kind, severity, strokes } = value.damage;
  for (const node of root.querySelectorAll("[data-name]")) press(node, node.dataset.name === value.name);
  root.querySelector(".ph-upload").classList.toggle("on", value.name === "");
  root.querySelector(".ph-already input").checked = kind === "none";
  const own = kind === "none";
  show(root.querySelector(".ph-damage"), !own);
  const number = kind === "strokes" ? strokes.length : 0;
  const counted = number === 1 ? words.stroke : number ? fill(words.strokes, { n: number }) : "";
  put(root.querySelector(".ph-strokes span"), [brush && words.paint, counted].filter(Boolean).join(" · "));
  show(root.querySelector("[data-undo]"), number > 0);
  const picked = root.querySelector("select");
  const usual = kind === "strokes" && JSON.stringify(strokes) === JSON.stringify(opening);
  picked.value = own || (kind === "strokes" && !usual) ? "" : kind;
  const graded = !["", "strokes", "ramp"].includes(picked.value);
  for (const node of root.querySelectorAll("[data-severity]")) {
    node.disabled = !graded || working();
    press(node, graded && Number(node.dataset.severity) === severity);
  }
  for (const node of root.querySelectorAll("fieldset")) node.disabled = working();
  for (const node of root.querySelectorAll(".ph-slide input")) put(node.closest("label").querySelector("b"), `${node.value} ${node.name === "size" ? "px" : "%"}`);
}

function draw() {
  if (!done()) mapped = false;
  element.querySelector(".ph-box").dataset.phase = value.phase;
  picture();
  sentence();
  curve();
  rail();
  const share = value.progress?.[1] && working() ? value.progress[0] / value.progress[1] : 0;
  at("#ph-buttons")?.style.setProperty("--share", `${100 * share}%`);
  const files = at("#ph-files");
  for (const node of files?.querySelectorAll("button") ?? []) node.disabled = !done();
  const seconds = value.recorded ? words.recorded : fill(words.seconds, { seconds: value.seconds?.toFixed(1) });
  put(files?.querySelector(".ph-seconds"), done() && value.seconds !== null ? seconds : "");
}

function receive(given) {
  const ended = working() && !["wait", "working"].includes(given.phase);
  const other = given.key !== value.key;
  if (other) {
    pictures.clear();
    [going, wanted, way] = [null, [], "each"];
  }
  value = given;
  if (given.best !== null && given.best !== undefined && other) depth = given.best;
  for (const [k, address] of Object.entries(given.pictures ?? {})) pictures.set(Number(k), address);
  if (given.single) pictures.set(given.single[0], given.single[1]);
  if (working()) arm("");
  show(canvas, false);
  draw();
  if (ended) put(at(".ph-spoken"), at("#ph-said h1").innerText);
}

async function send(file) {
  if (!file || working()) return;
  const said = at(".ph-upload i");
  if (file.size > props.most.megabytes * 2 ** 20) {
    value = { ...value, error: fill(words.too_large, { has: Math.round(file.size / 2 ** 20), most: props.most.megabytes }) };
    return draw();
  }
  put(said, words.sending);
  try {
    const { path } = await upload(file);
    choose({ name: "", path }, { kind: "none", strokes: [] });
  } catch (error) {
    value = { ...value, error: String(error?.message ?? error) };
    draw();
  }
  put(said, words.own_detail);
}

function railEvents(root) {
  root.addEventListener("click", ({ target }) => {
    const { name, brush: tool, severity, undo: back } = target.closest("button")?.dataset ?? {};
    if (name) choose({ name });
    if (tool) { arm(brush === tool ? "" : tool); draw(); if (brush) frame.focus({ preventScroll: true }); }
    if (severity) choose({}, { severity: Number(severity) });
    if (back !== undefined) undo();
  });
  root.addEventListener("change", ({ target }) => {
    if (target.type === "checkbox") choose({}, target.checked ? { kind: "none", strokes: [] } : { kind: "strokes", strokes: opening });
    if (target.tagName === "SELECT" && target.value) choose({}, { kind: target.value, strokes: target.value === "strokes" ? opening : [] });
    if (target.type === "file") { send(target.files[0]); target.value = ""; }
  });
  root.addEventListener("input", ({ target }) => target.type === "range" && rail());
}
let opening = [];
at("body").addEventListener("dragover", (event) => event.preventDefault());
at("body").addEventListener("drop", (event) => { event.preventDefault(); send(event.dataTransfer.files[0]); });

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (!element.isConnected || event.altKey || target.closest?.("input:not([type=range]), select, textarea")) return;
  if ((event.ctrlKey || event.metaKey) && key === "z") return undo();
  if (event.ctrlKey || event.metaKey) return;
  if (key === "d" && !find(".ph-show").hidden) { mapped = !mapped; picture(); }
  if (key === "h") hold(true);
  if (key === "s" && done() && value.truth) { way = way === "one" ? "each" : "one"; wish(); }
  if (key === "Escape" && brush) { arm(""); draw(); }
  else if (key === "Escape" && working()) at("#ph-buttons button:not(.primary):enabled")?.click();
  else if (key === "Escape" && going !== null) { halt(); draw(); }
  if (["[", "]"].includes(key)) {
    const size = at("#ph-rail [name=size]");
    size.value = Number(size.value) + (key === "]" ? 8 : -8);
    rail();
  }
});
document.addEventListener("keyup", ({ key }) => key === "h" && hold(false));

watch("value", () => !props.value.opens && receive(props.value));
Promise.all(["#ph-chart input", "#ph-rail select", "#ph-said h1", "#ph-files button"].map((one) => appears(document, one))).then(([slider]) => {
  chartEvents(slider.closest("#ph-chart"));
  railEvents(at("#ph-rail"));
  at("#ph-files").addEventListener("click", ({ target }) => {
    const { file } = target.closest("button")?.dataset ?? {};
    if (file) trigger("download", { ask: page.ask({ file }) });
  });
  new ResizeObserver(curve).observe(slider.parentElement);
  draw();
  fetch(props.value.opens).then((answer) => answer.json()).then((first) => {
    opening = first.damage.strokes;
    if (value.key === undefined) receive(first);
  });
});
