// Meshes, arrays, layouts and products in the named-axis notation, as `flopbook.sharding.notation` reads them and in its words.
// A mesh is a map of axes to their sizes; a layout has the mesh axes that cut each dimension, the slowest first.

import {formats, parseQuantity} from "../quantity.js";
import {general, refuse, shorten, unknown} from "../refusals.js";

const MOST_DEVICES = 1e7;
const LONGEST_SIDE = 1e12;
const MOST_DIMENSIONS = 8;
const NAME = /^[A-Za-z][A-Za-z0-9]*$/;
const ARRAY = /^\s*([A-Za-z0-9]+)\s*\[([^[\]]*)\]\s*$/;
const LAYOUT = /^\s*([A-Za-z][\p{L}\p{N}_]*)\s*\[([^[\]]*)\]\s*(?:\{\s*(.*?)\s*\})?\s*$/u;
const DIMENSION = /^([A-Za-z][A-Za-z0-9]*)(?:_(?:\{([A-Za-z, ]+)\}|([A-Za-z]+)))?$/;
const PARTIAL = /^U_(?:\{([A-Za-z, ]+)\}|([A-Za-z]+))$/;
const BETWEEN_DIMENSIONS = /,(?![^{]*\})/; // a comma inside braces separates axes

// Layouts.

/** A layout in the notation. */
export function spelled({name, dims, cuts, partial}) {
  const sides = dims.map((dim, n) => subscripted(dim, cuts[n])).join(", ");
  return partial.length ? `${name}[${sides}] {${subscripted("U", partial)}}` : `${name}[${sides}]`;
}

/** The mesh axes that cut a dimension. */
export function axesOf({dims, cuts}, dim) {
  return cuts[dims.indexOf(dim)];
}

/** All axes that cut some dimension. */
export function spent({cuts}) {
  return cuts.flat();
}

/** The same layout with a dimension cut by other axes. */
export function cut(layout, dim, axes) {
  return {...layout, cuts: layout.cuts.map((own, n) => (layout.dims[n] === dim ? axes : own))};
}

/** The layout without axes of one device, which cut nothing. */
export function on(mesh, layout) {
  const axis = [...spent(layout), ...layout.partial].find((one) => !mesh.has(one));
  if (axis) refuse(`${spelled(layout)}: the mesh has no axis ${axis}; it has ${[...mesh.keys()].join(", ")}`);
  const longer = (axes) => axes.filter((one) => mesh.get(one) > 1);
  return {...layout, cuts: layout.cuts.map(longer), partial: longer(layout.partial)};
}

function subscripted(name, axes) {
  return axes.length ? `${name}_${axes.join("")}` : name;
}

// Reading.

/** A mesh such as X=4,Y=8,Z=2: one letter for each axis. */
export function readMesh(text) {
  const mesh = readCounts("mesh", text, MOST_DEVICES);
  let devices = 1;
  for (const [axis, size] of mesh) {
    devices *= size;
    if (axis.length > 1) refuse(`mesh: axis '${shorten(axis)}' has a long name; one letter names an axis: X=4,Y=8`);
    if (devices > MOST_DEVICES) refuse(`mesh: ${general(devices, 3)} devices are not a plausible mesh; at most ${grouped(MOST_DEVICES)}`);
  }
  return mesh;
}

/** Sizes of dimensions such as I=4096,J=8192. */
export function readSizes(text) {
  return readCounts("dims", text, LONGEST_SIDE);
}

/** Width and shape of an array such as bf16[256,2048]. */
export function readArray(text) {
  const [, format, sides] = ARRAY.exec(text) ?? refuse(`array: '${shorten(text)}' is not a format and a shape, such as bf16[256,2048]`);
  const {widths, blocks} = formats();
  const dtype = Object.keys(widths).find((name) => name === format.toLowerCase());
  if (blocks.includes(dtype)) refuse(`array: the width of ${dtype} depends on its scales; write its values and scales apart`);
  if (!dtype) unknown("dtype", format, Object.keys(widths).filter((name) => !blocks.includes(name)));
  return {width: widths[dtype], shape: sides.split(",").map((side) => readCount("array", "a side", side, LONGEST_SIDE))};
}

