// Filters for the table of published runs. Its page has the first rows; the others come from the pages that have all, when a
// reader comes near or follows a link that filters. The state stands in the address.

import {button, el} from "../dom.js";
import {Address, among, number, parse} from "../explorer/address.js";
import {Facet, cleared, filtered, finder, foldButton, inYears, linkButton, showFields, years} from "../explorer/panel.js";

const NORMAL = {find: "", model: [], chip: [], kind: [], format: [], from: "", to: ""};
const FACETS = {model: ["Model", 0], chip: ["Chip", 1], kind: ["Kind", 7], format: ["Format", 4]};
const YEAR = 6;
const NOTHING = "No run passes the filters. Clear some of them, or search for fewer words.";
const FIRST = 100; // so many rows are shown at once; the rest on demand

class Runs {
  constructor(host) {
    this.table = host.querySelector("table");
    this.rows = [...this.table.tBodies[0].rows].map(read);
    this.byRow = new Map(this.rows.map((run) => [run.row, run]));
    this.build(host);
    this.table.tHead.addEventListener("click", () => this.reveal()); // sorting has changed the order
    this.address = new Address({normal: NORMAL, read: (search) => this.read(search), show: (said) => this.show(said)});
  }

  build(host) {
    const change = (patch, typing) => {
      this.all = false;
      this.address.change(patch, typing);
    };
    this.facets = Object.entries(FACETS).map(([name, [label]]) => new Facet(name, label, options(this.rows, name), change));
    const find = finder("configuration, software, source", change);
    const {from, to, root} = years(change);
    this.controls = {find, from, to};
    const bar = el("div", {class: "fb-bar", role: "search", "aria-label": "Filters"},
      el("div", {class: "fb-row fb-facets"}, el("label", {class: "fb-choice fb-grow"}, el("span", {}, "Find"), find),
        ...this.facets.map((facet) => facet.root), root));
    this.count = el("span", {role: "status", class: "fb-count"});
    this.reset = button("Clear filters", () => change(cleared(NORMAL, Object.keys(NORMAL))));
    this.unknown = el("p", {class: "fb-wrong", role: "status"});
    const head = el("div", {class: "fb-head"}, el("span", {class: "fb-row fb-found"}, this.count, this.reset),
      el("span", {class: "fb-row"}, foldButton(bar), linkButton()));
    host.querySelector(".fb-panel").append(bar, head, this.unknown);
    host.querySelector("p.fb-more").remove();
    this.nothing = el("p", {class: "fb-nothing"}, NOTHING);
    host.append(this.nothing);
    this.more = button("", () => { this.all = true; this.reveal(); }, {class: "fb-button fb-more"});
    host.append(this.more);
  }

  read(search) {
    const known = Object.fromEntries(this.facets.map(({name, boxes}) => [name, boxes]));
    return parse(search, NORMAL, (key, value, normal, refuse) => {
      if (key === "from" || key === "to") return number(value, normal, refuse);
      return known[key] ? among((one) => known[key].has(one), value, normal, refuse) : value;
    });
  }

  show(said) {
    const {state} = this.address;
    const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
    for (const run of this.rows) run.passes = passes(run, state, words);
    for (const facet of this.facets) facet.show(state);
    showFields(this.controls, state);
    this.unknown.textContent = said.join(" ");
    this.reset.hidden = !filtered(state, NORMAL, Object.keys(NORMAL));
    this.reveal();
  }

  /** The first rows that pass, in the order in which the table has them now. */
  reveal() {
    let found = 0;
    for (const row of this.table.tBodies[0].rows) {
      const passing = this.byRow.get(row).passes;
      found += Number(passing);
      row.hidden = !passing || (!this.all && found > FIRST);
    }
    this.nothing.hidden = found > 0;
    const total = this.rows.length.toLocaleString("en");
    this.count.textContent = `${found.toLocaleString("en")} of ${total} runs`;
    this.more.hidden = this.all || found <= FIRST;
    this.more.textContent = `Show all ${found.toLocaleString("en")}`;
  }
}

/** What filters ask of a row; of a model or chip that has a page, its id there. */
function read(row) {
  const {cells} = row;
  const run = {row, year: Number(cells[YEAR].textContent), text: row.textContent.toLowerCase(), passes: true};
  for (const [name, [, column]] of Object.entries(FACETS)) {
    const href = cells[column].querySelector("a")?.getAttribute("href") ?? "";
    const text = cells[column].textContent.trim();
    run[name] = {id: id(href) || text, text};
  }
  return run;
}

/** `../models/#llama-3-8b` is llama-3-8b, `../accelerators/nvidia/h100-sxm/` is nvidia/h100-sxm. */
function id(href) {
  return href.split("#")[1] ?? href.match(/accelerators\/(.+?)\/?$/)?.[1];
}

function options(rows, name) {
  const texts = new Map(rows.map((run) => [run[name].id, run[name].text]));
  if (name === "model") for (const {kind, model} of rows) if (OPERATIONS.has(kind.text)) texts.delete(model.id);
  return [...texts].sort(([, a], [, b]) => a.localeCompare(b, "en", {numeric: true}));
}

const OPERATIONS = new Set(["matmul", "memory bandwidth", "link bandwidth", "collective"]);

function passes(run, state, words) {
  const chosen = Object.keys(FACETS).every((name) => !state[name].length || state[name].includes(run[name].id));
  return chosen && inYears(run.year, state) && words.every((word) => run.text.includes(word));
}

/** The rows of the pages that have all of them, in the place of the first; these pages lie beside ours, so links hold. */
async function complete(host) {
  const texts = await Promise.all(host.dataset.all.split(" ").map(async (page) => (await fetch(page)).text()));
  const [whole, ...more] = texts.map((text) => (
    document.adoptNode(new DOMParser().parseFromString(text, "text/html").querySelector(".fb-runs tbody"))
  ));
  for (const body of more) whole.append(...body.rows);
  host.querySelector("tbody").replaceWith(whole);
}

async function start(host) {
  host.dataset.begun = "yes";
  await complete(host);
  const runs = new Runs(host);
  runs.address.restore();
  host.dataset.ready = "yes";
}

for (const host of document.querySelectorAll(".fb-reached")) {
  const near = new IntersectionObserver(([{isIntersecting}]) => {
    if (!isIntersecting || host.dataset.begun) return;
    near.disconnect();
    start(host);
  }, {rootMargin: "800px"});
  if (location.search) start(host);
  else near.observe(host);
}
