// Refuses every renegotiation (RFC 5246 §7.4.1.1, RFC 5746), so that one connection is one handshake.

import { violation } from '../errors.ts'
import type { PostHandshake } from '../handshake/handshake-result.ts'
import { HANDSHAKE_MESSAGE_MAX_BYTES, RENEGOTIATIONS_MAX } from '../limits.ts'
import { encodeAlert } from '../messages/alert.ts'
import { MessageAssembler } from '../messages/assembler.ts'
import { ALERT, CONTENT_TYPE, HANDSHAKE_TYPE } from '../messages/constants.ts'
import type { Outbound } from '../record/outbound.ts'

export class RefusedRenegotiation implements PostHandshake {
  readonly #outbound: Outbound
  readonly #assembler = new MessageAssembler()
  #refused = 0

  constructor(outbound: Outbound) {
    this.#outbound = outbound
  }

  accept(content: Uint8Array): void {
    if (content.length === 0) throw violation('unexpected_message', 'an empty handshake fragment')
    this.#assembler.push(content)
    while (!this.#assembler.empty) {
      if (this.#assembler.type !== HANDSHAKE_TYPE.client_hello)
        throw violation('unexpected_message', `handshake message ${this.#assembler.type} after the handshake`)
      if (this.#assembler.shift(HANDSHAKE_MESSAGE_MAX_BYTES) === undefined) return
      this.#refuse()
    }
  }

  /** Content of other types may come between fragments (RFC 5246 §6.2.1). */
  acceptOther(): void {}

  dataReceived(): void {}

  #refuse(): void {
    this.#refused++
    if (this.#refused > RENEGOTIATIONS_MAX) throw violation('unexpected_message', 'too many ClientHellos')
    this.#outbound.queue(CONTENT_TYPE.alert, encodeAlert(ALERT.no_renegotiation))
  }
}
