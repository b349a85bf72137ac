// The line above the run and the sheet behind Change.
const { words } = props;
const byId = (id) => document.getElementById(id);
let opener = null;
let opened = false;

// Nothing else can be reached while the sheet is open.
function open(on) {
  const sheet = byId("sheet");
  if (on === sheet.classList.contains("open")) return;
  if (on) opener = document.activeElement;
  if (on && !opened) trigger("expand");
  opened ||= on;
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

const input = () => document.querySelector("#picture input[type=file]");

document.addEventListener("click", (event) => {
  const { target } = event;
  if (target.closest("#sources button")) input().click();
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

// What is pasted is chosen as a file: Gradio's own way throws the last picture away first.
document.addEventListener("paste", ({ clipboardData }) => {
  const file = [...clipboardData.files].find(({ type }) => type.startsWith("image/"));
  if (!file) return;
  open(true);
  const chosen = new DataTransfer();
  chosen.items.add(file);
  input().files = chosen.files;
  input().dispatchEvent(new Event("change", { bubbles: true }));
});

window.dgaLine = { open, uploaded };
appears(document, "#examples button").then(() => rove(byId("bar"), "#line button, #examples button")());
appears(document, "#sheet").then((sheet) => {
  sheet.setAttribute("role", "dialog");
  sheet.setAttribute("aria-label", words.sheet);
});
requestAnimationFrame(() => ["corruption", "severity"].forEach(keepGroup));
