// Chooses between the whole of a large test and the slice of it that `npm test` runs.

const isWhole: boolean = process.env.TEST_DEPTH === 'whole'

/** @returns `whole` under `npm test -- --whole`, which sets TEST_DEPTH, else `slice` */
export function atDepth<T>(whole: T, slice: T): T {
  return isWhole ? whole : slice
}

/**
 * For a test of a rule that another test of `npm test` proves too: at another page, of another kind, or in larger numbers.
 * @returns `test`, which is skipped by `npm test` and runs with `npm test -- --whole`
 */
export function wholeOnly<T extends { skip: unknown }>(test: T): T {
  return isWhole ? test : (test.skip as T)
}
