// Finds the parts of a multipart form (RFC 7578, RFC 2046 §5.1) while its bytes pass, without keeping them.

import type { FormPart } from './entry.ts'
import { KeptBytes } from './kept-bytes.ts'
import { ITEM_OVERHEAD_BYTES, PART_BYTES, PART_HEAD_BYTES, PARTS_MAX } from './limits.ts'

const CR = 13
const HEAD_END = [13, 10, 13, 10]
/** RFC 2046 §5.1.1: the longest boundary. */
const BOUNDARY_MAX = 70
const MULTIPART = /^multipart\/form-data\s*;.*?boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/is
const PARAMETER = /;\s*(filename\*|filename|name)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s;]+))/gi

interface OpenPart {
  name: string
  fileName: string | undefined
  type: string | undefined
  content: KeptBytes
}

/** @returns undefined for a content of another type */
export function formPartsOf(contentType: string | undefined): FormParts | undefined {
  const [, quoted, plain] = MULTIPART.exec(contentType ?? '') ?? []
  const boundary = quoted ?? plain
  return boundary === undefined || boundary.length > BOUNDARY_MAX ? undefined : new FormParts(boundary)
}

export class FormParts {
  readonly #delimiter: Uint8Array
  readonly #parts: OpenPart[] = []
  /** Bytes whose meaning depends on those that follow: the beginning of a delimiter, or of a head. */
  #rest: Uint8Array
  #state: 'content' | 'head' | 'over' = 'content'

  constructor(boundary: string) {
    this.#delimiter = new TextEncoder().encode(`\r\n--${boundary}`)
    // The first delimiter may come without the line end.
    this.#rest = Uint8Array.of(13, 10)
  }

  get parts(): FormPart[] {
    return this.#parts.map(({ name, fileName, type, content }) => {
      const { bytes: size, beginning } = content
      return { name, fileName, type, size, beginning }
    })
  }

  /** @returns the bytes of memory that this takes in addition */
  add(bytes: Uint8Array): number {
    if (this.#state === 'over') return 0
    let left = this.#rest.length === 0 ? bytes : concat(this.#rest, bytes)
    let taken = 0
    for (;;) {
      const step = this.#state === 'head' ? this.#readHead(left) : this.#readContent(left)
      taken += step.taken
      left = left.subarray(step.used)
      if (!step.more) break
    }
    this.#rest = left.slice()
    return taken
  }

  /** Reads up to the next delimiter. */
  #readContent(bytes: Uint8Array): { used: number; taken: number; more: boolean } {
    const open = this.#parts.at(-1)
    const found = indexOf(bytes, this.#delimiter)
    const keep = (end: number): number => (end > 0 && open ? open.content.add(bytes.subarray(0, end)) : 0)
    if (found.at < 0) return { used: found.safe, taken: keep(found.safe), more: false }
    this.#state = 'head'
    return { used: found.at + this.#delimiter.length, taken: keep(found.at), more: true }
  }

  #readHead(bytes: Uint8Array): { used: number; taken: number; more: boolean } {
    if (bytes.length < 2) return { used: 0, taken: 0, more: false }
    const isLast = bytes[0] === 45 && bytes[1] === 45
    const end = isLast ? -1 : indexOf(bytes, HEAD_END).at
    const isTooLong = end < 0 && bytes.length > PART_HEAD_BYTES
    if (isLast || isTooLong || (end >= 0 && this.#parts.length === PARTS_MAX)) {
      this.#state = 'over'
      return { used: bytes.length, taken: 0, more: false }
    }
    if (end < 0) return { used: 0, taken: 0, more: false }
    this.#state = 'content'
    const part = partOf(new TextDecoder().decode(bytes.subarray(0, end)))
    this.#parts.push(part)
    const { name, fileName = '', type = '' } = part
    const taken = ITEM_OVERHEAD_BYTES + name.length + fileName.length + type.length
    return { used: end + HEAD_END.length, taken, more: true }
  }
}

function partOf(head: string): OpenPart {
  let name = ''
  let fileName: string | undefined
  let type: string | undefined
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':')
    const field = line.slice(0, colon).trim().toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (field === 'content-type') type = value.split(';', 1)[0]!.trim().toLowerCase()
    if (field !== 'content-disposition') continue
    for (const [, key = '', quoted, plain = ''] of value.matchAll(PARAMETER)) {
      const text = quoted?.replace(/\\(["\\])/g, '$1') ?? plain
      if (/^name$/i.test(key)) name = text
      else if (/\*$/.test(key)) fileName = extended(text) ?? fileName
      else fileName ??= text
    }
  }
  return { name, fileName, type, content: new KeptBytes(PART_BYTES) }
}

/** RFC 8187 §3.2: `UTF-8''` and percent-encoded text. */
function extended(text: string): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(text)?.[1]
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}

/** @returns where `wanted`, which begins with CR, begins, or -1; and how many bytes cannot be its beginning */
function indexOf(bytes: Uint8Array, wanted: ArrayLike<number>): { at: number; safe: number } {
  for (let at = bytes.indexOf(CR); at >= 0; at = bytes.indexOf(CR, at + 1)) {
    let length = 1
    while (length < wanted.length && at + length < bytes.length && bytes[at + length] === wanted[length])
      length += 1
    if (length === wanted.length) return { at, safe: at }
    if (at + length === bytes.length) return { at: -1, safe: at }
  }
  return { at: -1, safe: bytes.length }
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
