// The search as readers see it: it asks a worker (../search.js) and lists what that finds.

import {el} from "../dom.js";

const FIRST = 10; // results that are shown before somebody scrolls
const QUERY = 2;
const RESULT = 3;
const FAILED = 4;
const START = "Type to start searching";
const WAITING = "Searching ...";
const find = (selector) => document.querySelector(selector);

export function startAsking(field) {
  const config = JSON.parse(find("#__config").textContent);
  const base = new URL(config.base.replace(/\/?$/, "/"), location.href); // "/" on the page for what is missing
  const worker = new Worker(new URL(`../search.js?${config.search.match(/search\.\w+\.min\.js$/)[0]}`, import.meta.url));
  const box = find(".md-search__scrollwrap");
  const [meta, list] = find(".md-search-result").children;
  const ghost = find(".md-search__suggest");
  const opened = find("[data-md-toggle=search]");
  let [asked, left] = [null, []];
  meta.setAttribute("role", "status");

  const ask = () => {
    if (field.value === asked) return;
    asked = field.value;
    ghost.textContent = "";
    worker.postMessage({type: QUERY, data: asked}); // an empty question has no answer, and lets the worker get ready
    if (asked.trim()) {
      if (meta.textContent === START) meta.textContent = WAITING;
      return;
    }
    meta.textContent = START;
    list.replaceChildren();
  };
  const more = (count) => list.append(...left.splice(0, count).map((found) => item(found, base)));
  worker.addEventListener("message", ({data: {type, data}}) => {
    if (type === FAILED) {
      asked = null; // so that the same question can be asked again
      meta.textContent = "The search could not be loaded. Check your connection, then type again.";
      list.replaceChildren();
    }
    if (type !== RESULT || !field.value.trim()) return;
    const count = data.items.length;
    meta.textContent = data.isPart ? WAITING : count ? `${count} matching document${count === 1 ? "" : "s"}` : "No matching documents";
    if (!data.grows) {
      list.replaceChildren();
      box.scrollTop = 0;
    }
    list.setAttribute("role", "list");
    left = data.items.slice(list.childElementCount);
    more(FIRST - list.childElementCount);
    ghost.textContent = suggested(field.value, data.suggest?.at(-1));
  });
  box.addEventListener("scroll", () => {
    if (box.scrollTop + 2 * box.clientHeight > box.scrollHeight) more(FIRST);
  }, {passive: true});

  field.addEventListener("input", ask);
  field.addEventListener("focus", () => { opened.checked = true; ask(); });
  field.form.addEventListener("submit", (event) => event.preventDefault());
  field.form.addEventListener("reset", () => setTimeout(() => { field.focus(); ask(); }));
  addEventListener("keydown", (event) => {
    if (opened.checked && !event.metaKey && !event.ctrlKey && !event.isComposing) key(event, field, list, opened, ghost);
  });
  list.addEventListener("click", (event) => { if (event.target.closest("a")) opened.checked = false; });
  ask();
}

/** Keys while the search is open. */
function key(event, field, list, opened, ghost) {
  const close = () => { opened.checked = false; field.blur(); };
  const move = (step) => {
    const stops = [field, ...[...list.querySelectorAll("a, summary")].filter((stop) => stop.offsetParent)];
    stops[(Math.max(0, stops.indexOf(document.activeElement)) + stops.length + step) % stops.length].focus();
  };
  const does = {
    Escape: close, Tab: close, ArrowUp: () => move(-1), ArrowDown: () => move(1),
    Enter: () => { if (document.activeElement === field) list.querySelector("a")?.click(); },
    ArrowRight: () => { if (ghost.textContent && field.selectionStart === field.value.length) field.value = ghost.textContent; },
  }[event.key];
  if (does) does();
  else if (event.key.length === 1 && document.activeElement !== field) field.focus();
  const claimed = /^Arrow(Up|Down)$/.test(event.key) || (event.key === "Enter" && document.activeElement === field);
  if (claimed) event.preventDefault();
}

/** What is typed with its last word completed, where the index has one that begins so. */
function suggested(text, word) {
  const words = text.split(/([\s-]+)/);
  return word && words.at(-1) && word.startsWith(words.at(-1)) ? [...words.slice(0, -1), word].join("") : "";
}

/** What was found on one page: the page, then its sections, the less good ones folded. */
function item(found, base) {
  const place = Math.max(0, found.findIndex(({location}) => !location.includes("#")));
  const page = found[place];
  const sections = found.filter((one) => one !== page);
  const good = sections.filter(({score}) => score >= found[0].score);
  const rest = sections.slice(good.length);
  const folded = rest.length ? el("details", {class: "md-search-result__more"},
    el("summary", {tabindex: -1}, el("div", {}, `${rest.length} more on this page`)), ...rest.map((one) => result(one, base))) : null;
  const told = !place && !good.length;
  return el("li", {class: "md-search-result__item"}, result(page, base, true, told), ...good.map((one) => result(one, base)), folded);
}

function result({location, title, text, terms, tags, score}, base, isPage = false, told = true) {
  const url = new URL(location, base);
  const hit = Object.keys(terms).filter((term) => terms[term]).join(" ");
  const missing = Object.keys(terms).filter((term) => !terms[term]).flatMap((term) => [" ", el("del", {}, term)]);
  if (hit) url.searchParams.set("h", hit);
  return el("a", {href: url, class: "md-search-result__link", tabindex: -1},
    el("article", {class: "md-search-result__article md-typeset", "data-md-score": score.toFixed(2)},
      isPage ? el("div", {class: "md-search-result__icon md-icon"}) : null,
      el(isPage ? "h1" : "h2", {}, ...marked(title)), ...(told ? marked(text) : []),
      tags ? el("nav", {class: "md-tags"}, ...tags.map((tag) => el("span", {class: "md-tag"}, tag))) : null,
      told && missing.length ? el("p", {class: "md-search-result__terms"}, "Missing:", ...missing) : null));
}

/** The text of a result with its marks; whatever else it holds is text. */
function marked(markup) {
  const {body} = new DOMParser().parseFromString(markup, "text/html");
  return [...body.childNodes].map((node) => (node.nodeName === "MARK" ? el("mark", {}, node.textContent) : node.textContent));
}
