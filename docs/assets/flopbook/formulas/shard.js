// The calculator `shard`, by hand: in Python it is ordinary code, which is not printed. A test in the browser holds both equal.

import {formatQuantity} from "../quantity.js";
import {refusal} from "../refusals.js";
import {arrayBytes, localShape, ways} from "../sharding/blocks.js";
import {grouped, on, readArray, readLayout, readMesh, spent} from "../sharding/notation.js";
import {grid, picture} from "../sharding/picture.js";

export function shard(inputs) {
  const {mesh, layout, shape, local, width} = sharded(inputs);
  const devices = ways(mesh, [...mesh.keys()]);
  const terms = ways(mesh, layout.partial);
  const bytes = arrayBytes(local, width);
  return {
    bytes_per_device: bytes,
    bytes_total: bytes * devices,
    copies: devices / (ways(mesh, spent(layout)) * terms),
    array_bytes: arrayBytes(shape, width),
    terms,
    devices,
    local_shape: local,
  };
}

export function shard_broken(inputs) {
  return refusal(() => shard(inputs));
}

export function shard_omitted() {
  return {};
}

/** The steps in words. */
export function shard_steps(inputs) {
  const {mesh, layout, shape, local, width} = sharded(inputs);
  const lines = [`the mesh ${inputs.mesh} has ${grouped(ways(mesh, [...mesh.keys()]))} devices`];
  layout.dims.forEach((dim, n) => {
    const cutting = layout.cuts[n].map((axis) => `${axis} (${mesh.get(axis)})`).join(" and ");
    lines.push(`${dim} of ${grouped(shape[n])} is ${cutting ? `cut by ${cutting}: ${grouped(local[n])} each` : "whole"}`);
  });
  const block = formatQuantity(arrayBytes(local, width), "byte");
  lines.push(`a device holds [${local.join(", ")}] values of ${formatQuantity(width, "byte")}: ${block}`);
  if (layout.partial.length) {
    lines.push(`along ${layout.partial.join(", ")} devices hold ${grouped(ways(mesh, layout.partial))} terms of a sum, to be added up`);
  }
  const used = [...spent(layout), ...layout.partial];
  const unused = [...mesh.keys()].filter((axis) => mesh.get(axis) > 1 && !used.includes(axis));
  if (unused.length) lines.push(`along ${unused.join(", ")} devices hold copies: ${grouped(ways(mesh, unused))} of each block`);
  return lines;
}

/** Which device holds which block. */
export function shard_drawing(inputs) {
  const {mesh, layout, local} = sharded(inputs);
  return picture(grid(layout, local, mesh));
}

/** The array on its mesh, read and checked. */
function sharded({array, layout, mesh}) {
  const sizes = readMesh(mesh);
  const onMesh = on(sizes, readLayout(layout));
  const {width, shape} = readArray(array);
  return {mesh: sizes, layout: onMesh, shape, width, local: localShape(shape, onMesh, sizes)};
}
