// Encodes and names alerts (RFC 8446 §6).

import { ALERT, CONTENT_TYPE, VERSION } from './constants.ts'

export const ALERT_LEVEL = { warning: 1, fatal: 2 } as const

/**
 * Closure alerts, and TLS 1.2's no_renegotiation, which ends nothing (RFC 5246 §7.2.2), are warnings. The
 * others are fatal.
 */
const WARNINGS: readonly number[] = [ALERT.close_notify, ALERT.user_canceled, ALERT.no_renegotiation]

/** Returns the two bytes of an alert. */
export function encodeAlert(description: number): Uint8Array {
  const level = WARNINGS.includes(description) ? ALERT_LEVEL.warning : ALERT_LEVEL.fatal
  return Uint8Array.of(level, description)
}

/** Returns a plaintext record with an alert, with which a relay refuses a ClientHello. */
export function alertRecord(description: number): Uint8Array {
  return Uint8Array.of(
    CONTENT_TYPE.alert,
    VERSION.tls12 >> 8,
    VERSION.tls12 & 0xff,
    0,
    2,
    ...encodeAlert(description),
  )
}

/** Returns the RFC's name of an alert, or its number if unknown. */
export function alertName(description: number): string {
  return Object.entries(ALERT).find(([, number]) => number === description)?.[0] ?? `alert ${description}`
}
