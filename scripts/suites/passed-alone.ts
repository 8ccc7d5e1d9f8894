// Chooses the test files that a suite runs again alone, and merges what they say then: a real fault fails twice.
import type { Count, Failure } from './test-counts.ts'

/** More files than this fail for a reason that they share. */
const FILES_MAX = 5

export interface MergedCount extends Count {
  /** What failed beside other files, and passed alone. */
  passedAlone: readonly Failure[]
}

/** @returns the files to run again: none when too many failed, or when anything failed that is not in a file */
export function filesToRepeat({ failures, failed }: Count): string[] {
  const files = new Set(failures.map(({ file }) => file))
  const isWhole = failures.length === failed && !files.has(undefined)
  return isWhole && files.size <= FILES_MAX ? ([...files] as string[]) : []
}

/**
 * A file passes alone when all of it does.
 * @param again of the same files alone
 */
export function mergeRepeated(first: Count, again: Count): MergedCount {
  const failedAgain = new Set(again.failures.map(({ file }) => file))
  // A run of nothing, or one that failed and does not say in which file, proves nothing of any.
  const isKnown = again.failures.length === again.failed && !failedAgain.has(undefined)
  if (again.passed === 0 || !isKnown) return { ...first, passedAlone: [] }
  const still = first.failures.filter(({ file }) => failedAgain.has(file))
  const others = again.failures.filter(({ name }) => !still.some((one) => one.name === name))
  const passedAlone = first.failures.filter(({ file }) => !failedAgain.has(file))
  const failures = [...still, ...others]
  return {
    ...first,
    passed: first.passed + passedAlone.length,
    failed: failures.length,
    failures,
    passedAlone,
  }
}