/** A layout such as A[I_XY, J], with {U_Z} where devices along Z hold terms of a sum. */
export function readLayout(text) {
  const quoted = `'${shorten(text)}'`;
  for (const [opening, closing] of ["[]", "{}"]) {
    if (text.split(opening).length !== text.split(closing).length) refuse(`layout ${quoted}: ${opening} and ${closing} do not pair`);
  }
  const match = LAYOUT.exec(text) ?? refuse(`layout ${quoted} is not a name and its dimensions, such as A[I_XY, J] or A[I, J] {U_X}`);
  const sides = match[2].split(BETWEEN_DIMENSIONS).map((side) => readDimension(side.trim(), quoted));
  const partial = match[3] === undefined ? [] : readPartial(match[3], quoted);
  const layout = {name: match[1], dims: sides.map(([dim]) => dim), cuts: sides.map(([, axes]) => axes), partial};
  check(layout);
  return layout;
}

/** Two factors and their result, such as A[I, J_X] * B[J_X, K] -> C[I, K]. */
export function readProduct(text) {
  const place = text.indexOf("->");
  const factors = (place < 0 ? text : text.slice(0, place)).split("*");
  if (place < 0 || factors.length !== 2) {
    refuse(`product '${shorten(text)}' is not two factors and a result, such as A[I, J_X] * B[J_X, K] -> C[I, K]`);
  }
  const layouts = [...factors, text.slice(place + 2)].map(readLayout);
  const twice = repeated(layouts.map(({name}) => name));
  if (twice) refuse(`product: two arrays are called ${twice}`);
  return layouts;
}

function readDimension(text, quoted) {
  const match = DIMENSION.exec(text) ?? refuse(`layout ${quoted}: '${shorten(text)}' is no dimension; write J, J_X or J_XY`);
  return [match[1], letters(match[2] ?? match[3])];
}

function readPartial(text, quoted) {
  const match = PARTIAL.exec(text) ?? refuse(`layout ${quoted}: '{${shorten(text)}}' names no partial sums; write {U_X}`);
  return letters(match[1] ?? match[2]);
}

/** The letters of a subscript, with or without commas between them. */
function letters(text = "") {
  return [...text].filter((letter) => !", ".includes(letter));
}

function check(layout) {
  if (layout.dims.length > MOST_DIMENSIONS) refuse(`${layout.name} has ${layout.dims.length} dimensions; at most ${MOST_DIMENSIONS}`);
  const dim = repeated(layout.dims);
  if (dim) refuse(`layout ${spelled(layout)}: dimension ${dim} is there twice`);
  const axis = repeated([...spent(layout), ...layout.partial]);
  if (axis) refuse(`layout ${spelled(layout)}: axis ${axis} is there twice; an axis can cut one dimension only`);
}

function repeated(names) {
  return names.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
}

function readCounts(kind, text, most) {
  const sizes = new Map();
  for (const pair of text.split(",")) {
    const [name, ...size] = pair.split("=");
    if (!size.length || !NAME.test(name.trim())) {
      refuse(`${kind}: '${shorten(pair)}' is not a name and a size; write for example ${kind === "mesh" ? "X=4,Y=8" : "I=4096,J=8192"}`);
    }
    if (sizes.has(name.trim())) refuse(`${kind}: ${name.trim()} is given twice`);
    sizes.set(name.trim(), readCount(kind, name.trim(), size.join("=").trim(), most));
  }
  return sizes;
}

/** A size as people write it: 8192, 8k, 2_048. */
function readCount(kind, name, text, most) {
  let count;
  try {
    count = parseQuantity(text, "1");
  } catch {
    refuse(`${kind}: ${name} is '${shorten(text)}', expected a whole number of at least 1`);
  }
  if (!(count >= 1 && Number.isInteger(count))) refuse(`${kind}: ${name} is ${general(count, 15)}, expected a whole number of at least 1`);
  if (count > most) refuse(`${kind}: ${name} is ${general(count, 15)}, which is not a plausible size; at most ${grouped(most)}`);
  return count;
}

/** A whole number with its thousands set off. */
export function grouped(number) {
  return number.toLocaleString("en");
}
