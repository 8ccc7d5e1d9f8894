// What a sender's way to sign consists of, and the parts that several share.

import type { Key } from './keys.ts'
import { joined, type WebhookMessage } from './message.ts'

/** A Claim is what the headers of a request say about its signature. */
export interface Claim {
  /** The signatures, of which one has to fit: there are several while a secret is replaced. */
  readonly signatures: readonly Uint8Array<ArrayBuffer>[]
  /** What was signed, in each way that the sender may have meant. */
  readonly contents: readonly Uint8Array<ArrayBuffer>[]
  /** When it was signed, in seconds since the epoch. */
  readonly timestamp?: number
  /** The SHA-256 of the body that was signed too. */
  readonly bodyDigest?: string
}

/** A Scheme is a sender's way to sign. */
export interface Scheme {
  /** The sender's name. */
  readonly label: string
  /** The field that has the signature. */
  readonly field: string
  /** What its secrets look like, for messages. */
  readonly secretForm: string
  /** Returns whether a request says that it comes from this sender. */
  claims(headers: Headers): boolean
  /** @returns undefined when the secret cannot be one of this sender's */
  key(secret: string): Key | undefined
  /**
   * Reads the claim. The field of the signature is there.
   * @returns what is wrong with the headers when they have no claim
   */
  read(message: WebhookMessage, key: Key): Promise<Claim | string> | Claim | string
}

/** The most signatures of one request that are compared: senders have two while a secret is replaced. */
export const SIGNATURES_MAX = 8

const SECONDS = /^\d{1,12}$/

/** @returns undefined when `text` is not a number of seconds */
export function secondsIn(text: string | null | undefined): number | undefined {
  return SECONDS.test(text ?? '') ? Number(text) : undefined
}

export function hmacKey(hash: Extract<Key, { kind: 'hmac' }>['hash']): (secret: string) => Key {
  return (secret) => ({ kind: 'hmac', hash, bytes: joined(secret) })
}

/** Returns a scheme that signs the body alone, in one field. */
export function bodyScheme(
  names: Pick<Scheme, 'label' | 'field'> & { claims?: Scheme['claims'] },
  key: Scheme['key'],
  prefix: string,
  decode: (text: string) => Uint8Array<ArrayBuffer> | undefined,
): Scheme {
  const { label, field, claims = (headers) => headers.has(field) } = names
  return {
    label,
    field,
    secretForm: 'a text',
    claims,
    key,
    read({ headers, body }) {
      const value = headers.get(field) ?? ''
      const signature = value.startsWith(prefix) ? decode(value.slice(prefix.length)) : undefined
      if (!signature) return `${field} is not ${prefix === '' ? '' : `"${prefix}" and `}an encoded signature`
      return { signatures: [signature], contents: [joined(body)] }
    },
  }
}
