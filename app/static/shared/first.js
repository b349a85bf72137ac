// Beside the first screen in the HTML: it goes as soon as the page itself is there. A sentence too
// long is smaller, and an address that asks for something else opens with other words.
{
  const node = document.getElementById("first");
  const heading = node.querySelector("h1");
  const room = matchMedia("(max-width: 760px)").matches ? 112 : 60;
  const fit = () => {
    heading.className = "";
    for (const size of ["mid", "long"]) if (heading.matches(".say h1") && heading.offsetHeight > room) heading.className = size;
  };
  document.body.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
  const back = heading?.matches(".say h1") && sessionStorage.getItem("dga-last");
  if (location.search || location.hash || back) node.lastElementChild.remove();
  else if (heading) [fit(), document.fonts.ready.then(fit)];
  new MutationObserver((_, observer) => {
    if (!document.querySelector(node.dataset.there)) return;
    node.remove();
    observer.disconnect();
  }).observe(document.body, { childList: true, subtree: true });
  // A page that is left ends its streams, of which Gradio's own script would complain.
  addEventListener("beforeunload", () => {
    const { error } = console;
    const quiet = (event) => event.preventDefault();
    console.error = () => {};
    addEventListener("unhandledrejection", quiet);
    setTimeout(() => { console.error = error; removeEventListener("unhandledrejection", quiet); }, 2000); // it was not left
  });
}
