// The product of two sharded arrays: which collectives move what, before and after it, as `flopbook.sharding.products` plans it.

import {refuse} from "../refusals.js";
import {arrayBytes, localShape, product, ways} from "./blocks.js";
import {axesOf, cut, on, spelled, spent} from "./notation.js";

const WHOLE = "1: contracted dimensions are whole";
const CUT_DIFFERENTLY = "2: a contracted dimension is cut differently";
const CUT_ALIKE = "3: a contracted dimension is cut alike";
const CLASHING = "4: one axis cuts a kept dimension of both";

/** Arrays of one product and what was done to them: each move with its layouts before and after, and its bytes. */
class Journal {
  constructor(mesh, sizes, width) {
    Object.assign(this, {mesh, sizes, width, moves: []});
  }

  /** Bytes of the block of one device. */
  localBytes({dims, cuts}) {
    return arrayBytes(dims.map((dim) => this.sizes.get(dim)), this.width) / ways(this.mesh, cuts.flat());
  }

  /** Write down a move and return the layout after it. */
  move(op, axes, before, after) {
    const bytes = {
      "all-gather": () => this.localBytes(after),
      "all-to-all": () => this.localBytes(before) * ways(this.mesh, axes),
      slice: () => 0,
    }[op] ?? (() => this.localBytes(before));
    this.moves.push({op, axes, before, after, bytes: bytes()});
    return after;
  }

  /** Take axes off a dimension: all from the slowest unwanted one on are gathered; the others among them cut again. */
  gather(layout, dim, unwanted) {
    if (!unwanted.length) return layout;
    const axes = axesOf(layout, dim);
    const slowest = axes.findIndex((axis) => unwanted.includes(axis));
    const [kept, gathered] = [axes.slice(0, slowest), axes.slice(slowest)];
    const whole = this.move("all-gather", gathered, layout, cut(layout, dim, kept));
    const again = gathered.filter((axis) => !unwanted.includes(axis));
    return again.length ? this.move("slice", again, whole, cut(whole, dim, [...kept, ...again])) : whole;
  }
}

/** What a move is called. */
export function named({op, before, axes}) {
  return `${op} of ${before.name} over ${axes.join("")}`;
}

/** How A * B -> C is done on a mesh, for values of `width` bytes. */
export function planProduct(layouts, sizes, mesh, width) {
  let [first, second, target] = layouts.map((layout) => on(mesh, layout));
  const contracted = checkDims(first, second, target);
  checkSizes([first, second, target], sizes, mesh, width);
  const cases = casesOf(first, second, contracted);
  const journal = new Journal(mesh, sizes, width);
  const sums = [];
  for (const dim of contracted) {
    const common = commonPrefix(axesOf(first, dim), axesOf(second, dim));
    first = journal.gather(first, dim, axesOf(first, dim).slice(common.length));
    second = journal.gather(second, dim, axesOf(second, dim).slice(common.length));
    sums.push(...common);
  }
  const clashing = spent(first).filter((axis) => spent(second).includes(axis) && !sums.includes(axis));
  if (clashing.length) {
    cases.add(CLASHING);
    [first, second] = settle(journal, [first, second], target, clashing.sort());
  }
  if (!cases.size) cases.add(WHOLE);
  // After the gathers a contracted dimension is cut alike in both factors.
  const cuts = new Map([first, second].flatMap(({dims, cuts: own}) => dims.map((dim, n) => [dim, own[n]])));
  const result = {...target, cuts: target.dims.map((dim) => cuts.get(dim)), partial: sums};
  const before = journal.moves;
  journal.moves = [];
  reach(journal, result, target);
  const pieces = ways(mesh, [...cuts.values()].flat());
  const flop = 2 * product([...cuts.keys()].map((dim) => sizes.get(dim))) / pieces;
  return {cases: [...cases].sort(), first, second, before, result, after: journal.moves, flop};
}

/** The contracted dimensions; refuses names that make no product of matrices. */
function checkDims(first, second, target) {
  for (const factor of [first, second]) {
    if (factor.partial.length) refuse(`${spelled(factor)}: a factor cannot be a partial sum; add it up first`);
  }
  const contracted = first.dims.filter((dim) => second.dims.includes(dim));
  const batch = contracted.find((dim) => target.dims.includes(dim));
  if (batch) refuse(`${batch} is in both factors and in the result; a dimension of both is summed over here`);
  const free = [...first.dims, ...second.dims].filter((dim) => !contracted.includes(dim));
  const stranger = target.dims.find((dim) => !free.includes(dim));
  if (stranger) refuse(`${spelled(target)}: ${stranger} is a dimension of neither factor`);
  const lost = free.find((dim) => !target.dims.includes(dim));
  if (lost) refuse(`${spelled(target)} lacks ${lost}, which only one factor has`);
  return contracted;
}

