// What the searches of training and serving share: how numbers divide.

/** All whole numbers that divide one, the smallest first. */
export function divisors(number) {
  const small = [];
  for (let n = 1; n * n <= number; n++) if (number % n === 0) small.push(n);
  const large = small.map((n) => number / n).filter((n) => n * n !== number).reverse();
  return [...small, ...large];
}

/** Whether chunks of a model hold equally many layers, but for the few that others replace. */
export function isEven({short, most_uneven}, layers, chunks) {
  const lacking = Math.ceil(layers / chunks) * chunks - layers;
  return lacking <= Math.min(short, most_uneven * layers) && chunks <= layers;
}
