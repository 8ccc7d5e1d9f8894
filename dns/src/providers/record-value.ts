// Values of records, between their plain form and the presentation format of zone files (RFC 1035 §5.1).

import { normalizeIp } from '@svc/node-kit/ip-address'
import type { RecordType } from './zone-api.ts'
import { plainName } from './zone-names.ts'

/** Bytes of one character-string (RFC 1035 §3.3). */
const STRING_MAX_BYTES = 255

/** Quoted strings of at most 255 bytes each, with a space between them. */
export function quoteTxt(value: string): string {
  const bytes = Buffer.from(value)
  const strings: string[] = []
  for (let at = 0; at < bytes.length || at === 0; at += STRING_MAX_BYTES)
    strings.push(`"${[...bytes.subarray(at, at + STRING_MAX_BYTES)].map(escapeByte).join('')}"`)
  return strings.join(' ')
}

/** Joins quoted strings into one text; returns a text without quotes unchanged. */
export function unquoteTxt(raw: string): string {
  const text = raw.trim()
  if (!text.startsWith('"')) return text
  const bytes: number[] = []
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '"') isQuoted = !isQuoted
    else if (character === '\\') {
      const digits = /^\d{3}/.exec(text.slice(at + 1, at + 4))?.[0]
      if (digits === undefined) bytes.push(...Buffer.from(text[at + 1] ?? ''))
      else bytes.push(Number(digits) & 0xff)
      at += digits?.length ?? 1
    } else if (isQuoted) bytes.push(...Buffer.from(character))
  }
  return Buffer.from(bytes).toString()
}

/** Converts a provider's value to the plain form. */
export function fromPresentation(type: RecordType, raw: string): string {
  if (type === 'TXT') return unquoteTxt(raw)
  if (type === 'CNAME') return plainName(raw.trim())
  if (type === 'CAA') return plainCaa(raw)
  return normalizeIp(raw.trim()) ?? raw
}

/** The value in the presentation format. */
export function toPresentation(type: RecordType, value: string): string {
  if (type === 'CNAME') return `${value}.`
  return type === 'TXT' ? quoteTxt(value) : value
}

/** A CAA record (RFC 8659 §4.1). */
export interface CaaParts {
  flags: number
  tag: string
  value: string
}

/** The presentation format, in one spelling (RFC 8659 §4.1.1). */
export function caaText({ flags, tag, value }: CaaParts): string {
  return `${flags} ${tag.toLowerCase()} ${quoteTxt(value)}`
}

/** The parts of that; undefined for another text. */
export function caaParts(text: string): CaaParts | undefined {
  const [, flags, tag, value] = /^(\d{1,3})[ \t]+([A-Za-z0-9]+)[ \t]+(\S.*)$/s.exec(text.trim()) ?? []
  if (flags === undefined || tag === undefined || value === undefined) return undefined
  return { flags: Number(flags), tag: tag.toLowerCase(), value: unquoteTxt(value) }
}

/** One spelling of each CAA record. */
function plainCaa(raw: string): string {
  const parts = caaParts(raw)
  return parts === undefined ? raw : caaText(parts)
}

/** Removes duplicates, in the form in which addresses are compared. */
export function normalizedAddresses(addresses: readonly string[]): string[] {
  return [...new Set(addresses.map((address) => normalizeIp(address) ?? address))]
}

function escapeByte(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`
}
