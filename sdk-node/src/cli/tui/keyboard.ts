// The keys of a live view.

/** The prefix of keys without a character in raw mode (ECMA-48, control sequence introducer). */
const SEQUENCE = '\x1b['

/** The part of `process.stdin` that the view uses. */
export interface Keyboard {
  setRawMode(isRaw: boolean): unknown
  on(event: 'data', listener: (keys: Buffer | string) => void): unknown
  off(event: 'data', listener: (keys: Buffer | string) => void): unknown
  resume(): unknown
  pause(): unknown
}

/** @returns the pressed keys: each a character, or a sequence of three for an arrow */
export function keysOf(text: string): string[] {
  const keys: string[] = []
  for (let at = 0; at < text.length; ) {
    const length = text.startsWith(SEQUENCE, at) ? SEQUENCE.length + 1 : 1
    keys.push(text.slice(at, at + length))
    at += length
  }
  return keys
}
