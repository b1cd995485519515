// Kernels under the roofs of chips: rate against arithmetic intensity, both logarithmic.

import {el, svg} from "../dom.js";
import {written} from "../quantity.js";
import {Room, scale, thin, ticks} from "../scales.js";
import {ridges} from "./notation.js";

const HEIGHT = 300;
const EDGE = {left: 84, right: 22, top: 12, bottom: 38}; // half of the last label stands beyond the plot

/** The picture of the rows of a table of kernels; a point has the number of its row. */
export function picture(machines, rows, width) {
  const [x, y] = axes(machines, rows, width);
  const marks = rows.map((row, n) => ({x: x.at(row.intensity), y: y.at(row.rate), words: words(row, n), series: ""}));
  const room = new Room([EDGE.left, EDGE.top, width - EDGE.right, HEIGHT - EDGE.bottom], marks.map((mark) => ({px: mark.x, py: mark.y})));
  const points = rows.flatMap((row, n) => point(row, `${n + 1}`, marks[n], y, room));
  const waiting = rows.filter(({bound}) => bound === "memory").length;
  const finding = rows.length === 1 ? `The kernel waits for ${rows[0].bound}` : `${waiting} of ${rows.length} kernels wait for memory`;
  const root = svg("svg", {viewBox: `0 0 ${width} ${HEIGHT}`, class: "fb-svg", role: "img", "aria-label": `${finding}: ${marks.map((mark) => mark.words).join("; ")}`});
  root.append(...grid(x, y, width), ...roofs(machines, x, y).flatMap((roof) => line(roof, x, y, room)), ...points);
  return {
    words: [el("b", {}, finding), " Attainable rate against arithmetic intensity; points have the numbers of the table."],
    picture: [root],
    marks: [...marks].sort((a, b) => a.x - b.x),
    rows: [["kernel", "arithmetic intensity (FLOP/byte)", "attainable rate (FLOP/s)", "measured rate (FLOP/s)", "waits for"],
      ...rows.map(({kernel, intensity, rate, reached, bound}) => [kernel.name, intensity, rate, reached ? rate * reached : "", bound])],
  };
}

/** The axes: all kernels and ridges, with room beside them. */
function axes(machines, rows, width) {
  const across = [...rows.map(({intensity}) => intensity), ...machines.flatMap(ridges).map(([, ridge]) => ridge)];
  const low = 10 ** Math.floor(Math.log10(Math.min(...across) / 2));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...across) * 2));
  const rates = rows.flatMap(({rate, reached}) => (reached ? [rate, rate * reached] : [rate]));
  const peaks = machines.flatMap((machine) => machine.peaks.map(({rate}) => rate));
  return [
    scale([low, high], [EDGE.left, width - EDGE.right], true),
    scale([Math.min(...rates) / 3, Math.max(...peaks, ...rates) * 2], [HEIGHT - EDGE.bottom, EDGE.top], true),
  ];
}

/** Of one chip all peaks over the main memory, and its first peak over all memories; of several chips the first of each. */
function roofs(machines) {
  const first = machines.map(({name, peaks, bandwidths}) => ({label: name.split("/").at(-1), peak: peaks[0].rate, bandwidth: bandwidths[0].rate, main: true}));
  if (machines.length > 1) return first;
  const [{peaks, bandwidths}] = machines;
  const [peak, memory] = [peaks[0], bandwidths[0]];
  return [
    ...peaks.slice(1).map(({label, rate}) => ({label, peak: rate, bandwidth: memory.rate})),
    ...bandwidths.slice(1).map(({label, rate}) => ({label, peak: peak.rate, bandwidth: rate})),
    {...first[0], label: peak.label},
  ];
}

/** A slope from where it enters the picture, and the flat roof that it ends in. */
function line({label, peak, bandwidth, main}, x, y, room) {
  if (peak <= y.low) return [];
  const start = Math.max(x.low, y.low / bandwidth);
  const ends = [[start, bandwidth * start], [peak / bandwidth, peak], [x.high, peak]].map(([one, other]) => `${x.at(one)} ${y.at(other)}`);
  const place = room.place(label, {px: x.at(x.high), py: y.at(peak) - 12}) ?? room.place(label, {px: x.at(peak / bandwidth), py: y.at(peak)});
  const drawn = svg("path", {class: main ? "fb-roof" : "fb-dashed", d: `M${ends.join("L")}`}, svg("title", {}, `${label}, ridge at ${written(peak / bandwidth, "FLOP/byte")}`));
  return place ? [drawn, svg("text", place, label)] : [drawn];
}

function point({rate, reached}, label, mark, y, room) {
  const place = room.place(label, {px: mark.x - 14, py: mark.y - 10}); // above, where no slope passes
  const drawn = [svg("circle", {class: "fb-ridge", cx: mark.x, cy: mark.y, r: 4})];
  if (reached) drawn.push(svg("circle", {class: "fb-stroke", cx: mark.x, cy: y.at(rate * reached), r: 4}));
  return place ? [...drawn, svg("text", place, label)] : drawn;
}

function grid(x, y, width) {
  const [left, right, bottom] = [EDGE.left, width - EDGE.right, HEIGHT - EDGE.bottom];
  const up = thin(ticks(y), 6).flatMap((value) => [
    svg("path", {class: "fb-grid", d: `M${left} ${y.at(value)}H${right}`}),
    svg("text", {x: left - 6, y: y.at(value) + 4, "text-anchor": "end"}, written(value, "FLOP/s")),
  ]);
  const across = thin(ticks(x), Math.floor(width / 90)).flatMap((value) => [
    svg("path", {class: "fb-grid", d: `M${x.at(value)} ${EDGE.top}V${bottom}`}),
    svg("text", {x: x.at(value), y: bottom + 16, "text-anchor": "middle"}, written(value, "1")),
  ]);
  return [...up, ...across, svg("text", {x: right, y: HEIGHT - 5, "text-anchor": "end"}, "FLOP/byte")];
}

function words({kernel, intensity, rate, reached}, n) {
  const measured = reached ? `, measured ${written(rate * reached, "FLOP/s")}` : "";
  return `${n + 1} ${kernel.name}: ${written(rate, "FLOP/s")} at ${written(intensity, "FLOP/byte")}${measured}`;
}
