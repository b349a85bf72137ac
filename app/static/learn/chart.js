// Confidence against depth, as large as its box.
function chart(move) {
  const box = make("div", "ln-chart");
  box.setAttribute("aria-hidden", "true"); // the sentence and the slider say the same
  const picture = box.appendChild(make("div"));
  // Where a finger takes the line; beside it the page scrolls.
  const handle = box.appendChild(make("div", "ln-handle"));
  const area = { left: 36, right: 12, top: 12, bottom: 32, height: 320 };
  let state = { curves: [] };

  const x = (t) => area.left + (t / steps) * (box.clientWidth - area.left - area.right);
  const y = (c) => area.top + (1 - c) * (area.height - area.top - area.bottom);
  const line = (name, x1, y1, x2, y2) =>
    `<line class="${name}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
  const text = (name, at, down, what, anchor = "middle") =>
    `<text class="${name}" x="${at}" y="${down}" text-anchor="${anchor}">${what}</text>`;

  function axes() {
    const right = x(steps);
    const across = [0, 0.5, 1].map((c) =>
      line("grid", x(0), y(c), right, y(c)) + text("", x(0) - 8, y(c) + 4, c, "end"));
    const ticks = box.clientWidth < 420 ? 4 : 10;
    const along = Array.from({ length: ticks + 1 }, (_, i) => {
      const t = (i * steps) / ticks;
      return text("", x(t), area.height - 10, t, i === ticks ? "end" : "middle");
    });
    return across.join("") + along.join("") +
      text("", right, y(1) + 16, words.high, "end") + text("", right, y(0) - 8, words.low, "end");
  }

  function path({ values, name }) {
    const points = values.map((c, t) => `${x(t).toFixed(1)},${y(c).toFixed(1)}`);
    return `<polyline class="curve ${name}" points="${points.join(" ")}"/>`;
  }

  function draw() {
    if (!box.clientWidth) return;
    const { curves, at, tau, stop } = state;
    const marks = [];
    if (tau !== undefined) marks.push(line("tau", x(0), y(tau), x(steps), y(tau)));
    if (at !== undefined) {
      marks.push(line("at", x(at), y(1), x(at), y(0)));
      for (const { values, name } of curves) {
        marks.push(`<circle class="dot ${name}" cx="${x(at)}" cy="${y(values[at])}" r="5"/>`);
      }
    }
    if (stop) {
      const end = stop.t > steps / 2 ? "end" : "start";
      marks.push(line(`stop${stop.crossed ? "" : " never"}`, x(stop.t), y(1), x(stop.t), y(0)));
      marks.push(text("strong", x(stop.t) + (end === "end" ? -8 : 8), y(1) + 16, `t* = ${stop.t}`, end));
    }
    handle.hidden = tau === undefined;
    if (tau !== undefined) handle.style.top = `${y(tau)}px`;
    picture.innerHTML =
      `<svg width="${box.clientWidth}" height="${area.height}">${axes()}` +
      `${curves.map(path).join("")}${marks.join("")}</svg>`;
  }

  function point(event) {
    const { left, top } = box.getBoundingClientRect();
    const t = ((event.clientX - left - x(0)) / (x(steps) - x(0))) * steps;
    const c = 1 - (event.clientY - top - y(1)) / (y(0) - y(1));
    move(Math.min(Math.max(Math.round(t), 0), steps), Math.min(Math.max(c, 0), 1));
  }
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (event.pointerType === "touch" && !handle.hidden && event.target !== handle) return;
    box.setPointerCapture(event.pointerId);
    point(event);
  });
  box.addEventListener("pointermove", (event) => {
    if (box.hasPointerCapture(event.pointerId)) point(event);
  });
  new ResizeObserver(draw).observe(box);
  return {
    node: box,
    show(next) {
      state = next;
      draw();
    },
  };
}
