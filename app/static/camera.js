// The camera: what the classifier reads of each frame as it comes, and after our repair.
import { fillRow, find, make, postJson, put, run, thisPage } from "./base.js";

const REST = 50; // milliseconds between a reading and the next frame
const LONG_REST = 2000; // after none
const NO_CAMERA = {
  NotAllowedError: "The browser does not give this page the camera. Allow it there, and try again.",
  NotFoundError: "No camera was found. Plug one in, or choose a photo.",
  NotReadableError: "Another program has the camera.",
  SecurityError: "Browsers give a camera to pages with https, or of this machine, alone.",
};
const STOPPED = "The camera stopped.";

/** `side`: of the square that the classifier sees; `keep` gets a frame as a file. */
export function offerCamera(side, keep) {
  const dialog = find("#camera");
  const video = find("video", dialog);
  const [now, repaired] = [find("#camera-now"), find("#camera-repaired")];
  const square = make("canvas", { width: side, height: side });
  const pen = square.getContext("2d", { willReadFrequently: true });
  pen.imageSmoothingQuality = "high";
  let camera = null; // while it is on
  let repair = null; // the run that is waited for

  const say = (sentence) => put(find(".notice", dialog), sentence);
  const tell = (sentence) => put(find(".words", dialog), sentence);
  const wait = (time) => new Promise((resolve) => setTimeout(resolve, time));

  function stop(sentence = "") {
    for (const track of camera?.getTracks() ?? []) track.stop();
    repair?.cancel();
    camera = video.srcObject = null;
    for (const view of [now, repaired]) fillRow(view, null);
    find("img", repaired).removeAttribute("src");
    find(".views", dialog).hidden = true;
    find("#camera-keep").hidden = true;
    find("#camera-on").hidden = false;
    if (sentence) find("#camera-on").focus();
    tell("");
    say(sentence);
  }

  async function start() {
    stop();
    find("#camera-on").hidden = true;
    try {
      if (!navigator.mediaDevices) throw new DOMException("", "SecurityError");
      const wished = { facingMode: "environment", width: { ideal: 1280 } };
      camera = await navigator.mediaDevices.getUserMedia({ video: wished });
      if (!dialog.open || document.hidden) return stop();
      camera.getVideoTracks()[0].addEventListener("ended", () => stop(STOPPED));
      find(".views", dialog).hidden = false;
      video.srcObject = camera;
      await video.play();
    } catch ({ name }) {
      return stop(dialog.open ? (NO_CAMERA[name] ?? STOPPED) : "");
    }
    find("#camera-keep").hidden = false;
    find("#camera-keep").focus();
    follow(camera, readFrame, () => REST);
    follow(camera, repairFrame, (took) => took); // half of the time is for readings
  }

  /**
   * One frame at a time, and the next when it is answered, until this camera is off. `rest`: how
   * long until then, of the milliseconds that the answer took.
   */
  async function follow(own, ask, rest) {
    while (camera === own) {
      const begun = performance.now();
      try {
        await ask(takeFrame(), () => camera === own);
        await wait(rest(performance.now() - begun));
      } catch (error) {
        if (camera !== own) return;
        say(`${error.message} The camera goes on.`);
        await wait(LONG_REST);
      }
    }
  }

  /** The middle square, pixel by pixel: red, green, blue. */
  function takeFrame() {
    const { videoWidth: width, videoHeight: height } = video;
    const length = Math.min(width, height);
    const place = [(width - length) / 2, (height - length) / 2, length, length];
    pen.drawImage(video, ...place, 0, 0, side, side);
    const { data } = pen.getImageData(0, 0, side, side);
    return Uint8Array.from({ length: 3 * side * side }, (_, n) => data[n + Math.floor(n / 3)]);
  }

  async function readFrame(body, isWanted) {
    const reading = await postJson("frame", body);
    if (!isWanted()) return;
    say("");
    fillRow(now, reading);
  }

  async function repairFrame(body, isWanted) {
    const show = ({ waiting, headline, repaired: part }) => {
      if (!isWanted()) return;
      if (waiting) tell("Others are before you: repairs take turns.");
      if (!part) return;
      find("img", repaired).src = part.image;
      put(find(".what", repaired), `${part.is_unchanged ? "Left alone" : "Repaired"}, a moment ago`);
      fillRow(repaired, part.reading);
      tell(headline);
    };
    repair = run(`frame/repair?page=${thisPage}`, null, show, body);
    await repair.done;
  }

  find("#camera-open").addEventListener("click", () => {
    dialog.showModal();
    start();
  });
  find("#camera-on").addEventListener("click", start);
  dialog.addEventListener("close", () => stop());
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && camera) stop("The camera is off while this page is hidden.");
  });
  find("#camera-keep").addEventListener("click", () => {
    const whole = make("canvas", { width: video.videoWidth, height: video.videoHeight });
    whole.getContext("2d").drawImage(video, 0, 0);
    whole.toBlob((content) => {
      dialog.close();
      keep(new File([content], "camera.png"));
    }, "image/png");
  });
}
