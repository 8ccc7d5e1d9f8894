// Parses and writes TOML. The only importer of @decimalturn/toml-patch.

import { parse, patch, stringify, TomlFormat } from '@decimalturn/toml-patch'

export type TomlTable = Record<string, unknown>

/** A TomlSyntaxError says where a text is not TOML. */
export class TomlSyntaxError extends Error {
  override readonly name = 'TomlSyntaxError'
  /** Counted from 1; undefined when the library does not report it. */
  readonly line: number | undefined
  readonly column: number | undefined

  constructor(message: string, line: number | undefined, column: number | undefined) {
    super(message)
    this.line = line
    this.column = column
  }
}

/** @throws TomlSyntaxError */
export function parseToml(text: string): TomlTable {
  try {
    return plain(parse(text)) as TomlTable
  } catch (error) {
    const { message, line, column } = error as Error & { line?: number; column?: number }
    // Before the last line, the library quotes the file, which may contain secrets.
    const reason = message.split('\n').at(-1) ?? ''
    throw new TomlSyntaxError(reason, line, column === undefined ? undefined : column + 1)
  }
}

/** Updates changed values in place and removes missing keys; the rest of the text is kept. */
export function patchToml(text: string, table: TomlTable): string {
  return patch(text, table)
}

/** @returns lines of `key = value`, in which tables are inline */
export function fieldLines(fields: TomlTable): string[] {
  const format = TomlFormat.default()
  format.inlineTableStart = 0
  return stringify(fields, format)
    .split('\n')
    .filter((line) => line !== '')
}

/** Converts the library's tables, which have no prototype, and its value objects to plain values. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))
}
