// Names for sites: a friendly one that is kept, so that the address survives a reload, and ones that nobody guesses.

const KEY = 'svc-hello-name'
const ADJECTIVES = ['amber', 'brave', 'calm', 'clever', 'gentle', 'happy', 'lucky', 'quiet', 'swift', 'warm']
const ANIMALS = ['badger', 'finch', 'fox', 'heron', 'lynx', 'mole', 'otter', 'owl', 'seal', 'wren']
const NUMBERS = 1000
/** Of a UUID: 48 random bits, and a name that fits its 22 characters. */
const SECRET_CHARS = 13

export function friendlyName(): string {
  const name = localStorage.getItem(KEY) ?? `${pick(ADJECTIVES)}-${pick(ANIMALS)}-${random(NUMBERS)}`
  localStorage.setItem(KEY, name)
  return name
}

export function secretName(prefix: string): string {
  return `${prefix}-${crypto.randomUUID().slice(0, SECRET_CHARS)}`
}

function pick(words: readonly string[]): string {
  return words[random(words.length)]!
}

function random(below: number): number {
  return Math.floor(Math.random() * below)
}
