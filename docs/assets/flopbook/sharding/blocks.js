// Sizes of blocks, as `flopbook.sharding.blocks` counts them.

import {general, refuse} from "../refusals.js";
import {grouped, spelled} from "./notation.js";

const MOST_BYTES = 1e18;

/** A product of whole numbers, rounded once as Python does: doubles would round at each step. */
export function product(numbers) {
  return Number([...numbers].reduce((all, one) => all * BigInt(one), 1n));
}

/** Into how many pieces some axes cut. */
export function ways(mesh, axes) {
  return product(axes.map((axis) => mesh.get(axis)));
}

/** The shape of the block of one device. */
export function localShape(shape, layout, mesh) {
  const {dims, cuts} = layout;
  if (shape.length !== dims.length) refuse(`${spelled(layout)} has ${dims.length} dimensions, and the array ${shape.length}`);
  return shape.map((size, n) => {
    const count = ways(mesh, cuts[n]);
    if (size % count) {
      const axes = cuts[n].map((axis) => `${axis}=${mesh.get(axis)}`).join(" * ");
      refuse(`${spelled(layout)}: ${dims[n]} of ${grouped(size)} does not divide into ${grouped(count)} blocks (${axes})`);
    }
    return size / count;
  });
}

/** Bytes of an array. */
export function arrayBytes(shape, width) {
  const size = product(shape) * width;
  if (size > MOST_BYTES) refuse(`an array of ${general(size, 3)} bytes is not plausible; at most ${general(MOST_BYTES)}`);
  return size;
}
