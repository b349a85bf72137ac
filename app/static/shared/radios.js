// Gradio gives each radio a name of its own: then every one is a Tab stop and arrows do nothing.
function oneGroup(id) {
  const block = document.getElementById(id);
  const wrap = block?.querySelector("label")?.parentElement;
  if (!wrap) return;
  wrap.setAttribute("role", "radiogroup");
  wrap.setAttribute("aria-label", block.querySelector('[data-testid="block-info"]').textContent);
  for (const radio of wrap.querySelectorAll("input")) if (radio.name !== id) radio.name = id;
}

async function keepGroup(id) {
  if (!(await appears(document, `#${id} label`))) return;
  const options = { subtree: true, childList: true, attributeFilter: ["name"] };
  new MutationObserver(() => oneGroup(id)).observe(document.getElementById(id), options);
  oneGroup(id);
}
