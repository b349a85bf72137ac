// The board of one photo: rows are damages, columns are what was made of them.
import { all, capitalise, checkRadio, data, find, getJson } from "./base.js";
import { make, percent, put } from "./base.js";

const page = data();
const columns = ["damaged", "repaired", "paper", "fixed"];
let board = page.board;

const countRight = (column) =>
  board.rows.filter(({ cells }) => cells[column].reading.is_right).length;

function showBoard() {
  const query = board.photo === page.board.photo ? "" : `?photo=${board.photo}`;
  history.replaceState(null, "", location.pathname + query);
  checkRadio(find("#photos"), board.photo);
  find("#rows").replaceChildren(
    ...board.rows.map((row) =>
      make(
        "tr",
        {},
        make(
          "th",
          { scope: "row" },
          page.names[row.damage],
          make("small", {}, page.descriptions[row.damage]),
          make("small", { class: "found" }, `Found: ${row.found.split(".")[0]}.`),
        ),
        ...columns.map((column) => showCell(row, column)),
      ),
    ),
  );
  for (const node of all("[data-count]")) {
    put(node, `right in ${countRight(node.dataset.count)} of ${board.rows.length}`);
  }
  put(
    find("#headline"),
    `${capitalise(board.photo)}, damaged in ${board.rows.length} ways: ` +
      `${countRight("damaged")} are read right, and ${countRight("repaired")} after our repair.`,
  );
}

function showCell(row, column) {
  const { image, reading } = row.cells[column];
  const { photo, strength } = board;
  const query = new URLSearchParams({ photo, damage: row.damage, strength });
  if (["paper", "fixed"].includes(column)) query.set("method", column);
  const mark = make("span", { class: "mark" }, reading.is_right ? "✓" : "✗");
  const label = `${reading.is_sure ? "" : "perhaps "}${reading.label}`;
  const isAlone = column !== "damaged" && image === row.cells.damaged.image;
  const deed = column === "paper" ? ", no noise added" : ", left alone"; // by our limit, or its rule
  const share = make("small", {}, percent(reading.share), isAlone ? deed : "");
  const title = make(
    "span",
    { class: "spoken" },
    `${page.names[row.damage]}, ${page.columns[column]}: `,
  );
  const text = make("span", { class: "label" }, title, label, "\u00a0", mark, share);
  const picture = make("img", { src: image, alt: "", width: 112, height: 112, loading: "lazy" });
  const attributes = { "data-column": column, class: reading.is_right ? "right" : "wrong" };
  return make("td", attributes, make("a", { href: `.?${query}` }, picture, text));
}

async function openBoard(photo) {
  const address = `recorded/boards/${encodeURIComponent(photo)}.json`;
  board = await getJson(address).catch(() => board);
  showBoard();
}
find("#photos").addEventListener("change", ({ target }) => openBoard(target.value));
const asked = new URLSearchParams(location.search).get("photo");
if (asked && asked !== board.photo) openBoard(asked);
else showBoard();
