// Makes names for sites: memorable or unguessable ones.

const ADJECTIVES = ['amber', 'brave', 'calm', 'clever', 'gentle', 'happy', 'lucky', 'quiet', 'swift', 'warm']
const ANIMALS = ['badger', 'finch', 'fox', 'heron', 'lynx', 'mole', 'otter', 'owl', 'seal', 'wren']
const NUMBERS = 1000
/** Characters of a UUID: 48 random bits, in a name of at most 22 characters. */
const SECRET_CHARS = 13

export function friendlyName(): string {
  return `${pick(ADJECTIVES)}-${pick(ANIMALS)}-${random(NUMBERS)}`
}

/** Returns a name for a site whose address grants access. */
export function secretName(prefix: string): string {
  return `${prefix}-${crypto.randomUUID().slice(0, SECRET_CHARS)}`
}

function pick(words: readonly string[]): string {
  return words[random(words.length)]!
}

function random(below: number): number {
  return Math.floor(Math.random() * below)
}
