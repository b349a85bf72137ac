// The guided walk. Pieces that several widgets are made of.
const { words, steps } = props;

function make(tag, className = "", text = "") {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return node;
}

// One picture out of a strip.
function frame(strip, caption) {
  const figure = make("figure", "ln-frame");
  const picture = make("div", "ln-picture");
  const below = make("figcaption", "", caption);
  picture.setAttribute("role", "img");
  picture.style.backgroundImage = `url("${strip.uri}")`;
  picture.style.backgroundSize = `${100 * strip.count}% 100%`;
  figure.append(picture, below);
  return {
    node: figure,
    show(index, alt, text = caption) {
      const last = Math.max(strip.count - 1, 1);
      picture.style.backgroundPosition = `${(100 * index) / last}% 0`;
      picture.setAttribute("aria-label", alt);
      below.textContent = text;
    },
  };
}

function frames(...all) {
  const row = make("div", "ln-frames");
  row.append(...all.map((one) => one.node));
  return row;
}

// A slider with its name and its value in words.
let made = 0;
function slider(name, { min = 0, max, value, step = 1, show = String }, move) {
  const box = make("div", "ln-slider");
  const label = make("label", "", name);
  const shown = make("span");
  const input = make("input");
  Object.assign(input, { type: "range", min, max, step, id: `ln-slider-${made++}` });
  input.value = value;
  label.htmlFor = input.id;
  const moved = () => {
    shown.textContent = show(Number(input.value));
    input.setAttribute("aria-valuetext", shown.textContent);
    move(Number(input.value));
  };
  input.addEventListener("input", moved);
  box.append(label, shown, input);
  return {
    node: box,
    set(next) {
      input.value = next;
      moved();
    },
    get: () => Number(input.value),
    moved,
  };
}

// One of a few.
function choice(name, options, chosen, choose) {
  const box = make("fieldset", "ln-choice");
  const group = `ln-choice-${made++}`;
  box.append(make("legend", "", name));
  const row = box.appendChild(make("div"));
  options.forEach((option, i) => {
    const label = row.appendChild(make("label"));
    const input = make("input");
    Object.assign(input, { type: "radio", name: group, value: i, checked: i === chosen });
    input.addEventListener("change", () => choose(i));
    label.append(input, make("span", "", option));
  });
  return box;
}

// The likeliest classes as bars.
function bars() {
  const list = make("ul", "ln-bars");
  return {
    node: list,
    show(top) {
      list.replaceChildren(...top.map(([label, share]) => {
        const item = make("li");
        const bar = make("i");
        bar.style.width = `${100 * share}%`;
        item.append(make("span", "", label), make("span", "", percent(share)), bar);
        return item;
      }));
    },
  };
}

function sentence() {
  const node = make("p", "ln-say");
  node.setAttribute("aria-live", "polite");
  return node;
}
