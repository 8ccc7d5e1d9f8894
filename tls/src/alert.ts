// Alerts of the peer (RFC 8446 §6): which ones end what.

import { TlsError, violation } from './errors.ts'
import { alertName } from './messages/alert.ts'
import { ALERT } from './messages/constants.ts'

/**
 * @returns the closure alert that it is
 * @throws TlsError `alert_received` for every other one, whatever its level: "all the alerts listed in Section 6.2 MUST
 *   be sent with AlertLevel=fatal … unknown Alert types MUST be treated as error alerts"
 */
export function readAlert(content: Uint8Array): 'close_notify' | 'user_canceled' {
  // §5.1: an alert is neither fragmented nor joined with another.
  if (content.length === 0) throw violation('unexpected_message', 'an empty alert')
  if (content.length !== 2) throw violation('decode_error', `an alert of ${content.length} bytes`)
  const description = content[1]!
  if (description === ALERT.close_notify) return 'close_notify'
  if (description === ALERT.user_canceled) return 'user_canceled'
  throw alertReceived(description)
}

export function alertReceived(description: number): TlsError {
  return new TlsError('alert_received', `the peer sent ${alertName(description)}`, { alert: description })
}
