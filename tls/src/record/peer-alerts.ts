// Handles the peer's alerts (RFC 8446 §6; RFC 5246 §7.2).

import { TlsError, violation } from '../errors.ts'
import { WARNING_ALERTS_MAX } from '../limits.ts'
import { ALERT_LEVEL, alertName } from '../messages/alert.ts'
import { ALERT } from '../messages/constants.ts'

/** PeerAlerts handles the alerts of one connection. */
export class PeerAlerts {
  #warnings = 0
  #levelsCount = false

  /** Switches to TLS 1.2, in which warnings do not close the connection. */
  useLevels(): void {
    this.#levelsCount = true
  }

  /**
   * @returns whether it is the close_notify
   * @throws TlsError `alert_received` for an error alert. In TLS 1.3 that is every alert except the closure alerts, at any
   *   level: "all the alerts listed in Section 6.2 MUST be sent with AlertLevel=fatal", and "unknown Alert types
   *   MUST be treated as error alerts"
   */
  isCloseNotify(content: Uint8Array): boolean {
    // An alert is neither fragmented nor coalesced with another (§5.1).
    if (content.length === 0) throw violation('unexpected_message', 'an empty alert')
    if (content.length !== 2) throw violation('decode_error', `an alert of ${content.length} bytes`)
    const [level, description] = content
    if (description === ALERT.close_notify) return true
    if (!this.#isWarning(level!, description!)) throw alertReceived(description!)
    this.#warnings++
    if (this.#warnings > WARNING_ALERTS_MAX) throw violation('unexpected_message', 'too many alerts')
    return false
  }

  #isWarning(level: number, description: number): boolean {
    if (!this.#levelsCount) return description === ALERT.user_canceled
    if (level !== ALERT_LEVEL.warning && level !== ALERT_LEVEL.fatal)
      throw violation('illegal_parameter', `an alert of level ${level}`)
    return level === ALERT_LEVEL.warning
  }
}

export function alertReceived(description: number): TlsError {
  return new TlsError('alert_received', `the peer sent ${alertName(description)}`, { alert: description })
}
