// A content as plain data for a page: what it means, by its type.

import type { DecodedBody } from './decoded-body.ts'
import { type Content, type FormPart, typeOf } from './entry.ts'
import { graphqlOf } from './graphql.ts'
import { hexDump } from './hex-dump.ts'
import { isIndentable } from './indented.ts'
import { PARTS_MAX } from './limits.ts'
import type { BodyView, PartView } from './messages.ts'

/** The most bytes of a text that a view has. */
export const TEXT_MAX_BYTES: number = 512 * 1024
/** The most bytes of a hex dump. */
const HEX_MAX_BYTES: number = 4 * 1024
/** The most fields of a form. */
const FIELDS_MAX = 1_000

const JSON_TYPE = /^(?:application|text)\/(?:[\w.+-]+\+)?json$/
const TEXT_TYPE =
  /^text\/|^application\/(?:(?:[\w.-]+\+)?xml|javascript|x-javascript|x-ndjson|jsonl|graphql|sql|toml|yaml|x-yaml)$/
const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp|avif|svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)$/

/** @param decoded the content without its compression */
export function bodyView(content: Content, decoded: DecodedBody): BodyView {
  const { bytes } = decoded
  const cut = decoded.length === undefined || decoded.length > bytes.length
  const type = typeOf(content)
  if (content.parts) return multipart(content.parts, content)
  if (content.bodyBytes === 0) return { kind: 'none' }
  if (!decoded.isDecoded) return hex(bytes, cut)
  if (IMAGE_TYPE.test(type)) return { kind: 'image', type, cut }
  const text = textOf(bytes, cut)
  if (text === undefined) return hex(bytes, cut)
  if (type === 'application/x-www-form-urlencoded') return form(text, cut)
  if (JSON_TYPE.test(type) || looksLikeJson(text, type)) {
    const json = parsed(text)
    if (json && !isIndentable(text)) return shown('json', text, cut)
    const operations = json === undefined ? undefined : graphqlOf(json.value)
    if (operations) return { kind: 'graphql', operations }
    if (json) return shown('json', JSON.stringify(json.value, null, 2), cut)
  }
  if (type === 'application/graphql') return { kind: 'graphql', operations: graphqlOf({ query: text }) ?? [] }
  return shown('text', text, cut)
}

function shown(kind: 'json' | 'text', text: string, cut: boolean): BodyView {
  return { kind, text: text.slice(0, TEXT_MAX_BYTES), cut: cut || text.length > TEXT_MAX_BYTES }
}

function hex(bytes: Uint8Array, cut: boolean): BodyView {
  return {
    kind: 'hex',
    text: hexDump(bytes.subarray(0, HEX_MAX_BYTES)),
    cut: cut || bytes.length > HEX_MAX_BYTES,
  }
}

function form(text: string, cut: boolean): BodyView {
  const all = [...new URLSearchParams(text)]
  const fields = all.slice(0, FIELDS_MAX).map(([name, value]) => ({ name, value }))
  return { kind: 'form', fields, cut: cut || all.length > FIELDS_MAX }
}

function multipart(parts: readonly FormPart[], { bodyBytes }: Content): BodyView {
  return { kind: 'multipart', parts: parts.map(partView), cut: bodyBytes > 0 && parts.length >= PARTS_MAX }
}

function partView({ name, fileName, type, size, beginning }: FormPart): PartView {
  const cut = size > beginning.length
  const isText =
    fileName === undefined || (type !== undefined && (TEXT_TYPE.test(type) || JSON_TYPE.test(type)))
  const text = isText ? textOf(beginning, cut) : undefined
  return { name, file_name: fileName, type, size, ...(text !== undefined && { text }), cut }
}

/** @returns undefined when the bytes are not a text */
export function textOf(bytes: Uint8Array, isCut: boolean): string | undefined {
  try {
    // With `stream`, a character that was cut at the end is left out.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a text does not have them
    return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

/** Services often send JSON as text, or without a type. */
function looksLikeJson(text: string, type: string): boolean {
  return (type === '' || type === 'text/plain') && /^\s*[[{]/.test(text)
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
