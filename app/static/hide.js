// Hide it from the AI: the classifier's answer while somebody paints, and what to keep of it.
import { percent, postJson, put } from "./base.js";

/** One question at a time, and then the newest; `receive` and `fail` get what was asked, too. */
export function makeAsker(receive, fail) {
  let next = null;
  let isBusy = false;
  return async function ask(settings) {
    next = settings;
    if (isBusy) return;
    isBusy = true;
    while (next) {
      const asked = next;
      next = null;
      try {
        const answer = await postJson("reading", JSON.stringify(asked));
        if (next?.strokes === asked.strokes) next = null;
        receive(asked, answer);
      } catch (error) {
        if (!next) fail(asked, error);
      }
    }
    isBusy = false;
  };
}

/** A share that is touched; none is 0 % that is more. */
export const nameTouched = (share) =>
  share && share < 0.005 ? `less than ${percent(0.01)}` : percent(share);

/** A button that passes the page's address on; `say` gets a sentence where it cannot. */
export function makeSharing(button, say) {
  button.addEventListener("click", async () => {
    try {
      if (navigator.share && matchMedia("(pointer: coarse)").matches)
        return await navigator.share({ title: document.title, url: location.href });
      await navigator.clipboard.writeText(location.href);
      put(button, "Link copied");
      setTimeout(() => put(button, "Share the link"), 2000);
    } catch (error) {
      if (error.name !== "AbortError") say("Please copy the link from the address bar.");
    }
  });
}
