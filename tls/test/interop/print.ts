// The matrix for a terminal and for a page of documentation.

import { COLUMNS } from './columns.ts'
import type { Cell, Row } from './matrix.ts'

export function asText(rows: readonly Row[]): string {
  const reasons = new Reasons()
  const names = ['', ...COLUMNS.map(({ name }) => name)]
  const lines = rows.filter(ran).map((row) => [row.client, ...marks(row, reasons)])
  const widths = names.map((_, i) => Math.max(...[names, ...lines].map((line) => line[i]!.length)))
  const table = [names, ...lines].map((line) =>
    line
      .map((text, i) => text.padEnd(widths[i]!))
      .join(' ')
      .trimEnd(),
  )
  return [...table, '', ...legend(rows, reasons)].join('\n')
}

export function asMarkdown(rows: readonly Row[]): string {
  const reasons = new Reasons()
  const names = ['client', ...COLUMNS.map(({ name }) => name)]
  const lines = rows.filter(ran).map((row) => [row.client, ...marks(row, reasons)])
  const table = [names, names.map((_, i) => (i === 0 ? '---' : ':-:')), ...lines]
  const list = (items: string[]) => items.map((item) => `- ${item}`)
  return [
    ...table.map((line) => `| ${line.join(' | ')} |`),
    '',
    ...list(legend(rows, reasons)),
    '',
    ...list(COLUMNS.map(({ name, title }) => `**${name}**: ${title}`)),
  ].join('\n')
}

function ran({ version }: Row): boolean {
  return version !== undefined
}

function marks({ cells }: Row, reasons: Reasons): string[] {
  return COLUMNS.map(({ name }) => mark(cells[name], reasons))
}

function mark(cell: Cell | undefined, reasons: Reasons): string {
  if (cell?.status === 'passed') return '✓'
  return cell?.status === 'cannot' ? `–${reasons.numberOf(cell.reason)}` : '✗'
}

function legend(rows: readonly Row[], reasons: Reasons): string[] {
  const versions = rows.filter(ran).map(({ client, version }) => `${client} ${version}`)
  const skipped = rows.filter((row) => !ran(row))
  return [
    `Versions: ${versions.join(', ')}`,
    ...skipped.map(({ client, install }) => `Skipped: ${client}, which is not there (${install})`),
    ...reasons.lines(),
  ]
}

/** Why a client cannot do a column, numbered as they come. */
class Reasons {
  readonly #known: string[] = []

  numberOf(reason: string): number {
    if (!this.#known.includes(reason)) this.#known.push(reason)
    return this.#known.indexOf(reason) + 1
  }

  lines(): string[] {
    return this.#known.map((reason, i) => `–${i + 1}: ${reason}`)
  }
}

/** One line when a row is done. */
export function summaryOf({ client, version, install, cells }: Row<string>): string {
  if (version === undefined) return `${client}: skipped, it is not there (${install})`
  const count = (status: Cell['status']) =>
    Object.values(cells).filter((cell) => cell?.status === status).length
  return `${client} ${version}: ${count('passed')} passed, ${count('failed')} failed, ${count('cannot')} that it cannot do`
}
