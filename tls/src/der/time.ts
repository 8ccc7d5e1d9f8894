// Reads the times of certificates and revocation lists (RFC 5280 §4.1.2.5).

import type { DerElement } from './reader.ts'
import * as DER_TAG from './tags.ts'

/** The year of a UTCTime whose two digits are 50 or more is in the last century (§4.1.2.5.1). */
const UTC_TIME_PIVOT = 50

/**
 * Reads `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
 * @returns milliseconds since the epoch; NaN for a day or hour that does not exist
 * @throws RangeError for another form
 */
export function derTime({ tag, content }: DerElement): number {
  const text = String.fromCharCode(...content)
  const century = tag !== DER_TAG.utcTime ? '' : Number(text.slice(0, 2)) >= UTC_TIME_PIVOT ? '19' : '20'
  const [, date, hours, minutes, seconds] = /^(\d{8})(\d\d)(\d\d)(\d\d)Z$/.exec(century + text) ?? []
  if (date === undefined) throw new RangeError('DER has a time of another form')
  const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`
  return Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`)
}
