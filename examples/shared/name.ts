// Keeps a name and an identity for each example and each of its tabs, which tell the sites of this web origin apart.
import { tabNumber } from './tab.ts'

const ADJECTIVES = ['amber', 'brave', 'calm', 'clever', 'gentle', 'happy', 'lucky', 'quiet', 'swift', 'warm']
const ANIMALS = ['badger', 'finch', 'fox', 'heron', 'lynx', 'mole', 'otter', 'owl', 'seal', 'wren']
const NUMBERS = 1000
/** Characters that are used of a UUID: 48 random bits, and a name that fits its 22 characters. */
const SECRET_CHARS = 13

export interface SiteNames {
  /** The name of the stored identity, as the option `identity` of `publish` takes it. */
  identity: string
  /** The site's name: the one that was used last, else a new one. */
  name: string
  /** Remembers the name for the next time. */
  keep(name: string): void
}

/** Makes friendly names that outlive the tab. */
export async function friendlyNames(example: string): Promise<SiteNames> {
  return namesOf(example, localStorage, friendlyName)
}

/** Makes names for sites whose address gives access: a name that cannot be guessed, and that ends with the tab. */
export async function secretNames(example: string, prefix: string): Promise<SiteNames> {
  return namesOf(example, sessionStorage, () => `${prefix}-${crypto.randomUUID().slice(0, SECRET_CHARS)}`)
}

/** Makes the names of an example of which there is one, however many tabs show it. */
export function sharedNames(example: string): SiteNames {
  return storedNames(`svc-example-${example}`, localStorage, friendlyName)
}

async function namesOf(example: string, storage: Storage, create: () => string): Promise<SiteNames> {
  const number = await tabNumber(`example-${example}`)
  return storedNames(`svc-example-${example}-${number}`, storage, create)
}

function storedNames(identity: string, storage: Storage, create: () => string): SiteNames {
  const name = storage.getItem(identity) ?? create()
  const keep = (name: string): void => storage.setItem(identity, name)
  keep(name)
  return { identity, name, keep }
}

function friendlyName(): string {
  return `${pick(ADJECTIVES)}-${pick(ANIMALS)}-${random(NUMBERS)}`
}

function pick(words: string[]): string {
  return words[random(words.length)]!
}

function random(below: number): number {
  return Math.floor(Math.random() * below)
}
