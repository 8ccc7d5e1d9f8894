// E-mail addresses, as far as it is decided by them who may come in.

import { ADDRESS_MAX_CHARS } from './limits.ts'

/** One `@`, and only visible ASCII characters: no two addresses then look alike. */
const ADDRESS = /^[\x21-\x3f\x41-\x7e]+@[a-z\d.-]+$/i

export function isAddress(text: string): boolean {
  return text.length <= ADDRESS_MAX_CHARS && ADDRESS.test(text)
}

/** Returns the text with A to Z in lower case. `toLowerCase` would turn other letters into those of ASCII, such as the Kelvin sign. */
export function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
