// Which device holds which block of an array, as a table: the grid that `flopbook.drawing.shards` draws.

import {el} from "../dom.js";
import {product, ways} from "./blocks.js";
import {grouped, spelled, spent} from "./notation.js";

const MOST_ROWS = 16;
const MOST_COLUMNS = 8;
const LISTED = 3; // devices of a block that are named where there are many more

/** The blocks of an array: coordinates of rows and columns, the devices of each block, and how much of it is shown. */
export function grid(layout, local, mesh) {
  const counts = layout.cuts.map((axes) => ways(mesh, axes));
  const [tall, wide] = [product(counts.slice(0, -1)), counts.at(-1)];
  const rows = Array.from({length: Math.min(tall, MOST_ROWS)}, (_, n) => indices(counts.slice(0, -1), n));
  const across = Array.from({length: Math.min(wide, MOST_COLUMNS)}, (_, n) => n);
  const copies = product(mesh.values()) / (tall * wide);
  const cells = rows.map((row) => across.map((column) => devicesOf(layout, mesh, [...row, column], copies)));
  const kind = layout.partial.length ? "a term of each on" : "each on";
  const isCut = rows.length !== tall || across.length !== wide;
  return {
    title: spelled(layout),
    rows: rows.map((row) => row.map((index, n) => coordinates(layout.cuts[n], mesh, index)).join(" ").trim()),
    columns: across.map((index) => coordinates(layout.cuts.at(-1), mesh, index)),
    cells,
    words: `${counted(tall * wide, "block")} of ${local.map(grouped).join(" x ")}, ${kind} ${counted(copies, "device")}`,
    cut: isCut ? `shown: ${rows.length} of ${grouped(tall)} rows and ${across.length} of ${counted(wide, "column")}` : "",
  };
}

/** The grid as a table below its words. */
export function picture(shown) {
  const row = (name, cells, n) => el("tr", {}, el("th", {scope: "row"}, name), ...cells.map((cell, m) => el("td", {class: `fb-shard-${(n + m) % 2}`}, cell)));
  const head = shown.columns.some(Boolean) ? [el("thead", {}, el("tr", {}, el("td"), ...shown.columns.map((name) => el("th", {scope: "col"}, name))))] : [];
  const table = el("table", {class: "fb-blocks"}, ...head, el("tbody", {}, ...shown.rows.map((name, n) => row(name, shown.cells[n], n))));
  const box = el("div", {class: "fb-scroll", tabindex: 0, role: "region", "aria-label": `Blocks of ${shown.title}`}, table);
  const words = [`${shown.title}: ${shown.words}`, shown.cut].filter(Boolean).join("; ");
  const note = " Each block lists the devices that hold it; the last axis of the mesh varies fastest.";
  return {words: [el("b", {}, words), note], picture: [box], marks: []};
}

/** The place on each dimension, the last one fastest. */
function indices(counts, number) {
  return counts.map((count, n) => Math.floor(number / product(counts.slice(n + 1))) % count);
}

/** The coordinates of a block on the axes that cut its dimension, such as X1 Y0. */
function coordinates(axes, mesh, index) {
  const places = indices(axes.map((axis) => mesh.get(axis)), index);
  return axes.map((axis, n) => `${axis}${places[n]}`).join(" ");
}

/** The devices of a block: all of a few, the first ones and the number of many. */
function devicesOf(layout, mesh, block, copies) {
  const fixed = new Map(layout.cuts.flatMap((axes, n) => {
    const places = indices(axes.map((axis) => mesh.get(axis)), block[n]);
    return axes.map((axis, m) => [axis, places[m]]);
  }));
  const free = [...mesh.keys()].filter((axis) => !spent(layout).includes(axis));
  // To leave out a single device would save nothing.
  const named = copies <= LISTED + 1 ? copies : LISTED;
  const first = Array.from({length: named}, (_, copy) => {
    const places = indices(free.map((axis) => mesh.get(axis)), copy);
    const at = new Map([...fixed, ...free.map((axis, n) => [axis, places[n]])]);
    return [...mesh].reduce((device, [axis, size]) => device * size + at.get(axis), 0);
  });
  return named === copies ? first.join(", ") : `${first.join(", ")} ... (${grouped(copies)})`;
}

function counted(number, noun) {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}
