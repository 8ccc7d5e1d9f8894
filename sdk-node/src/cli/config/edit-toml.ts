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
/** One whose keys have no quotes. */
const BARE_HEADER = /^\s*(\[{1,2})([\w\s.-]+)\]{1,2}\s*(?:#.*)?$/
const SUB_HEADER = /^\s*\[\[?\s*tunnel\s*\./
/** A key without quotes. */
const BARE = /^[\w-]+$/
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
  const { headerAt, next } = blockOf(lines, index)
  removeLines(lines, headerAt, next)
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
  const wanted = withFields(parseToml(text), index, (fields) => {
    const next: TomlTable = { ...fields, ...changes }
    for (const [field, value] of Object.entries(changes)) if (value === null) delete next[field]
    return next
  })
  const left = withoutTables(text, index, changes)
  const table = parseToml(left)
  const { kept, added } = splitAdded(
    split(left).lines,
    index,
    fieldsOf(table, index),
    fieldsOf(wanted, index),
  )
  const known = withFields(table, index, () => kept)
  const patched = isDeepStrictEqual(known, table) ? left : patchedText(left, known)
  requireComments(left, patched)
  const { lines, end } = split(patched)
  for (const { path, fields } of added) insertFields(lines, index, path, fieldLines(fields))
  return checked(lines.join(end), wanted)
}

function fieldsOf(table: TomlTable, index: number | undefined): TomlTable {
  return index === undefined ? table : tunnelsOf(table)[index]!
}

/** Returns the table of the file with other fields in one place. */
function withFields(
  table: TomlTable,
  index: number | undefined,
  change: (fields: TomlTable) => TomlTable,
): TomlTable {
  if (index === undefined) return change(table)
  return { ...table, [ARRAY]: tunnelsOf(table).map((tunnel, at) => (at === index ? change(tunnel) : tunnel)) }
}

/** Removes tables that are written under a header of their own, with the comments directly above it. */
function withoutTables(text: string, index: number | undefined, changes: FieldChanges): string {
  const { lines, end } = split(text)
  for (const [field, value] of Object.entries(changes)) {
    const headerAt = value === null ? tableAt(lines, index, [field]) : undefined
    if (headerAt === undefined) continue
    const isInner = (path: readonly string[] | undefined): boolean =>
      path?.[0] === ARRAY && path[1] === field && path.length > 2
    const after = lines.findIndex(
      (line, at) => at > headerAt && HEADER.test(line) && !isInner(pathOf(line)?.path),
    )
    removeLines(lines, headerAt, after < 0 ? lines.length : after)
  }
  return lines.join(end)
}

interface Added {
  /** The table of the tunnel that gets them; empty for its own. */
  path: readonly string[]
  fields: TomlTable
}

/** Splits the wanted fields into those that are in the file, and those that are added, by the table that is written under a header. */
function splitAdded(
  lines: readonly string[],
  index: number | undefined,
  before: TomlTable,
  wanted: TomlTable,
  path: readonly string[] = [],
): { kept: TomlTable; added: Added[] } {
  const isThere = ([field]: [string, unknown]): boolean => Object.hasOwn(before, field)
  const entries = Object.entries(wanted)
  const fields = Object.fromEntries(entries.filter((entry) => !isThere(entry)))
  const added: Added[] = Object.keys(fields).length > 0 ? [{ path, fields }] : []
  const kept = entries.filter(isThere).map(([field, value]): [string, unknown] => {
    const was = before[field]
    const at = [...path, field]
    if (!isRecord(was) || !isRecord(value) || tableAt(lines, index, at) === undefined) return [field, value]
    const inner = splitAdded(lines, index, was, value, at)
    added.push(...inner.added)
    return [field, inner.kept]
  })
  return { kept: Object.fromEntries(kept), added }
}

/** @returns the keys of a table's header, or of that of an array of tables; undefined for another line, or keys in quotes */
function pathOf(line: string): { path: string[]; isArray: boolean } | undefined {
  const [, brackets, keys] = BARE_HEADER.exec(line) ?? []
  return keys === undefined
    ? undefined
    : { path: keys.split('.').map((key) => key.trim()), isArray: brackets === '[[' }
}

/** @returns the line of the header of a table of a tunnel, such as `[tunnel.access]`; undefined for one that is written otherwise */
function tableAt(
  lines: readonly string[],
  index: number | undefined,
  path: readonly string[],
): number | undefined {
  if (index === undefined || !path.every((field) => BARE.test(field))) return undefined
  const { headerAt, next } = blockOf(lines, index)
  const found = lines.findIndex((line, at) => {
    const header = at > headerAt && at < next ? pathOf(line) : undefined
    return header?.isArray === false && isDeepStrictEqual(header.path, [ARRAY, ...path])
  })
  return found < 0 ? undefined : found
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

/** Inserts lines after the last field of a table of a tunnel, of its own one, or of the head. */
function insertFields(
  lines: string[],
  index: number | undefined,
  path: readonly string[],
  added: readonly string[],
): void {
  const own = index === undefined ? -1 : blockOf(lines, index).headerAt
  const headerAt = path.length === 0 ? own : tableAt(lines, index, path)!
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

/** Removes a table: its header with the comments directly above, and its content, which ends before line `next`. */
function removeLines(lines: string[], headerAt: number, next: number): void {
  const start = commentsAbove(lines, headerAt)
  let last = headerAt
  for (let at = headerAt; at < next; at++) if (isContent(lines[at]!)) last = at
  lines.splice(start, last + 1 - start)
  // Avoids two empty lines where there was one on each side.
  if (BLANK.test(lines[start] ?? '') && BLANK.test(lines[start - 1] ?? '')) lines.splice(start, 1)
}

interface Block {
  headerAt: number
  /** The header of the next table that does not belong to this tunnel, or the end. */
  next: number
}

function blockOf(lines: readonly string[], index: number): Block {
  const headers = lines.flatMap((line, at) => (OWN_HEADER.test(line) ? [at] : []))
  const headerAt = headers[index]
  if (headerAt === undefined) throw new EditError(`tunnel ${index + 1} is not written as [[tunnel]]`)
  const after = lines.findIndex((line, at) => at > headerAt && HEADER.test(line) && !SUB_HEADER.test(line))
  return { headerAt, next: after < 0 ? lines.length : after }
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
