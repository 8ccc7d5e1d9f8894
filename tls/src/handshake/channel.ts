// The handshake's view of a connection: complete messages in, messages out, and key changes in between.

import { TlsError, violation } from '../errors.ts'
import { CHANGE_CIPHER_SPECS_MAX, HANDSHAKE_MESSAGE_MAX_BYTES } from '../limits.ts'
import { MessageAssembler } from '../messages/assembler.ts'
import { ALERT, CONTENT_TYPE } from '../messages/constants.ts'
import { concat } from '../messages/writer.ts'
import type { Inbound } from '../record/inbound.ts'
import type { Outbound } from '../record/outbound.ts'
import { alertReceived, PeerAlerts } from '../record/peer-alerts.ts'
import type { Plaintext, RecordProtection } from '../record/protection.ts'

export class Channel {
  readonly inbound: Inbound
  readonly outbound: Outbound
  readonly alerts: PeerAlerts = new PeerAlerts()
  readonly #flush: () => unknown
  readonly #assembler = new MessageAssembler()
  #messagesRead = 0
  #changeCipherSpecs = 0
  #tls12 = false
  #ended = false
  #wake: { resolve(): void; reject(error: TlsError): void } | undefined
  #idle: (() => void)[] = []

  /** @param flush sends queued records, and handles its own errors */
  constructor(inbound: Inbound, outbound: Outbound, flush: () => unknown) {
    this.inbound = inbound
    this.outbound = outbound
    this.#flush = flush
  }

  /**
   * Resolves with the next message, which must be of this type.
   * @throws TlsError
   */
  async read(type: number): Promise<Uint8Array> {
    for (;;) {
      if (!this.#assembler.empty && this.#assembler.type !== type)
        throw violation('unexpected_message', `handshake message ${this.#assembler.type} instead of ${type}`)
      const message = this.#assembler.shift(HANDSHAKE_MESSAGE_MAX_BYTES)
      if (message !== undefined) {
        this.#messagesRead++
        return message
      }
      this.#accept(await this.#nextPlaintext())
    }
  }

  /** Switches to TLS 1.2: change_cipher_spec is part of the handshake, and an alert's level has a meaning. */
  useTls12(): void {
    this.#tls12 = true
    this.alerts.useLevels()
  }

  /** Reads a change_cipher_spec: one byte, 0x01, between two messages (RFC 5246 §7.1). */
  async readChangeCipherSpec(): Promise<void> {
    for (;;) {
      if (!this.#assembler.empty)
        throw violation('unexpected_message', 'a handshake message instead of change_cipher_spec')
      const plaintext = await this.#nextPlaintext()
      if (plaintext.type !== CONTENT_TYPE.change_cipher_spec) this.#accept(plaintext)
      else if (plaintext.content.length === 1 && plaintext.content[0] === 1) return
      else throw violation('decode_error', 'a malformed change_cipher_spec')
    }
  }

  send(...messages: Uint8Array[]): void {
    this.outbound.queue(CONTENT_TYPE.handshake, concat(...messages))
  }

  /** Sends the queued messages without waiting. */
  flush(): void {
    this.#flush()
  }

  /** Sends the change_cipher_spec that middleboxes expect after the server's first message (§D.4). */
  sendChangeCipherSpec(): void {
    this.outbound.queue(CONTENT_TYPE.change_cipher_spec, Uint8Array.of(1))
  }

  /**
   * Checks that the last message ends a flight: its sender must wait for an answer.
   * @throws TlsError `unexpected_message` when bytes of another message share a record with it
   */
  requireFlightEnd(): void {
    if (!this.#assembler.empty) throw violation('unexpected_message', 'a message behind the end of a flight')
  }

  /** Changes the key of incoming records. "Handshake messages MUST NOT span key changes" (§5.1). */
  protectInbound(protection: RecordProtection): void {
    this.requireFlightEnd()
    this.inbound.protect(protection)
  }

  /** Ends the handshake after the peer's Finished. */
  endHandshake(): void {
    this.requireFlightEnd()
    this.inbound.endHandshake()
  }

  /** True while the handshake waits for the peer, rather than for this side's cryptography. */
  get isWaiting(): boolean {
    return this.#wake !== undefined
  }

  /** Called when more bytes were pushed into `inbound`. */
  arrived(): void {
    this.#wake?.resolve()
    this.#wake = undefined
  }

  /** Called when no more bytes will come. The handshake fails once it has read the rest. */
  end(): void {
    this.#ended = true
    this.#wake?.reject(truncated())
    this.#wake = undefined
  }

  /** Ends all waiting: the handshake is over, or its failure is known. */
  close(error?: TlsError): void {
    if (error !== undefined) this.#wake?.reject(error)
    this.#wake = undefined
    this.#release()
  }

  /** Settles when the handshake has read everything received, or is over. */
  idle(): Promise<void> {
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  async #nextPlaintext(): Promise<Plaintext> {
    for (;;) {
      // Nothing may be awaited between an empty read and the wait, or an arrival could be missed.
      const next = this.inbound.next()
      if (next === undefined) await this.#moreInput()
      else {
        const plaintext = await next
        if (plaintext !== undefined) return plaintext
      }
    }
  }

  async #moreInput(): Promise<void> {
    this.#release()
    if (this.#ended) throw truncated()
    await new Promise<void>((resolve, reject) => {
      this.#wake = { resolve, reject }
    })
  }

  #release(): void {
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #accept({ type, content }: Plaintext): void {
    if (type === CONTENT_TYPE.alert) this.#acceptAlert(content)
    else if (type === CONTENT_TYPE.change_cipher_spec) this.#dropChangeCipherSpec(content)
    else if (type !== CONTENT_TYPE.handshake)
      throw violation('unexpected_message', `content of type ${type} in a handshake`)
    // "Implementations MUST NOT send zero-length fragments of Handshake types" (§5.1).
    else if (content.length === 0) throw violation('unexpected_message', 'an empty handshake fragment')
    else this.#assembler.push(content)
  }

  /**
   * Drops a change_cipher_spec: one byte 0x01, after the first ClientHello, before the Finished, not within a message
   * (§5).
   */
  #dropChangeCipherSpec(content: Uint8Array): void {
    this.#changeCipherSpecs++
    const inPlace = this.#messagesRead > 0 && this.#assembler.empty && !this.#tls12
    if (
      !inPlace ||
      content.length !== 1 ||
      content[0] !== 1 ||
      this.#changeCipherSpecs > CHANGE_CIPHER_SPECS_MAX
    )
      throw violation('unexpected_message', 'an illegal change_cipher_spec')
  }

  #acceptAlert(content: Uint8Array): void {
    if (this.alerts.isCloseNotify(content)) throw alertReceived(ALERT.close_notify)
  }
}

/** Makes the error for an end without a close_notify: an attacker may have cut the data short (RFC 8446 §6.1). */
export function truncated(): TlsError {
  return new TlsError('truncated', 'an end without close_notify')
}
