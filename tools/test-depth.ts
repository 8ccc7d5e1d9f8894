// Chooses what `npm test` runs of a large test, and what it leaves to `npm run nightly`.

const isWhole: boolean = process.env.TEST_DEPTH === 'whole'
const DAY_MS = 86_400_000

/**
 * Seeds what tests choose at random: another number each night, and always the same one in `npm test`, so that a
 * failure there comes from a change. TEST_SEED repeats a night.
 */
export const TEST_SEED: number = Number(process.env.TEST_SEED ?? atDepth(Math.floor(Date.now() / DAY_MS), 1))

/**
 * Why a test is left to `npm run nightly`:
 * - `variant`: `npm test` proves the same rule at another page, program, platform or kind of site
 * - `depth`: larger numbers, longer bodies or more rounds of what `npm test` proves with fewer
 * - `faults`: what dies, fails or attacks in combinations, beside the simple ones of `npm test`
 * - `appearance`: each width, theme and state of a page, and axe-core
 * - `clock`: nearly all of its time goes into waits for the real clock
 */
export type NightlyReason = 'variant' | 'depth' | 'faults' | 'appearance' | 'clock'

/** @returns `whole` under `npm run nightly`, which sets TEST_DEPTH, and `slice` under `npm test` */
export function atDepth<T>(whole: T, slice: T): T {
  return isWhole ? whole : slice
}

/**
 * For what is too slow for each change.
 * @param test `test` or `describe`, of Vitest or Playwright
 * @returns `test`, which is skipped by `npm test` and runs with `npm run nightly`
 */
export function wholeOnly<T extends { skip: unknown }>(test: T, _why: NightlyReason): T {
  if (isWhole) return test
  const skipped = test.skip as T
  // Vitest's conditions know nothing of what they are asked through: without this, those that hold would run the test.
  return 'skipIf' in test ? Object.assign(skipped, { skipIf: () => skipped, runIf: () => skipped }) : skipped
}
