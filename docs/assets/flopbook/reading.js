// Where the reader is: a bar in a chapter, marks at chapters that were read, and on the handbook's page the way back to where
// reading stopped. All of it stays in this browser (memory.js).

import {button, el} from "./dom.js";
import {forget, keep, recall} from "./memory.js";

const BEGUN = 0.05; // who looked at less of a chapter has not begun it

/** The name of a chapter from its address: its folder. */
const name = (address) => new URL(address, location.href).pathname.split("/").at(-2);

export function startReading() {
  if (document.querySelector(".fb-place")) chapter();
  const lists = [...document.querySelectorAll("#chapters ~ ol")];
  if (lists.length) overview(lists);
  else mark(recall().read);
}

function chapter() {
  const bar = el("div", {class: "fb-progress", "aria-hidden": "true"});
  document.body.append(bar);
  const article = document.querySelector("article");
  const end = document.getElementById("key-points");
  const heads = [...article.querySelectorAll("h2[id]")];
  let waiting = false;

  const look = () => {
    waiting = false;
    const {top, height} = article.getBoundingClientRect();
    const way = height - innerHeight;
    const done = way > 0 ? Math.min(1, Math.max(0, -top / way)) : 1;
    bar.style.transform = `scaleX(${done.toFixed(4)})`;
    if (done >= BEGUN) remember(heads, end);
  };
  const soon = () => {
    if (!waiting) requestAnimationFrame(look);
    waiting = true;
  };
  addEventListener("scroll", soon, {passive: true});
  addEventListener("resize", soon);
  look();
}

/** The heading above the middle of the window is the place; who sees the key points has read the chapter. */
function remember(heads, end) {
  const {read, last} = recall();
  const here = name(location.href);
  const seen = end && end.getBoundingClientRect().top < innerHeight;
  const head = heads.findLast((one) => one.getBoundingClientRect().top < innerHeight / 2);
  const place = {chapter: here, title: document.querySelector("h1").firstChild.textContent.trim(), anchor: head?.id ?? "", heading: head ? head.firstChild.textContent.trim() : ""};
  const change = {};
  if (seen && !read.includes(here)) change.read = [...read, here];
  if (last?.chapter !== here || last.anchor !== place.anchor) change.last = place;
  if (Object.keys(change).length) keep(change);
  if (change.read) mark(change.read);
}

/** A mark at every link of the navigation to a chapter that was read. */
function mark(read) {
  for (const link of document.querySelectorAll(".md-nav--primary a.md-nav__link")) {
    if (!link.pathname.includes("/handbook/") || !read.includes(name(link.href)) || link.querySelector(".fb-done")) continue;
    link.append(el("span", {class: "fb-done"}, el("span", {"aria-hidden": "true"}, "✓"), el("span", {class: "fb-hidden"}, " read")));
  }
}

/** The list of chapters with marks, above it the state and two buttons; a page that was never read says nothing. */
function overview(lists) {
  const {read, last} = recall();
  if (!read.length && !last) return;
  const links = lists.flatMap((list) => [...list.querySelectorAll(":scope > li > a:first-child")]);
  const done = links.filter((link) => read.includes(name(link.href)));
  for (const link of done) link.after(" ", el("span", {class: "fb-badge fb-done"}, "read"));
  const way = last && links.find((link) => name(link.href) === last.chapter);
  const target = way && new URL(last.anchor ? `#${last.anchor}` : "", way.href);
  const box = el("div", {class: "fb-reading", role: "region", "aria-label": "Your reading"},
    el("p", {}, `You have read ${done.length} of ${links.length} chapters. This is kept in your browser only; nothing is sent. `),
    way && el("p", {}, el("a", {href: target}, `Continue where you stopped: ${[last.title, last.heading].filter(Boolean).join(", ")}`)),
    el("p", {}, button("Forget what I have read", () => clear(box))));
  document.querySelector("#chapters").after(box);
  mark(read);
}

function clear(box) {
  forget();
  for (const one of document.querySelectorAll(".fb-done")) one.remove();
  box.replaceChildren(el("p", {role: "status", tabindex: "-1"}, "Forgotten."));
  box.firstChild.focus();
}
