// Alerts as they are on the wire (RFC 8446 §6).

import { ALERT, CONTENT_TYPE, VERSION } from './constants.ts'

const LEVEL = { warning: 1, fatal: 2 } as const

/** The two bytes of an alert: the closure alerts are warnings, every other one is fatal (§6). */
export function encodeAlert(description: number): Uint8Array {
  const closure = description === ALERT.close_notify || description === ALERT.user_canceled
  return Uint8Array.of(closure ? LEVEL.warning : LEVEL.fatal, description)
}

/** A plaintext record with an alert: all that a relay says to a ClientHello that it refuses. */
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

/** The RFC's name of an alert, or its number when it has none here. */
export function alertName(description: number): string {
  return Object.entries(ALERT).find(([, number]) => number === description)?.[0] ?? `alert ${description}`
}
