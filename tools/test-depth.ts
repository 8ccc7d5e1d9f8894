// Chooses between the whole of a large test and the slice of it that `npm test` runs.

const isWhole: boolean = process.env.TEST_DEPTH === 'whole'

/** @returns `whole` under `npm test -- --whole`, which sets TEST_DEPTH, else `slice` */
export function atDepth<T>(whole: T, slice: T): T {
  return isWhole ? whole : slice
}
