// The fields of one header block, checked as they are decoded (RFC 9113 §8.2, §8.3) and bounded.

import type { Field } from '../semantics/fields.ts'
import { HEAD_BYTES, HEAD_FIELDS } from '../semantics/limits.ts'

// A name is a token in lower case, and a value follows the rules for HTTP/1.1, which are stricter than §8.2.1.
const NAME = /^[!#$%&'*+.^_`|~\da-z-]+$/
const VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/
const PSEUDO = new Set([':method', ':scheme', ':authority', ':path', ':protocol'])
/** Connection-specific fields, which are not allowed (§8.2.2). */
const CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])
/** The overhead of each field, in octets (§6.5.2, SETTINGS_MAX_HEADER_LIST_SIZE). */
const FIELD_OVERHEAD_BYTES = 32

export class HeaderList {
  readonly pseudo: Map<string, string> = new Map()
  readonly fields: Field[] = []
  isMalformed = false
  /** True when the list is too large; further fields were dropped. */
  isTooLarge = false
  #size = 0
  /** The number of fields, without the parts of a cookie, which browsers split into many fields (§8.2.3). */
  #count = 0

  add(name: string, value: string): void {
    this.#size += name.length + value.length + FIELD_OVERHEAD_BYTES
    if (name !== 'cookie') this.#count++
    if (this.#size > HEAD_BYTES || this.#count > HEAD_FIELDS) this.isTooLarge = true
    if (this.isTooLarge || this.isMalformed) return
    if (name.startsWith(':')) {
      if (!this.#isPseudo(name, value)) this.isMalformed = true
      this.pseudo.set(name, value)
    } else {
      if (isField(name, value)) this.fields.push([name, value])
      else this.isMalformed = true
    }
  }

  /** Checks a pseudo-header field: it must be known, be unique, and precede all other fields (§8.3). */
  #isPseudo(name: string, value: string): boolean {
    return PSEUDO.has(name) && !this.pseudo.has(name) && this.fields.length === 0 && VALUE.test(value)
  }
}

function isField(name: string, value: string): boolean {
  if (!NAME.test(name) || !VALUE.test(value) || CONNECTION.has(name)) return false
  return name !== 'te' || value === 'trailers'
}
