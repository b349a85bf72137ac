const words = props.words;
const slider = find("input");
const picks = { left: find(".pick-left"), right: find(".pick-right") };
const layers = { left: find(".over"), right: find(".under") };
const tags = { left: find(".tag-left"), right: find(".tag-right") };
let pictures = [];

const chosen = (side) => pictures.find((picture) => picture.name === picks[side].value);

function place() {
  const share = Number(slider.value);
  find(".stage").style.setProperty("--share", `${share}%`);
  if (!pictures.length) return;
  const known = { share, left: chosen("left").title, right: chosen("right").title };
  slider.setAttribute("aria-valuetext", fill(words.value, known));
}

function show() {
  for (const side of ["left", "right"]) {
    const picture = chosen(side);
    if (!picture) continue;
    layers[side].src = picture.src;
    layers[side].alt = picture.alt;
    tags[side].textContent = picture.title;
  }
  place();
}

// The visitor's choice outlives a run, as long as the new one has such a picture.
function offer(select, wanted) {
  const names = pictures.map((picture) => picture.name);
  const kept = [select.value, wanted].find((name) => names.includes(name)) ?? names.at(-1);
  select.replaceChildren(...pictures.map(({ name, title }) => new Option(title, name)));
  select.value = kept;
}

function receive() {
  pictures = props.value?.pictures ?? [];
  const none = pictures.length < 2;
  offer(picks.left, props.value?.left);
  offer(picks.right, props.value?.right);
  for (const node of [...Object.values(layers), ...Object.values(tags), find(".edge")]) {
    node.hidden = none;
  }
  find(".nothing").hidden = !none;
  for (const control of [slider, ...Object.values(picks)]) control.disabled = none;
  if (!none) show();
}

slider.addEventListener("input", place);
slider.addEventListener("keydown", (event) => {
  const way = { ArrowLeft: -10, ArrowDown: -10, ArrowRight: 10, ArrowUp: 10 }[event.key];
  if (!way || !event.shiftKey) return;
  event.preventDefault();
  slider.value = Number(slider.value) + way;
  place();
});
for (const select of Object.values(picks)) select.addEventListener("change", show);
watch("value", receive);
receive();
