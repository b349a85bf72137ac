// Every part of the page is a gr.HTML with this script; props.part says which one it is.
const page = (window.dgaFifteen ??= { order: "family" });

const parts = {
  head({ sentence, lead }) {
    put(find("h1"), sentence);
    put(find(".lead"), lead);
  },

  status({ words, progress, error, phase }) {
    put(find(".ff-words"), words);
    put(find(".ff-error"), error);
    const track = find(".ff-track");
    track.hidden = !progress;
    if (progress) {
      const [done, total] = progress;
      track.setAttribute("aria-valuemax", total);
      track.setAttribute("aria-valuenow", done);
      track.firstElementChild.style.width = `${(100 * done) / total}%`;
    }
    element.dataset.phase = phase;
  },

  thumbs({ chosen, locked }) {
    for (const button of element.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", button.dataset.name === chosen);
      button.disabled = locked;
    }
  },

  grid(value) {
    page.value = value;
    const list = find(".ff-grid");
    for (const [name, card] of Object.entries(value.cards)) {
      const item = list.querySelector(`[data-name="${name}"]`) ?? add(list, name);
      for (const [part, html] of Object.entries(card)) write(item.querySelector(`.ff-${part}`), html);
      item.classList.toggle("linked", Boolean(item.querySelector("a")));
    }
    arrange(list);
    list.setAttribute("aria-busy", value.running);
  },
};

function add(list, name) {
  const item = document.createElement("li");
  item.className = "ff-card";
  item.dataset.name = name;
  item.innerHTML =
    '<div class="ff-head"></div><div class="ff-pair"><div class="ff-before"></div>' +
    '<div class="ff-after"></div></div><div class="ff-foot"></div>';
  return list.appendChild(item);
}

const written = new WeakMap();
function write(slot, html) {
  if (written.get(slot) === html) return;
  written.set(slot, html);
  slot.innerHTML = html;
}

// Cards keep their places while results come in.
function arrange(list) {
  const { orders, running } = page.value;
  const names = orders[running ? "family" : page.order];
  const now = [...list.children].map((item) => item.dataset.name);
  if (names.every((name, i) => name === now[i])) return;
  list.append(...names.map((name) => list.querySelector(`[data-name="${name}"]`)));
}

if (props.part === "grid") {
  page.arrange = (order) => {
    page.order = order;
    arrange(find(".ff-grid"));
    return [];
  };
  page.table = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([page.value.csv], { type: "text/csv" }));
    link.download = page.value.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    return [];
  };
}
if (props.part === "status") {
  ["fifteen-severity", "fifteen-method", "fifteen-order"].forEach(keepGroup);
  page.idle = () => {
    if (element.dataset.phase !== "wait") return;
    parts.status({ words: "", progress: null, error: props.refused, phase: "error" });
  };
}
if (props.part === "thumbs") {
  element.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) trigger("select", { name: button.dataset.name });
  });
}

const show = () => props.value && parts[props.part](props.value);
watch("value", show);
show();
