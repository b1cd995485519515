// The calculator `roofline`, by hand: in Python it is ordinary code, which is not printed. A test in the browser holds both equal.
// Products and attention are counted by the function that is made from Python.

import {readKernels, readRoofs, ridges} from "../kernels/notation.js";
import {picture} from "../kernels/picture.js";
import {general, omission, refusal, refuse} from "../refusals.js";
import {arithmetic_intensity} from "./arithmetic-intensity.js";

const SOFTMAX = {reads: 1, writes: 1, flop: 5};
const LAUNCH_S = 3.25e-6;
const SIDES = {3: ["m", "n", "k"], 2: ["n", "k"], 1: ["k"]};
const OPEN = {m: 1, n: 1, heads: 1, kv_heads: Infinity, bytes_per_result: Infinity, peak: Infinity, bandwidth: Infinity};
// What `arithmetic-intensity` takes of a kernel, with its bounds, in the order in which it looks at them.
const BOUNDS = [["heads", 1, 1e6, ""], ["kv_heads", 1, 1e6, ""], ["bytes_per_param", 0.01, 64, " (unit byte)"]];

export function roofline({roofs, kernels, bytes_per_param}) {
  const machines = readRoofs(roofs);
  const table = rows(kernels, machines, bytes_per_param);
  const meeting = machines.flatMap((machine) => ridges(machine).map(([label, ridge]) => [`${machine.name}: ${label}`, ridge]));
  return {
    kernel: table.map(({kernel}) => kernel.name),
    on: table.map(({machine}) => machine.name),
    flop: table.map(({work}) => work.flop),
    bytes: table.map(({work}) => work.bytes),
    intensity: table.map(({intensity}) => intensity),
    bound: table.map(({bound}) => bound),
    attainable_flop_per_s: table.map(({rate}) => rate),
    share: table.map(({rate, machine}) => rate / machine.peaks[0].rate),
    reached: table.map(({reached}) => reached),
    ridge: meeting.map(([label]) => label),
    flop_per_byte: meeting.map(([, ridge]) => ridge),
  };
}

export function roofline_broken(inputs) {
  return refusal(() => roofline(inputs));
}

/** A launch against the time of the shortest kernel; a point has no time of its own. */
export function roofline_omitted({flop, intensity, attainable_flop_per_s: rates}) {
  const seconds = flop.map((done, n) => (done === intensity[n] ? Infinity : done / rates[n]));
  const share = -LAUNCH_S / (LAUNCH_S + Math.min(...seconds));
  return omission("launches", share, "kernel launches are not counted: at 3 microseconds each, as measured one by one, the shortest of these kernels reaches less; a graph of kernels hides most of it ({size})");
}

/** Kernels under roofs. */
export function roofline_drawing({roofs, kernels, bytes_per_param}, width) {
  const machines = readRoofs(roofs);
  return picture(machines, rows(kernels, machines, bytes_per_param), width);
}

/** Every kernel under the first peak and the first bandwidth of every chip. */
function rows(kernels, machines, width) {
  const listed = readKernels(kernels);
  if (machines.length > 1 && listed.some(({options}) => "rate" in options)) {
    refuse("a measured rate belongs to one chip: leave out rate=, or give one chip");
  }
  return machines.flatMap((machine) => listed.map((kernel) => row(machine, kernel, width)));
}

function row(machine, kernel, width) {
  const [peak, bandwidth] = [machine.peaks[0].rate, machine.bandwidths[0].rate];
  const work = workOf(kernel, width);
  const intensity = work.flop / work.bytes;
  const rate = Math.min(peak, bandwidth * intensity);
  const bound = bandwidth * intensity < peak ? "memory" : "arithmetic";
  const reached = "rate" in kernel.options ? kernel.options.rate / rate : null;
  return {machine, kernel, work, intensity, rate, bound, reached};
}

/** FLOP and bytes of a kernel, its values `width` bytes wide unless it says otherwise; of a point, per byte. */
function workOf(kernel, width) {
  const {op, sides, options} = kernel;
  if (op === "point") return {flop: sides[0], bytes: 1};
  const {flop, bytes} = ["softmax", "elementwise"].includes(op) ? elementwise(kernel, width) : product(kernel, width);
  const batch = options.batch ?? 1;
  return {flop: flop * batch, bytes: bytes * batch};
}

/** Work of a kernel without matrix: so much for each of its values. */
function elementwise({op, sides, options}, width) {
  const {reads, writes, flop, bytes = width} = op === "softmax" ? {...options, ...SOFTMAX} : options;
  const count = sides[0] * sides[1];
  return {flop: count * flop, bytes: count * (reads + writes) * bytes};
}

/** Work of a product or of attention. */
function product(kernel, width) {
  const question = {...OPEN, op: kernel.op, bytes_per_param: kernel.options.bytes ?? width, bytes_per_activation: width, ...shapeOf(kernel)};
  for (const [name, least, most, unit] of BOUNDS) within(name, question[name], least, most, unit);
  return arithmetic_intensity(question);
}

function within(name, value, least, most, unit) {
  if (value < least) refuse(`${name} is ${general(value, 15)}, expected at least ${general(least)}${unit}`);
  if (value > most && value < Infinity) refuse(`${name} is ${general(value, 15)}, which is not a plausible size; expected at most ${general(most)}${unit}`);
}

/** The sides of a kernel by the names that `arithmetic-intensity` has for them. */
function shapeOf({op, sides, options}) {
  if (op !== "prefill" && op !== "decode") return Object.fromEntries(SIDES[sides.length].map((name, n) => [name, sides[n]]));
  const heads = {k: options["head-dim"], heads: options.heads, kv_heads: options["kv-heads"] || Infinity};
  return op === "decode" ? {...heads, m: 1, n: options.context} : {...heads, m: options.seq, n: options.seq};
}
