// Scripts whose text names its keys and arguments, as in `KEYS.lease` and `ARGV.head`: a script and its callers share
// names, not an order.

/** @typeParam Key names of the keys. @typeParam Argument names of the arguments */
export interface Script<Key extends string, Argument extends string> {
  /** The text that Redis runs. */
  readonly lua: string
  /** The names, in the order of the text. */
  readonly keys: readonly Key[]
  readonly args: readonly Argument[]
}

export type Values<Name extends string> = Readonly<Record<Name, Value | readonly Value[]>>

type Value = string | number

/**
 * @param text its `KEYS.name[]` and `ARGV.name[]` are tables with all values of a name; at most one of each is allowed
 */
export function script<Key extends string, Argument extends string>(text: string): Script<Key, Argument> {
  const keys = namesIn(text, /\bKEYS\.(\w+)(\[\])?/g)
  const args = namesIn(text, /\bARGV\.(\w+)(\[\])?/g)
  const lua = text.replaceAll(/\b(KEYS|ARGV)\.(\w+)(\[\])?/g, (_, table: string, name: string, isTable) => {
    const at = (table === 'KEYS' ? keys : args).indexOf(name) + 1
    return isTable === undefined ? `${table}[${at}]` : `{unpack(${table}, ${at})}`
  })
  return { lua, keys: keys as Key[], args: args as Argument[] }
}

/** @returns the values in the order of the names */
export function inOrder<Name extends string>(names: readonly Name[], values: Values<Name>): Value[] {
  return names.flatMap((name) => values[name])
}

/** A name with several values comes last. */
function namesIn(text: string, pattern: RegExp): string[] {
  const found = [...text.matchAll(pattern)]
  const [tables, single] = [true, false].map((isTable) =>
    found.filter(([, , brackets]) => (brackets !== undefined) === isTable).map(([, name = '']) => name),
  )
  return [...new Set([...single!, ...tables!])]
}
