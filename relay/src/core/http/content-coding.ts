// Reads from `Accept-Encoding` whether a client accepts a content coding (RFC 9110 §12.5.3).

/** Responses of fewer bytes are not compressed. */
export const COMPRESSED_MIN_BYTES = 1024

export type ContentCoding = 'br' | 'gzip'

/** The weight after a coding's name: `;q=0.5`. */
const WEIGHT = /^;\s*q=([01](?:\.\d{0,3})?)$/i

/** @param accepted the header `Accept-Encoding`; without one the client gets no coding */
export function takesCoding(accepted: string | undefined, coding: ContentCoding): boolean {
  let isTaken = false
  for (const item of (accepted ?? '').split(',')) {
    const [name = '', ...parameters] = item.trim().split(/(?=;)/)
    const isNamed = name.trim().toLowerCase() === coding
    if (!isNamed && name.trim() !== '*') continue
    const weight = WEIGHT.exec(parameters.join('').trim())?.[1]
    isTaken = parameters.length === 0 || Number(weight ?? 0) > 0
    // The coding's own weight precedes that of `*` (§12.5.3, rule 3).
    if (isNamed) return isTaken
  }
  return isTaken
}
