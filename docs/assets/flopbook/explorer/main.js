// Makes the explorer from the plain table: filters, views as tabs, and the state in the address. What only other views and
// columns need comes when the reader turns to the filters, or with a link that asks for it.

import "./value.js";
import {Address} from "./address.js";
import {el} from "../dom.js";
import {Filters, isOfKind, isOpening, passing} from "./filters.js";
import {List, nothing} from "./list.js";
import {Model} from "./model.js";
import {foldButton, linkButton} from "./panel.js";
import {MOST, VIEWS, defaults, read} from "./state.js";

const NAMES = {table: "Table", compare: "Compare", scatter: "Scatter", trends: "Trends"};

const REACHED = ["pointerover", "focusin", "click"];

/** The sources of values come with the first value that is pointed at, focused or touched. */
function startSources(host, model) {
  let loading = null;
  const begin = async (event) => {
    const link = event.target.closest?.("td a");
    if (!link) return;
    const isTouch = event.type === "click" && event.pointerType === "touch";
    if (isTouch) event.preventDefault(); // it tells the source; only the next one follows the link
    loading ??= import("./sources.js").then(({Sources}) => new Sources(host, model));
    const sources = await loading;
    for (const kind of REACHED) host.removeEventListener(kind, begin);
    if (isTouch) sources.touched(event, link);
    else if (link.matches(event.type === "focusin" ? ":focus" : ":hover")) sources.open(link);
  };
  for (const kind of REACHED) host.addEventListener(kind, begin);
}

class Explorer {
  constructor(host, model) {
    Object.assign(this, {host, model, tabs: new Map(), sections: new Map()});
    const change = (patch, typing, focus) => this.change(patch, typing, focus);
    this.panel = host.querySelector(".fb-panel");
    this.build();
    this.filters = new Filters(this.bar, model, change);
    this.views = {table: new List(this.sections.get("table"), model, change)};
    this.makers = {
      compare: async () => new (await import("./compare.js")).Compare(this.sections.get("compare"), model, change),
      scatter: async () => new (await import("./scatter.js")).Scatter(this.sections.get("scatter"), model, change),
      trends: async () => new Trends(this.sections.get("trends"), await pictures(host.dataset.trends)),
    };
    for (const kind of ["pointerover", "focusin"]) this.panel.addEventListener(kind, () => this.complete().catch(() => {}), {once: true});
    this.bar.querySelector(".fb-peak").append(this.views.table.columns.root);
    startSources(host, model);
    this.address = new Address({normal: defaults(model.data), read: (search) => read(search, model), show: (said) => this.show(said)});
    this.address.restore();
  }

  build() {
    const list = el("div", {role: "tablist", class: "fb-tabs", "aria-label": "Views"});
    for (const view of VIEWS) {
      let section = this.host.querySelector(`[data-view=${view}]`);
      if (!section) this.host.append(section = el("section", {class: "fb-view", "data-view": view}));
      section.querySelector("h2")?.classList.add("fb-hidden");
      const tab = el("button", {type: "button", role: "tab", id: `fb-tab-${view}`, "aria-controls": `fb-view-${view}`, click: () => this.change({view})}, NAMES[view]);
      for (const [name, value] of [["id", `fb-view-${view}`], ["role", "tabpanel"], ["aria-labelledby", tab.id]]) section.setAttribute(name, value);
      this.tabs.set(view, tab);
      this.sections.set(view, section);
      list.append(tab);
    }
    list.addEventListener("keydown", (event) => this.walk(event));
    this.bar = el("div", {class: "fb-bar", role: "search", "aria-label": "Filters"});
    this.unknown = el("p", {class: "fb-wrong", role: "status"});
    this.panel.append(el("div", {class: "fb-head"}, list, el("span", {class: "fb-row"}, foldButton(this.bar), linkButton())), this.bar, this.unknown);
  }

  walk(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    const view = VIEWS[(VIEWS.indexOf(this.state.view) + step + VIEWS.length) % VIEWS.length];
    this.change({view});
    this.tabs.get(view).focus();
  }

