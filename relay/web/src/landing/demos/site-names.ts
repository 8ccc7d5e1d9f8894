// Chooses the name and identity of each kind of demo site, for each tab.
import { tabNumber } from '../tab-number.ts'
import type { Kind } from './demo.ts'

const ADJECTIVES = ['amber', 'brave', 'calm', 'clever', 'gentle', 'happy', 'lucky', 'quiet', 'swift', 'warm']
const ANIMALS = ['badger', 'finch', 'fox', 'heron', 'lynx', 'mole', 'otter', 'owl', 'seal', 'wren']
const NUMBERS = 1000
/** Characters of a UUID: 48 random bits, in a name of at most 22 characters. */
const SECRET_CHARS = 13

export interface SiteNames {
  /** Name of the stored identity: the option `identity` of `publish`. */
  identity: string
  /** Lease name of the site. */
  name: string
}

/** The hello page has a friendly name. A visitor who knows the address of the other two has access, so their names are secret. */
export async function siteNames(kind: Kind): Promise<SiteNames> {
  const identity = `svc-landing-${kind}-${await tabNumber(`landing-${kind}`)}`
  return kind === 'hello'
    ? { identity, name: stored(localStorage, identity, friendlyName) }
    : { identity, name: stored(sessionStorage, identity, () => secretName(kind)) }
}

/** The stored name, so that the address survives a reload, or a new one. */
function stored(storage: Storage, key: string, create: () => string): string {
  const name = storage.getItem(key) ?? create()
  storage.setItem(key, name)
  return name
}

function friendlyName(): string {
  return `${pick(ADJECTIVES)}-${pick(ANIMALS)}-${random(NUMBERS)}`
}

function secretName(kind: Kind): string {
  return `${kind === 'folder' ? 'share' : 'hook'}-${crypto.randomUUID().slice(0, SECRET_CHARS)}`
}

function pick(words: readonly string[]): string {
  return words[random(words.length)]!
}

function random(below: number): number {
  return Math.floor(Math.random() * below)
}
