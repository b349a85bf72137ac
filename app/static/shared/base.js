// Before every script of the page: what several of them need.
const motion = window.matchMedia("(prefers-reduced-motion: reduce)");
const find = (selector) => element.querySelector(selector);
const fill = (text, known) => text.replace(/\{(\w+)\}/g, (_, name) => known[name]);
const percent = (share) => {
  const whole = Math.round(100 * share);
  return `${whole === 100 && share < 0.9995 ? 99 : whole} %`;
};
const put = (node, text) => {
  if (node && node.textContent !== text) node.textContent = text;
};
async function appears(root, selector) {
  for (let frames = 0; frames < 600; frames++) {
    const node = root.querySelector(selector);
    if (node) return node;
    await new Promise(requestAnimationFrame);
  }
  return null;
}
