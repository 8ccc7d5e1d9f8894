// What tells this page's sites apart from others of this web origin: names and identities, for each kind and each tab.
import { tabNumber } from '../tab-number.ts'
import type { Kind } from './demo.ts'

const ADJECTIVES = ['amber', 'brave', 'calm', 'clever', 'gentle', 'happy', 'lucky', 'quiet', 'swift', 'warm']
const ANIMALS = ['badger', 'finch', 'fox', 'heron', 'lynx', 'mole', 'otter', 'owl', 'seal', 'wren']
const NUMBERS = 1000
/** Of a UUID: 48 random bits, and a name that fits its 22 characters. */
const SECRET_CHARS = 13

export interface SiteNames {
  /** Of the stored identity, as the option `identity` of `publish` takes it. */
  identity: string
  /** Of the site. */
  name: string
}

/** A greeting may be found by anybody; to have the address of the other two is to have access. */
export async function siteNames(kind: Kind): Promise<SiteNames> {
  const identity = `svc-landing-${kind}-${await tabNumber(`landing-${kind}`)}`
  return kind === 'hello'
    ? { identity, name: stored(localStorage, identity, friendlyName) }
    : { identity, name: stored(sessionStorage, identity, () => secretName(kind)) }
}

/** What was used last, so that the address survives a reload, else a new one. */
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
