// The line of choices, and what every question to the server says.
const page = (window.dgaBoard ??= {});
page.ask = (wanted = {}) => {
  const { image, severity } = props.value;
  const token = sessionStorage.getItem("dga-board");
  return JSON.stringify({ image, severity: severity ?? undefined, ...wanted, token });
};

page.check = () => {
  const chosen = { "bd-severity": props.value.severity, "bd-order": page.order ?? "family" };
  for (const radio of element.querySelectorAll("input")) {
    radio.checked = radio.value === String(chosen[radio.name]);
  }
};

function close(unless) {
  const menu = find("details");
  if (!menu.contains(unless)) menu.open = false;
}

element.addEventListener("change", ({ target }) => {
  if (target.name === "bd-order") page.sort(target.value);
  else trigger("select", { ask: page.ask({ severity: Number(target.value) }) });
});
element.addEventListener("click", ({ target }) => {
  const { image, file } = target.closest("button")?.dataset ?? {};
  if (image) close();
  if (image) trigger("select", { ask: page.ask({ image }) });
  if (file) trigger("download", { ask: page.ask({ file }) });
});
element.addEventListener("keydown", ({ key }) => key === "Escape" && close());
document.addEventListener("click", ({ target }) => close(target));
watch("value", page.check);
page.check();
