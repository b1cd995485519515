// Marks the words that led from the search to this page.

import {el} from "../dom.js";

const MOST = 500; // marks on a page

export function mark(host, asked) {
  const words = asked.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (!words.length) return;
  const begins = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})`, "giu");
  const texts = document.createNodeIterator(host, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let text = texts.nextNode(); text && found.length < MOST; text = texts.nextNode()) {
    if (text.data.search(begins) >= 0 && !text.parentElement.closest("svg, math, script, [hidden]")) found.push(text);
  }
  for (const text of found) {
    const parts = text.data.split(new RegExp(`(${begins.source})`, "giu"));
    text.replaceWith(...parts.map((part, n) => (n % 2 ? el("mark", {"data-md-highlight": ""}, part) : part)));
  }
}