/** Refuses unless each dimension has a size that divides, and no other has one. */
function checkSizes(layouts, sizes, mesh, width) {
  for (const layout of layouts) {
    const missing = layout.dims.find((dim) => !sizes.has(dim));
    if (missing) refuse(`dims: the size of ${missing} is missing; write ${missing}=...`);
    const shape = layout.dims.map((dim) => sizes.get(dim));
    localShape(shape, layout, mesh);
    arrayBytes(shape, width);
  }
  const known = [...layouts[0].dims, ...layouts[1].dims];
  const unused = [...sizes.keys()].find((dim) => !known.includes(dim));
  if (unused) refuse(`dims: ${unused} is a dimension of neither factor`);
}

/** Which of the first three cases the contracted dimensions make. */
function casesOf(first, second, contracted) {
  const cases = new Set();
  for (const dim of contracted) {
    const [one, other] = [axesOf(first, dim), axesOf(second, dim)];
    const {length} = commonPrefix(one, other);
    if (one.length !== length || other.length !== length) cases.add(CUT_DIFFERENTLY);
    if (length) cases.add(CUT_ALIKE);
  }
  return cases;
}

/** The axes that cut two arrays alike: up to there their blocks meet on the same devices. */
function commonPrefix(first, second) {
  const differs = first.findIndex((axis, n) => axis !== second[n]);
  return differs < 0 ? first : first.slice(0, differs);
}

/**
 * Gather one of the factors over each axis that cuts a kept dimension of both: the one whose axis the result can spare; where it
 * can spare both, the one whose block is smaller.
 */
function settle(journal, [first, second], target, clashing) {
  const cutBy = (axis, layout) => layout.dims.find((dim) => axesOf(layout, dim).includes(axis));
  for (const axis of clashing) {
    const [firstDim, secondDim] = [cutBy(axis, first), cutBy(axis, second)];
    let spareFirst = journal.localBytes(second) >= journal.localBytes(first);
    if (axesOf(target, firstDim).includes(axis)) spareFirst = false;
    else if (axesOf(target, secondDim).includes(axis)) spareFirst = true;
    if (spareFirst) first = journal.gather(first, firstDim, [axis]);
    else second = journal.gather(second, secondDim, [axis]);
  }
  return [first, second];
}

/** The moves from the layout that the local products leave to the one that was asked for. */
function reach(journal, result, target) {
  const missing = target.partial.find((axis) => !result.partial.includes(axis));
  if (missing) refuse(`${spelled(target)}: the product leaves no partial sums over ${missing}`);
  // Scatter first: what is still to be added up is smaller afterwards.
  let layout = addUp(journal, cutFurther(journal, result, target), target);
  for (const dim of target.dims) layout = join(journal, layout, target, dim);
  cutFurther(journal, layout, target);
}

/** All-reduce the partial sums over axes that the target does not use at all. */
function addUp(journal, layout, target) {
  const used = [...target.partial, ...spent(target)];
  const axes = layout.partial.filter((axis) => !used.includes(axis));
  if (!axes.length) return layout;
  return journal.move("all-reduce", axes, layout, {...layout, partial: layout.partial.filter((axis) => used.includes(axis))});
}

/** Cut what is cut as in the target so far: scatter partial sums, or drop what is a copy. */
function cutFurther(journal, layout, target) {
  for (const dim of target.dims) {
    for (let axes; (axes = nextAxes(layout, target, dim)).length;) {
      const op = layout.partial.includes(axes[0]) ? "reduce-scatter" : "slice";
      const partial = layout.partial.filter((axis) => !axes.includes(axis));
      layout = journal.move(op, axes, layout, {...cut(layout, dim, [...axesOf(layout, dim), ...axes]), partial});
    }
  }
  return layout;
}

/** The axes that can cut a dimension next, in one move: along all of them devices hold terms of a sum, or along all of them copies. */
function nextAxes(layout, target, dim) {
  const [present, wanted] = [axesOf(layout, dim), axesOf(target, dim)];
  const axes = [];
  if (!begins(wanted, present)) return axes;
  for (const axis of wanted.slice(present.length)) {
    if (spent(layout).includes(axis)) break; // it cuts another dimension still
    if (axes.length && layout.partial.includes(axis) !== layout.partial.includes(axes[0])) break;
    axes.push(axis);
  }
  return axes;
}

/** Take off a dimension the axes that do not cut it in the target: to where they are wanted next; what is left is gathered. */
function join(journal, layout, target, dim) {
  const {length} = commonPrefix(axesOf(layout, dim), axesOf(target, dim));
  while (axesOf(layout, dim).length > length) {
    const axes = axesOf(layout, dim);
    const axis = axes.at(-1);
    const destination = destinationOf(layout, target, dim, axis);
    if (!destination) return journal.gather(layout, dim, axes.slice(length));
    const after = cut(cut(layout, dim, axes.slice(0, -1)), destination, [...axesOf(layout, destination), axis]);
    layout = journal.move("all-to-all", [axis], layout, after);
  }
  return layout;
}

/** Another dimension that the axis is to cut next, if there is one. */
function destinationOf(layout, target, dim, axis) {
  return target.dims.find((one) => one !== dim && begins(axesOf(target, one), [...axesOf(layout, one), axis]));
}

function begins(axes, first) {
  return first.every((axis, n) => axis === axes[n]);
}
