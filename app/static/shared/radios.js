// Gradio gives each radio a name of its own: then every one is a Tab stop and arrows do nothing.
async function keepGroup(id) {
  if (!(await appears(document, `#${id} label`))) return;
  const block = document.getElementById(id);
  const keep = () => {
    const wrap = block.querySelector("label")?.parentElement;
    if (!wrap) return;
    Object.assign(wrap, { role: "radiogroup", ariaLabel: block.querySelector('[data-testid="block-info"]').textContent });
    for (const radio of wrap.querySelectorAll("input")) if (radio.name !== id) radio.name = id;
  };
  new MutationObserver(keep).observe(block, { subtree: true, childList: true, attributeFilter: ["name"] });
  keep();
}
