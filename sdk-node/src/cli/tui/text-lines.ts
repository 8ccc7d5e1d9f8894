// Lines of text that fit a terminal, whatever visitors and relays put into them.

import { printable } from '../report/printable.ts'

/**
 * Cuts a line to this many columns. Text of visitors or relays may hold anything: none of it reaches the terminal as a command.
 */
export function cut(line: string, columns: number): string {
  const characters = Array.from(printable(line.replaceAll('\n', '?')))
  if (characters.length <= columns) return characters.join('')
  return `${characters.slice(0, Math.max(0, columns - 1)).join('')}…`
}
