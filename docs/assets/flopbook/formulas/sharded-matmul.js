// The calculator `sharded-matmul`, by hand: in Python it is ordinary code, which is not printed. A test in the browser holds both
// equal. Its collectives are timed by the function that is made from Python.

import {formatQuantity, formats} from "../quantity.js";
import {general, omission, refusal, refuse} from "../refusals.js";
import {ways} from "../sharding/blocks.js";
import {readMesh, readProduct, readSizes, spelled} from "../sharding/notation.js";
import {named, planProduct} from "../sharding/products.js";
import {collective, collective_broken} from "./collective.js";

const MOST_AXES = 3; // of a torus that one collective uses
const TORUS = new Set(["ring", "torus"]); // each axis of the mesh needs an axis of the network
const SUMMING = ["all-reduce", "reduce-scatter"];
// What `collective` has by default: one level, an ideal network.
const OPEN = {
  axes: 1, chips_per_node: Infinity, side_x: Infinity, side_y: Infinity, ring_side: 1, reduction: "chips", startup: 0, ramp: 0,
  efficiency: 1, reduction_efficiency: 1, scaleout_bandwidth: Infinity, level_overlap: "yes",
};

export function sharded_matmul(inputs) {
  const mesh = readMesh(inputs.mesh);
  if (TORUS.has(inputs.topology)) checkAxes(mesh, inputs.axes);
  const plan = planned(inputs, mesh);
  const moves = collectives(plan);
  const compute = plan.flop / inputs.peak;
  const communication = together(moves, mesh, inputs);
  return {
    case: plan.cases,
    collectives: moves.map(named),
    seconds: Math.max(compute, communication),
    seconds_in_turn: compute + communication,
    compute_seconds: compute,
    communication_seconds: communication,
    bound: communication > compute ? "network" : "arithmetic",
    flop: plan.flop,
    bytes: moves.reduce((sum, {bytes}) => sum + bytes, 0),
    devices: ways(mesh, [...mesh.keys()]),
  };
}

/** Why there is no answer; `chip_axes` are those of the chip that was picked, where axes were typed. */
export function sharded_matmul_broken({chip_axes = Infinity, chip = "", ...inputs}) {
  const tooMany = inputs.axes > chip_axes ? `--axes is ${general(inputs.axes)}, but ${chip} has ${general(chip_axes)}` : "";
  return refusal(() => sharded_matmul(inputs)) || tooMany;
}

/** Partial sums that travel in fp32, beyond the arithmetic that hides them. */
export function sharded_matmul_omitted(values) {
  if (!values.seconds) return {}; // without rates there are no times
  const mesh = readMesh(values.mesh);
  const wider = Math.max(formats().widths.fp32 / values.bytes_per_param, 1);
  const moves = collectives(planned(values, mesh)).map((move) => (SUMMING.includes(move.op) ? {...move, bytes: move.bytes * wider} : move));
  const share = Math.max(values.compute_seconds, together(moves, mesh, values)) / values.seconds - 1;
  return omission("sums_in_fp32", share, "partial sums travel as wide as values: in fp32, as they are added up, collectives that sum take longer, --bytes-per-param 4 ({size})");
}

/** The steps in words. */
export function sharded_matmul_steps(inputs) {
  const mesh = readMesh(inputs.mesh);
  const {cases, first, second, before, result, after, flop} = planned(inputs, mesh);
  const time = inputs.peak < Infinity ? `, ${formatQuantity(flop / inputs.peak, "s")}` : "";
  const multiply = `multiply on each device: ${spelled(first)} * ${spelled(second)} -> ${spelled(result)}, ${formatQuantity(flop, "FLOP")}${time}`;
  const told = (move) => described(move, mesh, inputs);
  return [...cases.map((one) => `case ${one}`), ...before.map(told), multiply, ...after.map(told)];
}

function planned({product, dims, bytes_per_param}, mesh) {
  return planProduct(readProduct(product), readSizes(dims), mesh, bytes_per_param);
}

/** The moves that use the network. */
function collectives({before, after}) {
  return [...before, ...after].filter(({op}) => op !== "slice");
}

function described(move, mesh, inputs) {
  const [before, after] = [spelled(move.before), spelled(move.after)];
  if (move.op === "slice") return `cut ${before} to ${after}: each device drops what it does not need`;
  const time = inputs.link_bandwidth < Infinity ? `, ${formatQuantity(seconds(move, mesh, inputs), "s")}` : "";
  return `${named(move)}: ${before} -> ${after}, ${formatQuantity(move.bytes, "byte")}${time}`;
}

/** Refuses a mesh of more axes than the torus has. */
function checkAxes(mesh, axes) {
  const longer = [...mesh.keys()].filter((axis) => mesh.get(axis) > 1);
  if (longer.length > axes) {
    refuse(`the mesh has ${longer.length} axes of more than one device (${longer.join(", ")}), and the network ${general(axes)}`);
  }
}

/** The time of collectives one after another. */
function together(moves, mesh, inputs) {
  return moves.reduce((sum, move) => sum + seconds(move, mesh, inputs), 0);
}

/** The time of a collective, each axis of the mesh on an axis of the network of its own. */
function seconds(move, mesh, {link_bandwidth, topology, links_per_axis, wrap, latency}) {
  if (link_bandwidth === Infinity) return 0; // nothing is known of the network: the output is open
  const network = {link_bandwidth, links_per_axis, wrap, latency, ...shapeOf(move, mesh, topology)};
  const question = {...OPEN, ...network, op: move.op, bytes: move.bytes, chips: ways(mesh, move.axes)};
  const broken = collective_broken(question);
  if (broken) refuse(broken);
  return collective(question).seconds;
}

/** The part of the network that a collective uses. */
function shapeOf(move, mesh, topology) {
  if (!TORUS.has(topology)) return {topology};
  const sides = move.axes.map((axis) => mesh.get(axis));
  if (sides.length === 1) return {topology: "ring"};
  if (sides.length > MOST_AXES) refuse(`${named(move)} uses ${sides.length} axes at once; a torus has at most ${MOST_AXES}`);
  const shape = {topology: "torus", axes: sides.length, side_x: sides[0]};
  return sides.length === MOST_AXES ? {...shape, side_y: sides[1]} : shape; // with two axes it follows from the chips
}
