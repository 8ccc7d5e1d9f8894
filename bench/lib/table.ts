// Entries for a person at a terminal, and for a page of documentation: a Markdown table.
import type { Entry } from './entry.ts'

const HEAD = ['measured', 'unit', 'ours', 'theirs', 'peer', 'ratio', 'target', '']

export function table(entries: Entry[]): string {
  const rows = [HEAD, ...entries.map(cells)]
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (row: string[]): string =>
    `| ${row.map((cell, column) => (isNumeric(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => `-${'-'.repeat(width)}${isNumeric(column) ? ':' : '-'}`).join('|')}|`
  return [line(HEAD), rule, ...rows.slice(1).map(line)].join('\n')
}

function cells({ name, unit, ours, theirs, peer, ratio, target, met }: Entry): string[] {
  const verdict = ratio === null ? 'not measured' : met === null ? '' : met ? 'met' : 'missed'
  return [name, unit, number(ours), number(theirs), peer, number(ratio), number(target), verdict]
}

function number(value: number | null): string {
  return value === null ? '–' : String(value)
}

function isNumeric(column: number): boolean {
  return [2, 3, 5, 6].includes(column)
}
