// The line above the run and the sheet behind Change.
const { words } = props;
const byId = (id) => document.getElementById(id);
let opener = null;

// Nothing else can be reached while the sheet is open.
function open(on) {
  const sheet = byId("sheet");
  if (on === sheet.classList.contains("open")) return;
  if (on) opener = document.activeElement;
  else film(null);
  sheet.classList.toggle("open", on);
  for (const id of ["head", "bar", "try", "foot", "notice"]) byId(id)?.toggleAttribute("inert", on);
  if (!on) return opener?.focus();
  setTimeout(() => sheet.querySelector(".close").focus(), 200); // once it has slid in: what is hidden takes none
}

// What was accepted is damaged and looked at; a look at another page does not lose it.
function uploaded(picture, note) {
  if (!picture || note) return;
  sessionStorage.setItem("dga-picture", JSON.stringify(picture));
  sessionStorage.setItem("dga-last", "?image=own");
  window.dga.changed();
}

const note = (text) => put(document.querySelector(".source-note"), text);
const input = () => document.querySelector("#picture input[type=file]");
const isPicture = (type) => type.startsWith("image/");

// Whatever it comes from is chosen as a file: Gradio's own ways throw the last picture away first.
function give(file) {
  const chosen = new DataTransfer();
  chosen.items.add(file);
  input().files = chosen.files;
  input().dispatchEvent(new Event("change", { bubbles: true }));
}

// What the webcam sees, until a picture is taken or it is left; null: nothing.
function film(stream) {
  const video = document.querySelector(".webcam video");
  for (const track of video.srcObject?.getTracks() ?? []) track.stop();
  video.srcObject = stream;
  video.parentElement.hidden = !stream;
}

const SOURCES = {
  upload: () => input().click(),
  async paste() {
    const items = await navigator.clipboard?.read?.().catch(() => null);
    const item = items?.find(({ types }) => types.some(isPicture));
    if (!item) return note(items ? words.nothing_pasted : words.no_clipboard);
    const type = item.types.find(isPicture);
    give(new File([await item.getType(type)], "pasted", { type }));
  },
  async webcam() {
    const stream = await navigator.mediaDevices?.getUserMedia({ video: true }).catch(() => null);
    if (!stream) return note(words.no_webcam);
    film(stream);
    if (!byId("sheet").classList.contains("open")) film(null);
  },
  take() {
    const video = document.querySelector(".webcam video");
    const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight);
    canvas.getContext("2d").drawImage(video, 0, 0);
    film(null);
    canvas.convertToBlob().then((blob) => give(new File([blob], "webcam.png", blob)));
  },
};

document.addEventListener("click", (event) => {
  const { target } = event;
  const source = target.closest("#sources button");
  if (source) {
    note("");
    if (source.dataset.source !== "take") film(null);
    SOURCES[source.dataset.source]();
  }
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

document.addEventListener("paste", ({ clipboardData }) => {
  const file = [...clipboardData.files].find(({ type }) => isPicture(type));
  if (!file) return;
  open(true);
  give(file);
});

window.dgaLine = { open, uploaded };
appears(document, "#examples button").then(() => rove(byId("examples"), "button")());
appears(document, "#sheet").then((sheet) => {
  sheet.setAttribute("role", "dialog");
  sheet.setAttribute("aria-label", words.sheet);
});
requestAnimationFrame(() => ["corruption", "severity"].forEach(keepGroup));
