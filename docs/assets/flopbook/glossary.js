// Filters the terms and symbols of the glossary while somebody types; without it all of them stand there.

import {say} from "./dom.js";

export function startFilter(jumps) {
  const items = [];
  const heads = new Map(); // a heading -> what stands under it
  let own = [];
  for (const part of jumps.parentElement.children) {
    if (part.tagName === "H2") heads.set(part, (own = []));
    const found = part.className === "fb-entry" ? [part] : part.querySelectorAll("tbody tr");
    for (const node of found) {
      const item = {node, text: node.textContent.toLowerCase(), entry: node === part};
      items.push(item);
      own.push(item);
    }
  }
  const total = items.filter(({entry}) => entry).length;
  const input = document.getElementById("fb-filter");
  const status = input.nextElementSibling;
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const {node, text} of items) node.hidden = !words.every((word) => text.includes(word));
    for (const [head, under] of heads) head.hidden = under.every(({node}) => node.hidden);
    const shown = items.filter(({node, entry}) => entry && !node.hidden).length;
    say(status, words.length ? `${shown} of ${total} terms` : "");
  };
  input.addEventListener("input", filter);
  if (input.value) filter(); // what a browser kept, or somebody typed before this came
}
