// Header fields (RFC 9110 §5).

/**
 * A Field is a name in lower case, and a value without white space around it; where it came over HTTP/1.1, also the name as it
 * was written, which a proxy passes on.
 */
export type Field = readonly [name: string, value: string, written?: string | undefined]

/** Returns the values of every field line with this name, which is given in lower case. */
export function valuesOf(fields: readonly Field[], name: string): string[] {
  const values = []
  for (const field of fields) if (field[0] === name) values.push(field[1])
  return values
}
