const words = props.words;
const field = find("input");

const address = () => location.origin + location.pathname + (props.value.query || location.search);

// What in the address is not ours, Gradio's theme for one, stays there.
function foreign() {
  const rest = new URLSearchParams(location.search);
  for (const key of props.keys) rest.delete(key);
  return rest.size ? `&${rest}` : "";
}

function receive() {
  const { query, own, press, start } = props.value;
  if (query) history.replaceState(history.state, "", query + foreign());
  field.value = address();
  find(".help").textContent = own ? words.help_own : words.help;
  if (press !== "") window.dgaInput?.press(press);
  // Once the other values of the same answer are in the page.
  if (start) setTimeout(() => document.getElementById("adapt")?.click(), 50);
}

// Without a secure origin there is no clipboard: then the field is marked and copied.
async function write() {
  if (navigator.clipboard) return navigator.clipboard.writeText(address());
  field.select();
  document.execCommand("copy");
}

async function copy(button) {
  await write();
  const shown = button.querySelector("span") ?? button;
  const before = (shown.dataset.words ??= shown.textContent);
  shown.textContent = words.copied;
  find(".link-said").textContent = words.copied;
  setTimeout(() => {
    shown.textContent = before;
    find(".link-said").textContent = "";
  }, 2000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy-link]");
  if (button) copy(button);
});
watch("value", receive);
receive();
