// The fields of a decoded message that its descriptor does not have.

import { valueLines } from './wire-fields.ts'

/** The most lines of them, and the deepest message that is looked at. */
const LINES_MAX = 200
const DEPTH_MAX = 100

interface Unknown {
  no: number
  wireType: number
  data: Uint8Array
}

/** @returns lines such as `items[2].9: 12` */
export function unknownFields(message: object): string[] {
  const lines: string[] = []
  visit(message, '', 0, lines)
  return lines
}

function visit(value: unknown, path: string, depth: number, lines: string[]): void {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return
  if (depth > DEPTH_MAX || lines.length >= LINES_MAX) return
  for (const { no, wireType, data } of (value as { $unknown?: Unknown[] }).$unknown ?? []) {
    if (lines.length >= LINES_MAX) return
    lines.push(...valueLines({ name: `${path}${no}`, number: no, wireType }, data))
  }
  for (const [name, member] of Object.entries(value)) {
    if (name.startsWith('$')) continue
    // A oneof is an object with the name of its field.
    const isChoice = name === 'value' && typeof (value as { case?: unknown }).case === 'string'
    const at = isChoice ? String((value as { case: string }).case) : name
    visit(member, Array.isArray(value) ? `${path.slice(0, -1)}[${at}].` : `${path}${at}.`, depth + 1, lines)
  }
}
