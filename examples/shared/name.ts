// Names for sites: friendly ones that are kept, so that the address survives a reload, and ones that nobody guesses.

const ADJECTIVES = ['amber', 'brave', 'calm', 'clever', 'gentle', 'happy', 'lucky', 'quiet', 'swift', 'warm']
const ANIMALS = ['badger', 'finch', 'fox', 'heron', 'lynx', 'mole', 'otter', 'owl', 'seal', 'wren']
const NUMBERS = 1000
/** Of a UUID: 48 random bits, and a name that fits its 22 characters. */
const SECRET_CHARS = 13

/** What was used last, else a new one. Each example has its own. */
export function friendlyName(example: string): string {
  const name =
    localStorage.getItem(storageKey(example)) ?? `${pick(ADJECTIVES)}-${pick(ANIMALS)}-${random(NUMBERS)}`
  keepName(example, name)
  return name
}

export function keepName(example: string, name: string): void {
  localStorage.setItem(storageKey(example), name)
}

/** For sites where to have the address is to have access. */
export function secretName(prefix: string): string {
  return `${prefix}-${crypto.randomUUID().slice(0, SECRET_CHARS)}`
}

function storageKey(example: string): string {
  return `svc-${example}-name`
}

function pick(words: string[]): string {
  return words[random(words.length)]!
}

function random(below: number): number {
  return Math.floor(Math.random() * below)
}
