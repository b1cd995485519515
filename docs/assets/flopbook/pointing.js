// Values of a picture under the pointer and by arrow keys; what reads them comes when somebody first asks.

const KEYS = /^(Arrow|Home|End|Escape)/;

/** Let a plot be read. `open` gives a function that gives the picture which is shown and the marks in it: {x, y, words, series}. */
export function readable(plot, open) {
  let reader = null;
  const begin = () => {
    reader ??= Promise.all([import("./reader.js"), open()]).then(([{Reader}, shown]) => new Reader(plot, shown));
    return reader;
  };
  for (const kind of ["pointermove", "pointerdown"]) plot.addEventListener(kind, async (event) => (await begin()).point(event));
  // A finger leaves at once; what it touched stays until something else is.
  plot.addEventListener("pointerleave", async ({pointerType}) => pointerType === "mouse" && (await reader)?.hide());
  plot.addEventListener("focusout", async () => (await reader)?.hide()); // also from what is inside
  plot.addEventListener("keydown", async (event) => {
    if (!KEYS.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    (await begin()).key(event.key);
  });
}
