// Checks values of rules. Each error names the rule as its user wrote it, and says what is possible.

import { isRecord } from '../control/json-checks.ts'
import { SvcError } from '../errors.ts'

/** A Value is one part of the rules, with its place for messages. */
export interface Value {
  /** Such as `rules.redirects[0].to`. */
  readonly place: string
  readonly given: unknown
  /** Spells the name of a member as the user's file does. */
  readonly spell: (name: string) => string
}

/** Throws the error of a wrong value. @throws SvcError `invalid_option` */
export function wrong({ place }: Pick<Value, 'place'>, what: string): never {
  throw new SvcError('invalid_option', `${place} ${what}`)
}

/**
 * Returns the members that are there.
 * @throws SvcError `invalid_option` for one that is not in `names`, and for a missing one of `needed`
 */
export function membersOf(
  value: Value,
  names: readonly string[],
  needed: readonly string[] = [],
): Record<string, Value> {
  const { given, place, spell } = value
  const known = names.map(spell).join(', ')
  if (!isRecord(given)) wrong(value, `has to be an object with ${known}`)
  const members: Record<string, Value> = {}
  for (const [name, member] of Object.entries(given)) {
    if (!names.includes(name)) wrong({ place: `${place}.${spell(name)}` }, `is not known; known are ${known}`)
    if (member !== undefined) members[name] = { place: `${place}.${spell(name)}`, given: member, spell }
  }
  for (const name of needed) if (!members[name]) wrong({ place: `${place}.${spell(name)}` }, 'is missing')
  return members
}

/** Returns the elements of a list, or the value itself as the only one. */
export function elementsOf(value: Value | undefined): Value[] {
  if (!value) return []
  const { given, place, spell } = value
  if (!Array.isArray(given)) return [value]
  return given.map((element: unknown, at) => ({ place: `${place}[${at}]`, given: element, spell }))
}

/**
 * Returns the texts of a list.
 * @param wanted what the list has to be, for the message
 */
export function textsOf(value: Value, pattern: RegExp, wanted: string): string[] {
  if (!Array.isArray(value.given)) wrong(value, `has to be ${wanted}`)
  return elementsOf(value).map((element) => {
    const { given } = element
    if (typeof given !== 'string' || !pattern.test(given))
      wrong(element, `has to be one of ${wanted}, not ${printed(given)}`)
    return given
  })
}

/** Returns a number of seconds, or `fallback` when there is none. */
export function secondsOf(value: Value | undefined, max: number, isWhole: boolean): number | undefined {
  if (!value) return undefined
  const { given } = value
  const isFine = isWhole ? Number.isSafeInteger(given) && Number(given) >= 0 : Number(given) > 0
  if (typeof given !== 'number' || !isFine || given > max)
    wrong(
      value,
      `has to be ${isWhole ? 'a whole number' : 'a number'} of seconds ${isWhole ? 'from 0' : 'above 0,'} up to ${max}, not ${printed(given)}`,
    )
  return given
}

/** Returns true or false. */
export function switchOf(value: Value | undefined): boolean {
  const given = value?.given ?? false
  if (typeof given !== 'boolean') wrong(value!, `has to be true or false, not ${printed(given)}`)
  return given
}

/** Returns a value for a message. */
export function printed(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? JSON.stringify(value) : typeof value
}
