// One value as a cell: a link to where it stands on its entry's page, with what a reader must know about it.

import {el} from "../dom.js";

/** The address of a value; `prefix` is what its anchor begins with, the place comes from the page. */
export function address(entry, cell) {
  if (!cell?.key || !(cell.place >= 0)) return `${entry.id}/`;
  return `${entry.id}/#${anchor(cell)}`;
}

function anchor({key, place, marks}) {
  const field = key !== "date" ? key : marks.includes("announced") ? "announced" : "launched";
  const [first, dtype = "", , ...sparsity] = field.split(":");
  return `${first}-${dtype}-${sparsity.join(":")}-${place}`.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
}

/** The value as a link; its source is shown by sources.js. `marks` limits the badges to these. */
export function shown(model, {entry, id, state, marks, full = false}) {
  const quantity = model.quantity(id, state);
  const cell = model.cell(entry, id, state);
  if (!cell) return el("span", {class: "fb-none"}, model.missing(entry, id, state).replace(/^not recorded$/, "-") || "-");
  const badges = cell.marks.filter((mark) => !marks || marks.includes(mark)).map((mark) => el("span", {class: "fb-badge"}, mark));
  const text = full && quantity.unit === "year" ? cell.kind : model.inColumn(quantity, cell, entry);
  if (cell.computed) return el("span", {}, text, ...spaced(badges));
  return el("span", {}, el("a", {href: address(entry, cell)}, text), ...spaced(badges));
}

function spaced(nodes) {
  return nodes.flatMap((node) => [" ", node]);
}
