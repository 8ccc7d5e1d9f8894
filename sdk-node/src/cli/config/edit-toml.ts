// Edits svc.toml in place and keeps comments, order and everything else. Each result is parsed again,
// and refused unless it contains exactly the intended change.

import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '@svc/sdk-core'
import { fieldLines, parseToml, patchToml, type TomlTable } from './toml.ts'

/** The array of tables that is changed. */
const ARRAY = 'tunnel'
const OWN_HEADER = /^\s*\[\[\s*tunnel\s*\]\]\s*(?:#.*)?$/
/** A table header. Lines of a value that end with a comma do not match. */
const HEADER = /^\s*\[{1,2}[\w\s."'-]+\]{1,2}\s*(?:#.*)?$/
const SUB_HEADER = /^\s*\[\[?\s*tunnel\s*\./
const COMMENT = /^\s*#/
const BLANK = /^\s*$/

/** An EditError says that the text cannot be changed in place and must be edited by hand. */
export class EditError extends Error {
  override readonly name = 'EditError'
}

/** Fields to set; null removes a field. */
export type FieldChanges = Record<string, unknown>

/**
 * Appends a `[[tunnel]]`.
 * @throws EditError
 */
export function addTunnel(text: string, fields: TomlTable): string {
  const { lines, end } = split(text)
  while (lines.length > 0 && BLANK.test(lines.at(-1)!)) lines.pop()
  const before = lines.length === 0 ? [] : ['']
  lines.push(...before, `[[${ARRAY}]]`, ...fieldLines(fields), '')
  const table = parseToml(text)
  return checked(lines.join(end), { ...table, [ARRAY]: [...tunnelsOf(table), fields] })
}

/**
 * Removes a `[[tunnel]]` with the comments directly above it.
 * @param index among the tunnels of the file
 * @throws EditError
 */
export function removeTunnel(text: string, index: number): string {
  const { lines, end } = split(text)
  const { start, headerAt, next } = blockOf(lines, index)
  let last = headerAt
  for (let at = headerAt; at < next; at++) if (isContent(lines[at]!)) last = at
  lines.splice(start, last + 1 - start)
  // Avoids two empty lines where there was one on each side.
  if (BLANK.test(lines[start] ?? '') && BLANK.test(lines[start - 1] ?? '')) lines.splice(start, 1)
  const table = parseToml(text)
  const { [ARRAY]: _all, ...shared } = table
  const left = tunnelsOf(table).filter((_, at) => at !== index)
  return checked(lines.join(end), left.length === 0 ? shared : { ...table, [ARRAY]: left })
}

/**
 * Sets fields of a tunnel, or those at the head of the file.
 * @param index among the tunnels of the file; undefined for the head
 * @throws EditError
 */
export function setFields(text: string, index: number | undefined, changes: FieldChanges): string {
  const table = parseToml(text)
  const before = index === undefined ? table : tunnelsOf(table)[index]!
  const known = Object.entries(changes).filter(([field]) => Object.hasOwn(before, field))
  const added = Object.entries(changes).filter(
    ([field, value]) => !Object.hasOwn(before, field) && value !== null,
  )
  const put = (entries: [string, unknown][]): TomlTable => {
    const fields: TomlTable = { ...before, ...Object.fromEntries(entries) }
    for (const [field, value] of entries) if (value === null) delete fields[field]
    if (index === undefined) return fields
    return { ...table, [ARRAY]: tunnelsOf(table).map((tunnel, at) => (at === index ? fields : tunnel)) }
  }
  const patched = known.length === 0 ? text : patchedText(text, put(known))
  requireComments(text, patched)
  const { lines, end } = split(patched)
  if (added.length > 0) insertFields(lines, index, fieldLines(Object.fromEntries(added)))
  return checked(lines.join(end), put([...known, ...added]))
}

function patchedText(text: string, table: TomlTable): string {
  try {
    return patchToml(text, table)
  } catch (cause) {
    throw new EditError('the file is written in a way that cannot be changed in place', { cause })
  }
}

/**
 * Checks that removing a field removed only the comments above it, and none that belong to the next table.
 * @throws EditError
 */
function requireComments(text: string, patched: string): void {
  const left = new Set(patched.split(/\r?\n/))
  const lines = text.split(/\r?\n/)
  for (const [at, line] of lines.entries()) {
    if (!HEADER.test(line) || SUB_HEADER.test(line)) continue
    if (lines.slice(commentsAbove(lines, at), at).some((comment) => !left.has(comment)))
      throw new EditError('a comment of another table would be lost')
  }
}

/** Inserts lines after the last field of a tunnel's own table, or of the head. */
function insertFields(lines: string[], index: number | undefined, added: readonly string[]): void {
  const headerAt = index === undefined ? -1 : blockOf(lines, index).headerAt
  const after = lines.findIndex((line, at) => at > headerAt && HEADER.test(line))
  const next = after < 0 ? lines.length : after
  for (let at = next - 1; at > headerAt; at--) {
    if (!isContent(lines[at]!)) continue
    lines.splice(at + 1, 0, ...added)
    return
  }
  if (headerAt >= 0) lines.splice(headerAt + 1, 0, ...added)
  else lines.splice(commentsAbove(lines, next), 0, ...added, '')
}

interface Block {
  /** The first of the comments directly above the header, or the header itself. */
  start: number
  headerAt: number
  /** The header of the next table that does not belong to this tunnel, or the end. */
  next: number
}

function blockOf(lines: readonly string[], index: number): Block {
  const headers = lines.flatMap((line, at) => (OWN_HEADER.test(line) ? [at] : []))
  const headerAt = headers[index]
  if (headerAt === undefined) throw new EditError(`tunnel ${index + 1} is not written as [[tunnel]]`)
  const after = lines.findIndex((line, at) => at > headerAt && HEADER.test(line) && !SUB_HEADER.test(line))
  return { start: commentsAbove(lines, headerAt), headerAt, next: after < 0 ? lines.length : after }
}

/** @returns the first of the comment lines directly above line `at` */
function commentsAbove(lines: readonly string[], at: number): number {
  let first = at
  while (first > 0 && COMMENT.test(lines[first - 1]!)) first--
  return first
}

function isContent(line: string): boolean {
  return !BLANK.test(line) && !COMMENT.test(line)
}

function split(text: string): { lines: string[]; end: string } {
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  return { lines: text.split(end), end }
}

function tunnelsOf(table: TomlTable): TomlTable[] {
  const { [ARRAY]: tunnels = [] } = table
  return Array.isArray(tunnels) ? tunnels.filter(isRecord) : []
}

function checked(text: string, wanted: TomlTable): string {
  let found: TomlTable | undefined
  try {
    found = parseToml(text)
  } catch {
    // The result is not TOML: the lines were not what they looked like.
  }
  if (found !== undefined && isDeepStrictEqual(found, wanted)) return text
  throw new EditError('the file is written in a way that cannot be changed in place')
}
