// The kinds of option values: their checks, and their form in svc.toml.

import { isRecord, type TrafficRules } from '@svc/sdk-core'
import { isUrl } from './thumbnail.ts'
import { wordsOf } from './word-list.ts'

/** A Kind describes the value of an option and its form in svc.toml. */
export interface Kind<T> {
  /** The expected value in svc.toml, for messages. */
  wanted: string
  accepts(value: unknown): boolean
  /**
   * Converts the value in svc.toml to that of the option.
   * @param path makes a path of svc.toml absolute
   * @default the value itself
   */
  read?(value: never, path: (text: string) => string): T
  /** The only values, for a choice. */
  choices?: readonly string[]
  /** The option may be repeated on the command line. */
  isList?: true
  /** Each value of a list is a text that may have commas and white space. */
  isWhole?: true
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isPlace = (value: unknown): boolean => isText(value) || Number.isInteger(value)
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

export const TEXT: Kind<string> = { wanted: 'a string', accepts: isText }
export const YES_NO: Kind<boolean> = {
  wanted: 'true or false',
  accepts: (value) => typeof value === 'boolean',
}
export const COUNT: Kind<number> = {
  wanted: 'a whole number',
  accepts: (value) => Number.isInteger(value),
}
export const PLACE: Kind<string> = {
  wanted: 'a port or a string',
  accepts: isPlace,
  read: (place: string | number) => String(place),
}
export const WALLETS: Kind<string[]> = {
  isList: true,
  wanted: 'a list of wallet addresses, each a string',
  accepts: isTexts,
}
export const TEXTS: Kind<string[]> = { isList: true, wanted: 'a list of strings', accepts: isTexts }
export const PATH: Kind<string> = { ...TEXT, read: (text: string, path) => path(text) }
/** A secret, or `@` and the path of a file that has it. */
export const TOKEN: Kind<string> = {
  ...TEXT,
  read: (text: string, path) => (text.startsWith('@') ? `@${path(text.slice(1))}` : text),
}
/** The key by which an authority knows its customer, `ID=KEY`. */
export const BINDING: Kind<string> = {
  ...TEXT,
  read: (text: string, path) => text.replace(/=file:(.+)$/s, (_, file: string) => `=file:${path(file)}`),
}
export const PICTURE: Kind<string> = {
  ...TEXT,
  read: (text: string, path) => (isUrl(text) ? text : path(text)),
}
export const RELAYS: Kind<string[]> = {
  isList: true,
  wanted: 'a URL or a list of URLs',
  accepts: (value) => isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText)),
  read: (urls: string | string[]) => [urls].flat().flatMap(wordsOf),
}
export const ROUTES: Kind<string[]> = {
  isList: true,
  isWhole: true,
  wanted: 'a table of ports or strings',
  accepts: (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(isPlace),
  // Makes a folder's path absolute, relative to the file.
  read: (routes: Record<string, string | number>, path) =>
    Object.entries(routes).map(([place, target]) => {
      const text = String(target)
      return `${place}=${text.startsWith('.') ? path(text) : text}`
    }),
}

/** Fields as on the command line, each `Name: value`. */
export const FIELDS: Kind<string[]> = { ...TEXTS, isWhole: true }
/** Traffic rules, whose content is checked by their own code. */
export const RULES: Kind<TrafficRules> = {
  wanted: 'a table of rules',
  accepts: isRecord,
  read: (rules: object, path) => withMockPaths(withCamelCase(rules) as TrafficRules, path),
}

/** Fields of a message and values of JSON, whose names are not those of members. */
const MAPS: ReadonlySet<string> = new Set(['set', 'add', 'headers', 'json'])

/** Spells the names of members as the API does. */
function withCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withCamelCase)
  if (!isRecord(value)) return value
  const members = Object.entries(value).map(([name, member]) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    MAPS.has(name) ? member : withCamelCase(member),
  ])
  return Object.fromEntries(members)
}

/** Makes the paths of mocks' files absolute. */
function withMockPaths(rules: TrafficRules, path: (text: string) => string): TrafficRules {
  const mocks: unknown = rules.mocks
  if (mocks === undefined) return rules
  const found = [mocks].flat().map((mock: unknown) => {
    const isFile = isRecord(mock) && typeof mock.file === 'string' && mock.file !== ''
    return isFile ? { ...mock, file: path(mock.file as string) } : mock
  })
  return { ...rules, mocks: found as TrafficRules['mocks'] }
}

/** @param wanted the default names the values in their order */
export function choice<const T extends string>(
  choices: readonly T[],
  wanted: string = choices.map((value) => JSON.stringify(value)).join(' or '),
): Kind<T> {
  return { wanted, choices, accepts: (value) => choices.some((known) => known === value) }
}
