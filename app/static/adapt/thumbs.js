element.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  window.dgaInput.press(button.dataset.name);
  trigger("select", { name: button.dataset.name });
});
