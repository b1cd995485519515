// Files of a picture that a script draws: SVG, PNG and its values as CSV, in the menu that every figure of the site has.

import {copyText} from "./copy.js";
import {el} from "./dom.js";
import {act, closing, save} from "./files.js";

const texts = () => import("./filetexts.js"); // few readers save a picture

/** A menu; `picture` gives the drawn SVG or null, `rows` the values with a row of heads, `name` that of the files, `link` an address if the page's own is not that of the picture. */
export function filesMenu({name, picture, rows, link}) {
  const button = (words, file) => act(words, file, "Nothing is drawn yet");
  const drawn = async () => picture() && (await texts()).standalone(picture());
  const menu = el("details", {class: "fb-menu"}, el("summary", {"aria-label": "Files of this picture"}), el("ul", {},
    button("Picture as SVG", async () => save(await drawn(), "image/svg+xml", `${name()}.svg`)),
    button("Picture as PNG", async () => save(await (await texts()).png(await drawn()), "image/png", `${name()}.png`)),
    button("Values as CSV", async () => save(picture() && (await texts()).csv(rows()), "text/csv", `${name()}.csv`)),
    link ? act("Copy link", () => copyText(link()), "Not allowed here") : null));
  return closing(menu);
}
