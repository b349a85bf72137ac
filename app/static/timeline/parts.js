// The elements of the plot; the rest comes from the template.
const HATCH = `<defs><pattern id="tl-hatch" width="6" height="6" patternUnits="userSpaceOnUse"
  patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="6"/></pattern></defs>`;
const plot = find(".tl-plot");
const names = Object.entries(words.methods).map(([name, title]) => `
  <button type="button" class="tl-lane of-${name}" data-lane="${name}">
    ${marks[name]}<span>${title}<small></small></span></button>`);
plot.innerHTML = `
  <canvas aria-hidden="true"></canvas>
  <svg aria-hidden="true"></svg>
  <div class="tl-line"></div>
  <div class="tl-pill" hidden></div>
  <div class="tl-aside" hidden></div>
  <div class="tl-read" hidden></div>
  <div class="tl-tau" role="slider" tabindex="0" aria-label="${words.tau}"
       aria-valuemin="0" aria-valuemax="1" aria-orientation="vertical"></div>
  <div class="tl-now" role="slider" tabindex="0" aria-label="${words.playhead}"
       aria-valuemin="0" hidden><b></b></div>
  ${names.join("")}`;
const [reel, svg, line, pill, aside, read, handle, head] = plot.children;
