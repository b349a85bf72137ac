// Words and progress; also what the page's other scripts ask of it.
function show() {
  const { words, progress, error, phase } = props.value ?? {};
  put(find(".bd-words"), words ?? "");
  put(find(".bd-error"), error ?? "");
  const track = find(".bd-track");
  track.hidden = !progress;
  if (progress) {
    const [done, total] = progress;
    track.setAttribute("aria-valuemax", total);
    track.setAttribute("aria-valuenow", done);
    track.firstElementChild.style.width = `${(100 * done) / total}%`;
  }
  element.dataset.phase = phase ?? "";
}
(window.dgaBoard ??= {}).idle = () => {
  if (element.dataset.phase !== "wait") return;
  props.value = { words: "", progress: null, error: props.refused, phase: "error" };
  show();
};
watch("value", show);
show();
