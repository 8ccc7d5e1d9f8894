// Fits lines to a terminal, even with text of visitors and relays.

import { printable } from '../report/printable.ts'

/**
 * Cuts a line to this many columns, and removes control characters, because the text may come from visitors or relays.
 */
export function cut(line: string, columns: number): string {
  const characters = Array.from(printable(line.replaceAll('\n', '?')))
  if (characters.length <= columns) return characters.join('')
  return `${characters.slice(0, Math.max(0, columns - 1)).join('')}…`
}
