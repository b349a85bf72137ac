// The line above the run and the sheet behind Change.
const { words } = props;
const byId = (id) => document.getElementById(id);
let opener = null;

// Nothing else can be reached while the sheet is open.
function open(on) {
  const sheet = byId("sheet");
  if (on === sheet.classList.contains("open")) return;
  if (on) opener = document.activeElement;
  sheet.classList.toggle("open", on);
  for (const id of ["head", "bar", "try", "foot", "notice"]) byId(id)?.toggleAttribute("inert", on);
  (on ? sheet.querySelector(".close") : opener)?.focus();
}

// What was accepted is damaged and looked at; a look at another page does not lose it.
function uploaded(picture, note) {
  if (!picture || note) return;
  sessionStorage.setItem("dga-picture", JSON.stringify(picture));
  window.dga.changed();
}

// Gradio's own three buttons stay in the page, out of sight.
async function take(kind) {
  const note = (text) => put(document.querySelector(".source-note"), text);
  const picture = byId("picture");
  note("");
  if (kind === "Upload") return picture.querySelector("input[type=file]").click();
  if (kind === "Paste" && !navigator.clipboard?.read) return note(words.no_clipboard);
  if (kind === "Capture") {
    const cameras = await navigator.mediaDevices?.enumerateDevices?.().catch(() => []);
    if (!cameras?.some((device) => device.kind === "videoinput")) return note(words.no_webcam);
    picture.querySelector('[aria-label="Remove Image"]')?.click();
    await new Promise(requestAnimationFrame);
  }
  picture.querySelector(`.source-selection button[aria-label^="${kind}"]`)?.click();
  if (kind === "Capture") (await appears(picture, '[title="grant webcam access"] button'))?.click();
}

document.addEventListener("click", (event) => {
  const { target } = event;
  const source = target.closest("#sources button");
  if (source) take(source.dataset.source);
  if (target.closest("#line button")) open(true);
  const sheet = byId("sheet");
  const outside = sheet?.classList.contains("open") && target.isConnected && !sheet.contains(target) && !target.closest("#line button");
  if (target.closest("#sheet .close") || outside) open(false);
  const example = target.closest("#examples button[data-name]");
  if (example || target.closest("#photographs button")) sessionStorage.removeItem("dga-picture");
  if (example) window.dga.pick(example.dataset.name);
});

// A file that is dragged over the page finds the place where it may be dropped.
document.addEventListener("dragenter", (event) => {
  if (event.dataTransfer?.types.includes("Files")) open(true);
});

window.dgaLine = { open, uploaded };
appears(document, "#examples button").then(() => rove(byId("examples"), "button[data-name]")());
appears(document, "#sheet").then((sheet) => {
  sheet.setAttribute("role", "dialog");
  sheet.setAttribute("aria-label", words.sheet);
});
requestAnimationFrame(() => ["corruption", "severity"].forEach(keepGroup));
