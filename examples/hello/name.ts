// The site's name: a friendly one at first, then whatever was used last.

const STORAGE_KEY = 'svc-hello-name'
const ADJECTIVES = ['amber', 'brave', 'calm', 'clever', 'gentle', 'happy', 'lucky', 'quiet', 'swift', 'warm']
const ANIMALS = ['badger', 'finch', 'fox', 'heron', 'lynx', 'mole', 'otter', 'owl', 'seal', 'wren']
const NUMBERS = 1000

export function loadName(): string {
  const name = localStorage.getItem(STORAGE_KEY) ?? `${pick(ADJECTIVES)}-${pick(ANIMALS)}-${random(NUMBERS)}`
  saveName(name)
  return name
}

export function saveName(name: string): void {
  localStorage.setItem(STORAGE_KEY, name)
}

function pick(words: string[]): string {
  return words[random(words.length)]!
}

function random(below: number): number {
  return Math.floor(Math.random() * below)
}
