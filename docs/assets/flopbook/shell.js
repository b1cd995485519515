// The frame of a page, which the style sheet makes and this file only helps: where the reader is, keys, drawer and search. It
// takes the place of the theme's script. Colours are chosen by a script in the page's head (theme/partials/javascripts).

const HEAD = 64; // pixels below the upper edge at which a section counts as reached
const KEYS = {p: "prev", ",": "prev", n: "next", ".": "next"};
const find = (selector, host = document) => host.querySelector(selector);
const toggle = (name, on) => { find(`[data-md-toggle=${name}]`).checked = on; };
const idle = globalThis.requestIdleCallback ?? setTimeout;

export function startShell() {
  startKeys();
  startSearch();
  startTop();
  startCode();
  startDirection();
  addEventListener("hashchange", () => { toggle("drawer", false); toggle("search", false); });
  for (const box of document.querySelectorAll(".md-nav__toggle")) {
    const nav = find(":scope > nav", box.parentElement);
    box.addEventListener("change", () => nav?.setAttribute("aria-expanded", box.checked));
  }
  if (matchMedia("(min-width: 60em)").matches) idle(() => { reveal(); follow(); });
  const heading = find(".md-content h1");
  const title = find(".md-header__title");
  if (heading && title) new IntersectionObserver(([{isIntersecting, boundingClientRect}]) => {
    title.classList.toggle("md-header__title--active", !isIntersecting && boundingClientRect.top < HEAD);
  }, {rootMargin: `-${HEAD}px 0px 0px`}).observe(heading);
}

/** Keys of the whole site, unless somebody types: / for the search, n and p for the neighbours of a page. */
function startKeys() {
  addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
    const {key, target} = event;
    if (key === "Escape") toggle("drawer", false);
    if (target.matches?.("input:not([type=radio], [type=checkbox]), select, textarea, [contenteditable]")) return;
    if (key === "Enter" && target.matches?.("label")) target.click();
    // The choice of colours is a button to the eye, and to the theme a choice among three of which one is shown.
    if (["Enter", " "].includes(key) && target.matches?.(".md-option")) {
      event.preventDefault();
      target.nextElementSibling.click();
    }
    const neighbour = KEYS[key] && find(`link[rel=${KEYS[key]}]`);
    if (neighbour) location.assign(neighbour.href);
    if (!["/", "s", "f"].includes(key)) return;
    event.preventDefault();
    find(".md-search__input").focus();
    find(".md-search__input").select();
  });
}

/** The search opens with its field; what it needs comes with that. */
function startSearch() {
  const field = find(".md-search__input");
  const begin = () => {
    toggle("search", true);
    field.removeEventListener("focus", begin);
    if (!field.value) find(".md-search-result__meta").textContent = "Type to start searching";
    import("./search/asking.js").then(({startAsking}) => startAsking(field));
  };
  field.addEventListener("focus", begin);
  if (document.activeElement === field) begin(); // somebody was faster than this script
  find("header [for=__search]").addEventListener("click", (event) => {
    event.preventDefault(); // the field opens the search, and its label would close it again
    field.focus();
  });
  const asked = new URLSearchParams(location.search);
  if (asked.get("h")) import("./search/marks.js").then(({mark}) => mark(find(".md-content"), asked.get("h")));
  if (!asked.has("q")) return;
  field.value = asked.get("q");
  field.focus();
}

/** The way back to the top, offered to a reader who scrolls up. Sections that are laid out late
 * move the page, which is not scrolling: the page's height tells the two apart, and a move of a
 * few pixels may come a frame after the height changed. */
function startTop() {
  const top = find(".md-top");
  if (!top) return;
  const LEAST = 24;
  const page = document.documentElement;
  let [turn, height] = [scrollY, page.scrollHeight];
  addEventListener("scroll", () => {
    if (page.scrollHeight !== height) {
      [turn, height] = [scrollY, page.scrollHeight];
      return;
    }
    if (scrollY < turn && scrollY > turn - LEAST) return;
    const hidden = scrollY >= turn || scrollY < innerHeight / 2;
    if (top.hidden !== hidden) top.hidden = hidden;
    turn = scrollY;
  }, {passive: true});
  top.addEventListener("click", () => scrollTo({top: 0}));
}

/** Code that is wider than its box is reached by keys, since only so can they scroll it. */
function startCode() {
  const sized = new ResizeObserver((entries) => {
    for (const {target} of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const code of document.querySelectorAll("pre > code")) sized.observe(code);
}

/** The theme writes the direction of text at the body, a translator at the root: the body follows, else the page is of both. */
function startDirection() {
  const root = document.documentElement;
  const follow = () => { document.body.dir = root.dir || "ltr"; };
  new MutationObserver(follow).observe(root, {attributeFilter: ["dir"]});
  if (root.dir) follow();
}

/** The entry of this page, in the list beside it. */
function reveal() {
  for (const link of document.querySelectorAll(".md-sidebar--primary .md-nav__link--active[href]")) {
    const box = link.closest(".md-sidebar__scrollwrap");
    const [at, room] = [link.getBoundingClientRect(), box.getBoundingClientRect()];
    if (link.clientHeight && at.bottom > room.bottom) box.scrollTop = at.top - room.top - box.clientHeight / 2; // else it is in view
  }
}

/** The section that is being read, in the contents beside it. */
function follow() {
  const links = [...document.querySelectorAll("[data-md-component=toc] .md-nav__link")].filter((link) => link.closest(".md-sidebar--secondary"));
  const sections = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  if (!sections.length || sections.includes(null)) return;
  const box = links[0].closest(".md-sidebar__scrollwrap");
  let [shown, waiting] = [-1, false];
  const look = () => {
    waiting = false;
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 1;
    const here = atEnd && scrollY ? sections.length - 1 : reached(sections);
    if (here === shown) return;
    links.forEach((link, n) => {
      link.classList.toggle("md-nav__link--passed", n <= here);
      link.classList.toggle("md-nav__link--active", n === here);
    });
    shown = here;
    if (here >= 0) box.scrollTop += links[here].getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
  };
  addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(look);
    waiting = true;
  }, {passive: true});
  look();
}

/** The last section whose heading is above the line, found by halves: sections follow each other. */
function reached(sections) {
  let [low, high] = [0, sections.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sections[middle].getBoundingClientRect().top <= HEAD) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
