// A webhook's request, as its signature is about it.

/** A WebhookMessage is a request with its whole body. */
export interface WebhookMessage {
  readonly method: string
  /** The URL that the sender called: Twilio signs it. */
  readonly url: string
  readonly headers: Headers
  /** The body as it came, byte for byte. */
  readonly body: Uint8Array
}

/** The most bytes of a body that is checked: the largest of the known senders, GitHub, sends 25 MB at most. */
export const BODY_MAX_BYTES: number = 25 * 1024 * 1024

const encoder = new TextEncoder()

/** Joins texts, in UTF-8, and bytes. */
export function joined(...parts: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const pieces = parts.map((part) => (typeof part === 'string' ? encoder.encode(part) : part))
  const whole = new Uint8Array(pieces.reduce((total, { length }) => total + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
