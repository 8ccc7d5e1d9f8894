// Handles KeyUpdate in both directions (RFC 8446 §4.6.3): the only handshake message after the handshake.

import type { ApplicationTrafficSecret } from '../crypto/key-schedule.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import { violation } from '../errors.ts'
import { KEY_UPDATES_MAX } from '../limits.ts'
import { MessageAssembler } from '../messages/assembler.ts'
import { HANDSHAKE_HEADER_BYTES, HANDSHAKE_TYPE } from '../messages/constants.ts'
import type { Inbound } from '../record/inbound.ts'
import type { Outbound } from '../record/outbound.ts'
import { Tls13Protection } from '../record/protection.ts'
import type { Channel } from './channel.ts'
import type { PostHandshake } from './handshake-result.ts'

const KEY_UPDATE_BYTES: number = HANDSHAKE_HEADER_BYTES + 1
const UPDATE_REQUESTED = 1

export class KeyUpdates implements PostHandshake {
  readonly #crypto: CryptoProvider
  readonly #cipherSuite: number
  readonly #inbound: Inbound
  readonly #outbound: Outbound
  readonly #assembler = new MessageAssembler()
  #clientTraffic: ApplicationTrafficSecret
  #serverTraffic: ApplicationTrafficSecret
  /** The number of KeyUpdates in a row. */
  #received = 0

  constructor(
    crypto: CryptoProvider,
    cipherSuite: number,
    { inbound, outbound }: Channel,
    traffic: { client: ApplicationTrafficSecret; server: ApplicationTrafficSecret },
  ) {
    this.#crypto = crypto
    this.#cipherSuite = cipherSuite
    this.#inbound = inbound
    this.#outbound = outbound
    this.#clientTraffic = traffic.client
    this.#serverTraffic = traffic.server
    outbound.allowKeyUpdates(() => this.#nextServerKey())
  }

  accept(content: Uint8Array): void {
    if (content.length === 0) throw violation('unexpected_message', 'an empty handshake fragment')
    this.#assembler.push(content)
    if (this.#assembler.type !== HANDSHAKE_TYPE.key_update)
      throw violation('unexpected_message', `handshake message ${this.#assembler.type} after the handshake`)
    const message = this.#assembler.shift(KEY_UPDATE_BYTES)
    if (message !== undefined) this.#update(message)
  }

  acceptOther(): void {
    if (!this.#assembler.empty) throw violation('unexpected_message', 'a message is cut by other content')
  }

  /** Data between KeyUpdates makes further ones legitimate. */
  dataReceived(): void {
    this.#received = 0
  }

  #update(message: Uint8Array): void {
    const request = message[HANDSHAKE_HEADER_BYTES]
    if (message.length !== KEY_UPDATE_BYTES) throw violation('decode_error', 'KeyUpdate has a wrong length')
    if (request! > UPDATE_REQUESTED) throw violation('illegal_parameter', `KeyUpdate requests ${request}`)
    if (!this.#assembler.empty) throw violation('unexpected_message', 'a message crosses a key change')
    this.#received++
    if (this.#received > KEY_UPDATES_MAX) throw violation('unexpected_message', 'too many KeyUpdates')
    this.#clientTraffic = this.#clientTraffic.next()
    this.#inbound.protect(this.#protection(this.#clientTraffic))
    if (request === UPDATE_REQUESTED) this.#outbound.updateKey()
  }

  #nextServerKey(): Tls13Protection {
    this.#serverTraffic = this.#serverTraffic.next()
    return this.#protection(this.#serverTraffic)
  }

  #protection(secret: ApplicationTrafficSecret): Tls13Protection {
    return new Tls13Protection(this.#crypto, this.#cipherSuite, secret)
  }
}
