// Says at the end of `npm test` what failed: logs of continuous integration are cut at the front.
import type { Count } from './test-counts.ts'

/** Lines at most, of all steps together. */
const LINES_MAX = 40
/** Characters of a line at most. */
const LINE_MAX = 200
/** A command that marks nothing is quoted with so many of its last lines. */
const LAST_LINES = 8
/** The marks of a failure in what commands print. */
const MARKS = ['✗', '×', 'error', 'Error']

/** @returns the lines of a command's output that say what failed, else its last ones */
export function failingLines(output: string): string[] {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const marked = lines.filter((line) => MARKS.some((mark) => line.includes(mark)))
  return marked.length > 0 ? marked : lines.slice(-LAST_LINES)
}

/** @returns a line for each failure of each step, as many as there is room for; each step that failed has one at least */
export function listFailures(
  steps: readonly (Pick<Count, 'failed' | 'failures'> & { name: string })[],
): string[] {
  const failed = steps.filter((step) => step.failed > 0)
  const share = Math.max(1, Math.floor(LINES_MAX / Math.max(1, failed.length)))
  return failed.flatMap(({ name, failures }) => {
    if (failures.length === 0) return [`✗ ${name}`]
    const fits = failures.length <= share
    const shown = fits ? failures : failures.slice(0, Math.max(1, share - 1))
    const lines = shown.map((failure) => `✗ ${name}: ${failure.trim()}`.slice(0, LINE_MAX))
    return fits || share === 1 ? lines : [...lines, `✗ ${name}: … and ${failures.length - shown.length} more`]
  })
}
