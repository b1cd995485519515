// The table of entries: chosen columns, sorting by any of them, boxes to choose what is compared.

import {check, el} from "../dom.js";
import {isOfKind} from "./filters.js";
import {shown} from "./value.js";

const NOTHING = "No product passes the filters; clear some of them.";
const NOTHING_CALLED = "No product of that name passes the filters. Try fewer letters, a family such as Hopper, or a vendor.";

/** What helps a reader whom the filters show nothing. */
export const nothing = ({find}) => (find ? NOTHING_CALLED : NOTHING);
const TEXTS = [["name", "Name"], ["kind", "Kind"], ["status", "Status"]];

export class List {
  constructor(section, model, change) {
    Object.assign(this, {section, model, change});
    this.table = section.querySelector("table");
    this.table.parentNode.classList.add("fb-stacked");
    this.columns = new Columns(model, change);
    this.shape = "";
  }

  show(state, entries) {
    this.columns.show(state);
    this.table.classList.toggle("fb-one-kind", state.kind.length === 1 && isOfKind(state, entries));
    const shape = [state.columns, this.model.picked(state)].join();
    if (!this.shape && shape === this.written()) this.adopt();
    else if (shape !== this.shape) this.build(state);
    if (shape !== this.shape) this.label();
    this.shape = shape;
    this.mark(state);
    for (const [id, box] of this.boxes) box.checked = state.compare.includes(id);
    const body = this.table.tBodies[0];
    const rows = sorted(this.model, state, entries).map(({id}) => this.rows.get(id));
    this.nothing.cells[0].textContent = nothing(state);
    body.replaceChildren(...(rows.length ? rows : [this.nothing]));
  }

  /** What the plain table shows. */
  written() {
    const {start, columns} = this.model.data;
    return ["peak", "intensity", ...columns, this.model.picked({dtype: start[0], sparsity: start[2]})].join();
  }

  /** The rows of the plain table are used as they are; only boxes and buttons are added. */
  adopt() {
    const heads = [...this.table.tHead.rows[0].cells].filter((head) => !head.classList.contains("fb-static"));
    const ids = [...TEXTS.map(([id]) => id), "date", "peak", "intensity", ...this.model.data.columns];
    this.heads = new Map(heads.map((head, number) => {
      head.replaceChildren(this.sorter(ids[number], head.textContent, number > 2));
      return [ids[number], head];
    }));
    this.rows = new Map();
    this.boxes = new Map();
    for (const row of this.table.querySelectorAll("tr[data-id]")) {
      const entry = this.model.byId.get(row.dataset.id);
      row.cells[0].firstChild.prepend(this.box(entry));
      this.rows.set(entry.id, row);
    }
    this.end(heads.length);
  }

  end(width) {
    this.nothing = el("tr", {}, el("td", {colspan: width, class: "fb-nothing"}));
    for (const body of [...this.table.tBodies].slice(1)) body.remove();
  }

  build(state) {
    const {model} = this;
    const heads = [...TEXTS, ["date", "Year"], ...state.columns.map((id) => [id, label(model, id, state)])];
    this.heads = new Map(heads.map(([id, text], number) => [id, this.head(id, text, {numeric: number > 2, state})]));
    this.table.tHead.rows[0].replaceChildren(...this.heads.values());
    this.rows = new Map();
    this.boxes = new Map();
    for (const entry of model.entries) this.rows.set(entry.id, this.row(entry, state));
    this.end(heads.length);
  }

  /** On a narrow screen a row is a block, in which each value stands below the head of its column. */
  label() {
    const texts = [...this.heads.values()].map((head) => head.textContent);
    for (const row of this.rows.values()) {
      const cells = [...row.cells].filter((cell) => !cell.classList.contains("fb-static"));
      cells.forEach((cell, number) => { cell.dataset.label = texts[number]; });
    }
  }

  head(id, text, {numeric, state}) {
    const key = numeric ? this.model.quantity(id, state).key : null;
    return el("th", {scope: "col", class: numeric ? "fb-n" : null, "data-key": key}, this.sorter(id, text, numeric));
  }

  sorter(id, text, numeric) {
    return el("button", {type: "button", class: "fb-sorter", click: () => this.change({sort: this.next(id, numeric)})}, text);
  }

  box(entry) {
    const box = el("input", {type: "checkbox", "aria-label": `Compare ${entry.name}`, change: () => this.change({toggle: entry.id})});
    this.boxes.set(entry.id, box);
    return el("label", {class: "fb-tap"}, box); // a finger needs more room than the box has
  }

  /** Numbers begin with the largest, texts with A; a second time the other way round, a third time as at first. */
  next(id, numeric) {
    const order = numeric ? [`-${id}`, id] : [id, `-${id}`];
    return order[order.indexOf(this.sort) + 1] ?? "";
  }

  mark({sort}) {
    this.sort = sort;
    for (const [id, head] of this.heads) {
      if (sort.replace("-", "") !== id) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", sort.startsWith("-") ? "descending" : "ascending");
    }
  }

  row(entry, state) {
    const {model} = this;
    const name = el("th", {scope: "row"}, el("span", {class: "fb-pick"}, this.box(entry), el("a", {href: `${entry.id}/`}, entry.name)));
    const cells = ["date", ...state.columns].map((id) => (
      el("td", {class: "fb-n"}, shown(model, {entry, id, state, marks: id === "date" ? [] : model.data.loud}))
    ));
    return el("tr", {"data-id": entry.id}, name, el("td", {}, model.data.kinds_of_entry[entry.kind]), el("td", {}, entry.status), ...cells);
  }
}

function label(model, id, state) {
  const quantity = model.quantity(id, state);
  return id === "peak" ? `Peak, ${quantity.label}` : quantity.label;
}

/** Entries in the order of the reader; what has no value stays last, and equals keep their order. */
export function sorted(model, state, entries) {
  const id = state.sort.replace("-", "");
  if (!id) return entries;
  const sign = state.sort.startsWith("-") ? -1 : 1;
  const text = TEXTS.some(([name]) => name === id);
  const keyed = entries.map((entry) => [text ? entry[id] : model.value(entry, id, state), entry]);
  keyed.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (text ? a.localeCompare(b, "en", {numeric: true}) : a - b);
  });
  return keyed.map(([, entry]) => entry);
}

/** The folded list of columns. */
class Columns {
  constructor(model, change) {
    Object.assign(this, {model, change, boxes: new Map()});
    this.list = el("div", {class: "fb-options fb-wide-options"});
    this.root = el("details", {class: "fb-facet fb-columns"}, el("summary", {}, "Columns"), this.list);
    this.root.addEventListener("toggle", () => this.root.open && this.state && this.build());
  }

  show(state) {
    this.state = state;
    for (const [id, box] of this.boxes) box.checked = state.columns.includes(id);
  }

  build() {
    const {model, state} = this;
    this.boxes.clear();
    this.list.replaceChildren(...model.options(state).map(({group, options}) => {
      const boxes = options.filter(([id]) => id !== "date").map(([id, text]) => {
        const box = check(text, state.columns.includes(id), () => this.change({columns: this.chosen()}));
        this.boxes.set(id, box.querySelector("input"));
        return box;
      });
      return el("fieldset", {}, el("legend", {}, group), ...boxes);
    }));
  }

  /** Chosen columns: those that were there keep their order, a new one comes last. */
  chosen() {
    const now = [...this.boxes].filter(([, box]) => box.checked).map(([id]) => id);
    const kept = this.state.columns.filter((id) => now.includes(id));
    return [...kept, ...now.filter((id) => !kept.includes(id))];
  }
}