  /** All that the page did not bring; what could not be reached is asked for again. */
  complete() {
    this.completing ??= this.fetchAll().catch((error) => { this.completing = null; throw error; });
    return this.completing;
  }

  async fetchAll() {
    const values = this.model.isWhole ? null : fetch(this.host.dataset.rest).then((answer) => answer.json()).then((more) => this.model.add(more));
    const views = Object.entries(this.makers).filter(([name]) => !this.views[name]).map(async ([name, make]) => { this.views[name] = await make(); });
    await Promise.all([values, ...views]);
    this.host.dataset.whole = "yes";
  }

  /** What a state needs is there; else it is fetched, and the state shown then. */
  isThere(said) {
    const {state, model} = this;
    if (this.views[state.view] && (model.isWhole || !model.asksMore(state))) return true;
    this.host.setAttribute("aria-busy", "true");
    this.shown = this.complete().then(() => this.show(said), () => { this.unknown.textContent = "The values could not be loaded; try again."; })
      .finally(() => this.host.removeAttribute("aria-busy"));
    return false;
  }

  get state() {
    return this.address.state;
  }

  change(patch, typing = false, focus = "") {
    const {toggle, ...rest} = patch;
    const said = [];
    if (toggle) Object.assign(rest, {compare: this.toggled(toggle, said), price: []}); // prices stand in the order of the chips
    this.address.change(rest, typing, said);
    if (focus) this.host.querySelector(focus)?.focus();
  }

  toggled(id, said) {
    const {compare} = this.state;
    if (compare.includes(id)) return compare.filter((one) => one !== id);
    if (compare.length < MOST) return [...compare, id];
    said.push("Six at most can be compared; remove one first.");
    return compare;
  }

  show(said) {
    const {state, model} = this;
    if (!this.isThere(said)) return;
    this.unknown.textContent = said.join(" ");
    const entries = passing(model, state);
    this.host.dataset.now = state.view;
    for (const [view, tab] of this.tabs) {
      const on = view === state.view;
      tab.setAttribute("aria-selected", on);
      tab.tabIndex = on ? 0 : -1;
      this.sections.get(view).hidden = !on;
    }
    this.tabs.get("compare").textContent = state.compare.length ? `Compare (${state.compare.length})` : "Compare";
    this.filters.show(state);
    this.filters.count.textContent = counted(model, state, entries);
    this.views[state.view].show(state, entries);
  }
}

function counted(model, state, entries) {
  const all = `of ${model.entries.length} products`;
  if (isOpening(model, state)) return `${entries.length} current data-centre chips, newest first, ${all}`;
  if (!isOfKind(state, entries)) return `${entries.length} ${all}; no chip has that name`;
  return `${entries.length} ${all}`;
}

/** The pictures are made with the site, on a page of their own; here the points of what the filters leave out fade. */
class Trends {
  constructor(section, drawn) {
    this.section = section;
    this.nothing = el("p", {class: "fb-nothing"});
    section.querySelector(".fb-elsewhere").replaceWith(this.nothing, ...drawn);
  }

  show(state, entries) {
    this.nothing.textContent = nothing(state);
    this.nothing.hidden = entries.length > 0;
    const passed = new Set(entries.map(({id}) => id));
    for (const point of this.section.querySelectorAll("a[data-id]")) {
      point.classList.toggle("fb-faded", !passed.has(point.dataset.id));
    }
  }
}

/** The pictures of a page, with links that hold here. */
async function pictures(page) {
  const address = new URL(page, location.href);
  const found = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
  const view = document.adoptNode(found.querySelector("[data-view=trends]"));
  for (const link of view.querySelectorAll("a[href]")) link.setAttribute("href", new URL(link.getAttribute("href"), address));
  return [...view.childNodes];
}

for (const host of document.querySelectorAll(".fb-explorer[data-json]")) {
  try {
    const answer = await fetch(host.dataset.json);
    const explorer = new Explorer(host, new Model(await answer.json()));
    await explorer.shown;
  } finally {
    host.dataset.ready = "yes"; // the plain table is whole again, whatever came in between
  }
}
