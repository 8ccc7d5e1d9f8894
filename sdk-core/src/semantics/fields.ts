// Header fields (RFC 9110 §5).

/** Name in lower case, and value without white space around it. */
export type Field = readonly [name: string, value: string]

/** The values of every field line with this name, given in lower case. */
export function valuesOf(fields: readonly Field[], name: string): string[] {
  const values = []
  for (const field of fields) if (field[0] === name) values.push(field[1])
  return values
}
