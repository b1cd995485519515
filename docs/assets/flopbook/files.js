// Files that a page makes for its reader, and what the menus of pictures that offer them have in common.

import {el} from "./dom.js";

/** Saves a text or a blob under a name; false where there is nothing to save. */
export function save(content, type, name) {
  if (!content) return false;
  const link = el("a", {href: URL.createObjectURL(new Blob([content], {type})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  return true;
}

/** An item of a menu: a button that says for a moment whether it was done. */
export function act(words, done, otherwise) {
  const button = el("button", {type: "button", click: async () => {
    button.textContent = (await done()) ? "Done" : otherwise;
    setTimeout(() => { button.textContent = words; }, 3000);
  }}, words);
  return el("li", {}, button);
}

/** A click beside a menu closes it, so does the key that leads out of it, and Escape, which leads back to its head. */
export function closing(menu) {
  const left = (where) => { if (where && !menu.contains(where)) menu.open = false; };
  addEventListener("click", ({target}) => left(target));
  menu.addEventListener("focusout", ({relatedTarget}) => left(relatedTarget));
  menu.addEventListener("keydown", ({key}) => { if (key === "Escape") { menu.open = false; menu.firstElementChild.focus(); } });
  return menu;
}
