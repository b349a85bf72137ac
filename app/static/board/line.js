// The line of choices, and what every question to the server says.
const page = (window.dgaBoard ??= {});
page.ask = (wanted = {}) => {
  const { image, severity, method: atlas } = props.value;
  const token = sessionStorage.getItem("dga-board");
  return JSON.stringify({ image, severity: severity ?? undefined, atlas, ...wanted, token });
};

page.check = () => {
  const { severity, method } = props.value;
  const chosen = { "bd-severity": severity, "bd-view": method && "atlas", "bd-method": method };
  for (const radio of element.querySelectorAll("input")) {
    radio.checked = radio.value === String(chosen[radio.name]);
  }
};

function close(unless) {
  const menu = find("details");
  if (menu.contains(unless)) return;
  if (menu.contains(document.activeElement)) find("summary").focus(); // else nothing had it
  menu.open = false;
}

element.addEventListener("change", ({ target }) => {
  const { name, value } = target;
  const wanted = { "bd-severity": { severity: Number(value) }, "bd-view": { atlas: value && method }, "bd-method": { atlas: value } }[name];
  method = wanted.atlas || method;
  choose(wanted);
});
let method = props.value.method || "dga-guided"; // of the atlas that was shown last
function choose(wanted) {
  document.querySelector(".at")?.classList.add("stale");
  trigger("select", { ask: page.ask(wanted) });
}
element.addEventListener("click", ({ target }) => {
  const { image, file } = target.closest("button")?.dataset ?? {};
  if (image) close();
  if (image) choose({ image });
  if (file) trigger("download", { ask: page.ask({ file }) });
});
element.addEventListener("keydown", ({ key }) => key === "Escape" && close());
document.addEventListener("click", ({ target }) => close(target));
watch("value", page.check);
takeTurns(element.closest("#board-bar"));
page.check();
