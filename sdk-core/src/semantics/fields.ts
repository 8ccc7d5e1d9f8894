// Header fields (RFC 9110 §5).

/**
 * A Field is a name in lower case and a trimmed value; over HTTP/1.1, also the name as it
 * was written, which a proxy forwards.
 */
export type Field = readonly [name: string, value: string, written?: string | undefined]

/** Returns the values of all field lines with this lower-case name. */
export function valuesOf(fields: readonly Field[], name: string): string[] {
  const values = []
  for (const field of fields) if (field[0] === name) values.push(field[1])
  return values
}
