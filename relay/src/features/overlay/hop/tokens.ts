// Looks up tokens of hop routes by their SHA-256, so that the duration reveals nothing about a token.

import { hash } from 'node:crypto'

/** The SHA-256 of a token, or of a hostname, as lower-case hex digits. */
export function digestOf(text: string): string {
  return hash('sha256', text)
}
