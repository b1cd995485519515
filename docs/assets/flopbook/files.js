// Files that a page makes for its reader, and what the menus of pictures that offer them have in common.

import {el} from "./dom.js";

const SHARP = 2; // pixels of a PNG for each of the picture

/** Saves a text or a blob under a name; false where there is nothing to save. */
export function save(content, type, name) {
  if (!content) return false;
  const link = el("a", {href: URL.createObjectURL(new Blob([content], {type})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  return true;
}

/** The PNG of an SVG, as a blob; null without one. */
export async function png(text) {
  if (!text) return null;
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
  await image.decode();
  const sheet = el("canvas", {width: image.width * SHARP, height: image.height * SHARP});
  sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
  return new Promise((ready) => { sheet.toBlob(ready, "image/png"); });
}

/** An item of a menu: a button that says for a moment whether it was done. */
export function act(words, done, otherwise) {
  const button = el("button", {type: "button", click: async () => {
    button.textContent = (await done()) ? "Done" : otherwise;
    setTimeout(() => { button.textContent = words; }, 3000);
  }}, words);
  return el("li", {}, button);
}

/** A click beside a menu closes it, and so does Escape, which leads back to its head. */
export function closing(menu) {
  addEventListener("click", ({target}) => { if (menu.open && !menu.contains(target)) menu.open = false; });
  menu.addEventListener("keydown", ({key}) => { if (key === "Escape") { menu.open = false; menu.firstElementChild.focus(); } });
  return menu;
}
