// Results: what an address names, and the readings behind each bar.
import { all, data, find, getJson, make, makeRadioGroup, put } from "./base.js";

const { kinds, methods, onRepair } = data();

/** What the address names is opened and shown; what the page does not have is said. */
function openTarget() {
  const name = location.hash.slice(1);
  const older = name.replace("figure-", "table-"); // tables had figures once
  const target = document.getElementById(name) ?? document.getElementById(older);
  const unknown = name && !target;
  const notice = `This page has no “${name}”. Here are the answers from the top.`;
  put(find(".notice"), unknown ? notice : "");
  if (unknown) scrollTo(0, 0);
  if (!target) return;
  for (let fold = target; fold; fold = fold.parentElement.closest("details")) {
    if (fold.tagName === "DETAILS") fold.open = true;
  }
  const setting = target.closest(".setting");
  if (setting?.hidden) find(`#settings [value="${setting.id.replace("today-", "")}"]`).click();
  if (name !== "main") target.scrollIntoView();
}

if (find("#settings"))
  makeRadioGroup(find("#settings"), (key) => {
    for (const setting of all(".setting")) setting.hidden = setting.id !== `today-${key}`;
  });

// ---- What lies behind a bar

let tables = null;
const dialog = find("#behind");

function loadTables() {
  tables ??= getJson("results-files/photo/now-readings.json").catch((error) => {
    tables = null; // to be asked again
    throw error;
  });
  return tables;
}

/** Readings that a method changed, and how many it left right and wrong. */
function compareReadings({ pictures, labels, readings }, kind, method) {
  const changes = { gained: [], lost: [], right: 0, wrong: 0 };
  const chosen = kind === "mean" ? Object.keys(readings).filter((one) => one !== "clean") : [kind];
  const name = ([label, share]) => `${labels[label]}, ${share} %`;
  for (const one of chosen) {
    const { source = [], [method]: others = [] } = readings[one] ?? {};
    pictures.forEach(([path, truth], place) => {
      const [before, after] = [source[place], others[place]];
      if (!before || !after) return;
      if (before[2] === after[2]) return changes[after[2] ? "right" : "wrong"]++;
      const cells = [path.split("/").at(-1), kinds[one] ?? one, truth, name(before), name(after)];
      changes[after[2] ? "gained" : "lost"].push(cells);
    });
  }
  return changes;
}

function tabulate(title, rows, isMixed) {
  const names = ["Photograph", "Damage", "It shows", "Read before", "Read after"];
  const pick = (cells) => cells.filter((_, place) => place !== 1 || isMixed);
  const head = pick(names).map((name) => make("th", { scope: "col" }, name));
  const lines = rows.map((cells) =>
    make("tr", {}, ...pick(cells).map((cell) => make("td", {}, cell))),
  );
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...head)));
  table.append(make("tbody", {}, ...lines));
  const region = { class: "scroll", tabindex: 0, role: "region", "aria-label": title };
  return [make("h3", {}, `${title}: ${rows.length}`), ...(rows.length ? [make("div", region, table)] : [])];
}

async function showBehind({ exhibit, kind, method }) {
  const [words, place] = [find("#behind-words"), find("#behind-tables")];
  const what = kind === "mean" ? "All kinds" : kinds[kind];
  put(find("#behind-title"), `${what}: ${methods[method]}`);
  put(words, "…");
  place.replaceChildren();
  dialog.showModal();
  try {
    const changes = compareReadings((await loadTables())[exhibit], kind, method);
    put(
      words,
      `${changes.right} stay right and ${changes.wrong} stay wrong. ImageNet’s photographs may not be ` +
        "shown here, and are named by their files. ",
    );
    const strength = exhibit.split("-").at(-1);
    const address = `.?photo=goldfish&damage=${kind}&strength=${strength}`;
    if (onRepair.includes(kind))
      words.append(make("a", { href: address }, "This damage on a photograph that may be"));
    place.append(
      ...tabulate("Became right", changes.gained, kind === "mean"),
      ...tabulate("Became wrong", changes.lost, kind === "mean"),
    );
  } catch (error) {
    put(words, `The readings could not be loaded. ${error.message}`);
  }
}
for (const button of all("button.behind")) {
  button.addEventListener("click", () => showBehind(button.dataset));
}

for (const link of all('a[href^="results#"]')) {
  link.addEventListener("click", () => {
    if (link.hash === location.hash) openTarget();
  });
}
for (const node of all(".address")) put(node, document.baseURI);
addEventListener("hashchange", openTarget);
openTarget();
