// Says at the end of `npm test` what failed, and why: logs of continuous integration are cut at the front.
import type { Count, Failure } from './test-counts.ts'

/** Names of failures at most, of all steps together. */
const NAMES_MAX = 40
/** Failures at most whose messages are quoted, of all steps together; the rest have their names. */
const MESSAGES_MAX = 6
/** Lines of a message at most. */
const MESSAGE_LINES_MAX = 12
/** Characters of a line at most. */
const LINE_MAX = 200
/** A command that marks nothing is quoted with this many of its last lines. */
const LAST_LINES = 8
/** The marks of a failure in what commands print. */
const MARKS = ['✗', '×', 'error', 'Error']

/** @returns the lines of a command's output that say what failed, else its last ones */
export function failingLines(output: string): Failure[] {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const marked = lines.filter((line) => MARKS.some((mark) => line.includes(mark)))
  return (marked.length > 0 ? marked : lines.slice(-LAST_LINES)).map((name) => ({ name }))
}

/**
 * @returns a line for each failure of each step, as many as there is room for, the first ones with their messages below;
 * each step that failed has one at least
 */
export function listFailures(
  steps: readonly (Pick<Count, 'failed' | 'failures'> & { name: string })[],
): string[] {
  const failed = steps.filter((step) => step.failed > 0)
  const share = Math.max(1, Math.floor(NAMES_MAX / Math.max(1, failed.length)))
  const quoted = Math.max(1, Math.floor(MESSAGES_MAX / Math.max(1, failed.length)))
  return failed.flatMap(({ name, failures }) => {
    if (failures.length === 0) return [`✗ ${name}`]
    const fits = failures.length <= share
    const shown = fits ? failures : failures.slice(0, Math.max(1, share - 1))
    const lines = shown.flatMap((failure, place) => [
      `✗ ${name}: ${failure.name.trim()}`.slice(0, LINE_MAX),
      ...(place < quoted ? quote(failure) : []),
    ])
    return fits || share === 1 ? lines : [...lines, `✗ ${name}: … and ${failures.length - shown.length} more`]
  })
}

/** @returns a line for each test that passed when its file ran again alone, with the first failure's message below */
export function listPassedAlone(
  steps: readonly { name: string; passedAlone?: readonly Failure[] }[],
): string[] {
  return steps.flatMap(({ name, passedAlone = [] }) =>
    passedAlone.flatMap((failure) => [
      `~ ${name}: ${failure.name.slice(0, LINE_MAX)}: passed alone, failed beside others`,
      ...quote(failure),
    ]),
  )
}

function quote({ message = '' }: Failure): string[] {
  const lines = message.split('\n').filter((line) => line.trim() !== '' && !line.includes('/node_modules/'))
  return lines.slice(0, MESSAGE_LINES_MAX).map((line) => `    ${line}`.slice(0, LINE_MAX))
}
