// Makes the explorer from the plain table: filters, views as tabs, and the state in the address.

import {copyText} from "../copy.js";
import "../scales.js"; // asked for here already, so that all files come in one go
import "./value.js";
import {Compare} from "./compare.js";
import {button, el} from "../dom.js";
import {Filters, passing} from "./filters.js";
import {List} from "./list.js";
import {Model} from "./model.js";
import {Scatter} from "./scatter.js";
import {Sources} from "./sources.js";
import {MOST, VIEWS, read, write} from "./state.js";

const NAMES = {table: "Table", compare: "Compare", scatter: "Scatter", trends: "Trends"};

class Explorer {
  constructor(host, model) {
    Object.assign(this, {host, model, tabs: new Map(), sections: new Map(), pushed: 0});
    const change = (patch, typing, focus) => this.change(patch, typing, focus);
    this.panel = host.querySelector(".fb-panel");
    this.build();
    this.filters = new Filters(this.bar, model, change);
    this.views = {
      table: new List(this.sections.get("table"), model, change), compare: new Compare(this.sections.get("compare"), model, change),
      scatter: new Scatter(this.sections.get("scatter"), model, change), trends: new Trends(this.sections.get("trends")),
    };
    this.bar.querySelector(".fb-peak").append(this.views.table.columns.root);
    new Sources(host, model);
    this.restore();
    addEventListener("popstate", () => this.restore());
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
    const copy = button("Copy link", async () => {
      copy.textContent = (await copyText(location.href)) ? "Copied" : "Copy the address of this page";
      setTimeout(() => { copy.textContent = "Copy link"; }, 3000);
    });
    // On a narrow screen the filters are folded, so that what they filter is in view.
    const fold = button("Filters", () => fold.setAttribute("aria-expanded", this.bar.classList.toggle("fb-unfolded")), {class: "fb-button fb-fold", "aria-expanded": "false"});
    this.panel.append(el("div", {class: "fb-head"}, list, el("span", {class: "fb-row"}, fold, copy)), this.bar, this.unknown);
  }

  walk(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    const view = VIEWS[(VIEWS.indexOf(this.state.view) + step + VIEWS.length) % VIEWS.length];
    this.change({view});
    this.tabs.get(view).focus();
  }

  restore() {
    const {state, unknown} = read(location.search, this.model);
    this.unknown.textContent = unknown.join("; ");
    this.state = state;
    this.show();
  }

  /** What the reader changed goes into the state and the address; letters typed one by one make one step back. */
  change(patch, typing = false, focus = "") {
    const {toggle, ...rest} = patch;
    this.unknown.textContent = "";
    if (toggle) rest.compare = this.toggled(toggle);
    this.state = {...this.state, ...rest};
    const address = location.pathname + write(this.state, this.model.data) + location.hash;
    history[typing && this.typing ? "replaceState" : "pushState"](null, "", address);
    this.typing = typing;
    this.show();
    if (focus) this.host.querySelector(focus)?.focus();
  }

  toggled(id) {
    const {compare} = this.state;
    if (compare.includes(id)) return compare.filter((one) => one !== id);
    if (compare.length < MOST) return [...compare, id];
    this.unknown.textContent = "Six is the most that can be compared; take one away first.";
    return compare;
  }

  show() {
    const {state, model} = this;
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
    this.filters.count.textContent = `${entries.length} of ${model.entries.length} entries`;
    this.views[state.view].show(state, entries);
  }
}

/** The pictures are made with the site; here the points of what the filters leave out fade. */
class Trends {
  constructor(section) {
    this.section = section;
  }

  show(state, entries) {
    const passed = new Set(entries.map(({id}) => id));
    for (const point of this.section.querySelectorAll("a[data-id]")) {
      point.classList.toggle("fb-faded", !passed.has(point.dataset.id));
    }
  }
}

for (const host of document.querySelectorAll(".fb-explorer")) {
  const answer = await fetch(host.dataset.json);
  new Explorer(host, new Model(await answer.json()));
  host.dataset.ready = "yes";
}
