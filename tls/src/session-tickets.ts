// Seals session tickets (RFC 8446 §4.6.1): the session's state under a key that never leaves this process.

import { AEAD_NONCE_BYTES, type Aead, type CryptoProvider } from './crypto/provider.ts'
import { webCrypto } from './crypto/webcrypto.ts'
import { SESSION_LIFETIME_MAX_S, TICKET_LIFETIME_S } from './limits.ts'
import { CIPHER_SUITE } from './messages/constants.ts'
import { Reader } from './messages/reader.ts'
import type { HashName } from './messages/transcript.ts'
import { concat, u8, u32, vector } from './messages/writer.ts'

/** A Session has the properties that a resumed connection must share with the one that got the ticket. */
export interface Session {
  hash: HashName
  psk: Uint8Array
  /** The server name. It is empty when there was none, as is `alpn`. */
  serverName: string
  alpn: string
  /** The SHA-256 of the leaf. */
  certificate: Uint8Array
  /**
   * The time of the handshake with a certificate from which all resumptions descend, in seconds since the Unix epoch.
   */
  authenticatedAt: number
}

interface TicketKey {
  name: Uint8Array
  aead: Aead
  createdAt: number
}

const KEY_NAME_BYTES = 4
const KEY_BYTES = 16
/** The first byte of the sealed form is an index of this list. */
const HASHES: readonly HashName[] = ['SHA-256', 'SHA-384']

/**
 * TicketSealer stores no tickets, so their number is unlimited. Its keys rotate every lifetime and live for two.
 */
export class TicketSealer {
  readonly lifetimeSeconds: number
  readonly #crypto: CryptoProvider
  #keys: TicketKey[] = []

  constructor(options: { crypto?: CryptoProvider | undefined; lifetimeSeconds?: number } = {}) {
    this.#crypto = options.crypto ?? webCrypto
    this.lifetimeSeconds = options.lifetimeSeconds ?? TICKET_LIFETIME_S
  }

  /** Returns the lifetime in seconds of a ticket issued now. If it is 0 or less, the session is too old for one. */
  lifetimeOf(authenticatedAt: number): number {
    const ageSeconds = Math.floor(Date.now() / 1000) - authenticatedAt
    return Math.min(this.lifetimeSeconds, SESSION_LIFETIME_MAX_S - ageSeconds)
  }

  /** Seals a session, whose PSK it owns and erases. */
  async seal(session: Session): Promise<Uint8Array> {
    const key = this.#currentKey()
    const nonce = this.#crypto.randomBytes(AEAD_NONCE_BYTES)
    const state = encodeSession(session, Math.floor(Date.now() / 1000))
    session.psk.fill(0)
    try {
      return concat(key.name, nonce, await key.aead.seal(nonce, key.name, state))
    } finally {
      state.fill(0)
    }
  }

  /**
   * Opens a ticket.
   * @returns undefined for a ticket of another server, a forged one, or one that is too old
   */
  async open(ticket: Uint8Array): Promise<Session | undefined> {
    const name = ticket.subarray(0, KEY_NAME_BYTES)
    const nonce = ticket.slice(KEY_NAME_BYTES, KEY_NAME_BYTES + AEAD_NONCE_BYTES)
    const key = this.#keys.find((candidate) => candidate.name.join() === name.join())
    if (key === undefined || nonce.length < AEAD_NONCE_BYTES) return undefined
    try {
      const sealed = ticket.subarray(KEY_NAME_BYTES + AEAD_NONCE_BYTES)
      const { session, issuedAt } = decodeSession(await key.aead.open(nonce, key.name, sealed))
      const now = Date.now() / 1000
      const isFresh =
        now - issuedAt <= this.lifetimeSeconds && now - session.authenticatedAt <= SESSION_LIFETIME_MAX_S
      return isFresh ? session : undefined
    } catch {
      return undefined
    }
  }

  #currentKey(): TicketKey {
    const now = Date.now()
    const [newest] = this.#keys
    if (newest !== undefined && now - newest.createdAt < this.lifetimeSeconds * 1000) return newest
    const aead = this.#crypto.aead(CIPHER_SUITE.TLS_AES_128_GCM_SHA256, this.#crypto.randomBytes(KEY_BYTES))
    const key = { name: this.#crypto.randomBytes(KEY_NAME_BYTES), aead, createdAt: now }
    this.#keys = newest === undefined ? [key] : [key, newest]
    return key
  }
}

function encodeSession(session: Session, issuedAt: number): Uint8Array {
  return concat(
    u8(HASHES.indexOf(session.hash)),
    u32(issuedAt),
    u32(session.authenticatedAt),
    vector(1, session.psk),
    vector(1, session.certificate),
    vector(1, new TextEncoder().encode(session.serverName)),
    vector(2, new TextEncoder().encode(session.alpn)),
  )
}

function decodeSession(state: Uint8Array): { session: Session; issuedAt: number } {
  const reader = new Reader(state, 'ticket')
  const hash = HASHES[reader.u8()]!
  const issuedAt = reader.u32()
  const authenticatedAt = reader.u32()
  const psk = reader.vector(1)
  const certificate = reader.vector(1)
  const serverName = new TextDecoder().decode(reader.vector(1))
  const alpn = new TextDecoder().decode(reader.vector(2))
  reader.end()
  return { session: { hash, psk, serverName, alpn, certificate, authenticatedAt }, issuedAt }
}
