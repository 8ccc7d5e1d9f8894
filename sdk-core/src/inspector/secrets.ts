// Masks secrets in what an inspector gives out: in header fields and in the queries of URLs.

import type { Field } from '../semantics/fields.ts'
import type { HeaderField } from './messages.ts'

/** What stands for a secret. */
const MASK = '••••••'

/** Fields whose value is a secret, with or without a scheme before it. */
const WITH_SCHEME: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization'])
/** Words in a name whose value is a secret. */
const SECRET_WORDS: ReadonlySet<string> = new Set([
  ...['assertion', 'auth', 'authorization', 'credential', 'credentials', 'csrf', 'jwt', 'otp', 'passwd'],
  ...['pwd', 'session', 'sid', 'xsrf'],
])
/** The same, in queries alone. */
const SECRET_PARAMETERS: ReadonlySet<string> = new Set(['code', 'sig', 'ticket'])
/** The end of such a word. */
const SECRET_ENDS = ['token', 'key', 'secret', 'password', 'signature']
/** Fields with such a word that have no secret: what verifies a content is shown. */
const SHOWN_FIELD = /signature|^sec-websocket-key$|^idempotency-key$/
/** Fields of payments (x402). */
const PAYMENTS: ReadonlySet<string> = new Set(['x-payment', 'payment-signature'])
/** Fields that contain a URL. */
const WITH_URL: ReadonlySet<string> = new Set(['referer', 'location', 'content-location'])
const ATTRIBUTE =
  /^\s*(?:path|domain|expires|max-age|secure|httponly|samesite|partitioned|priority)\s*(?:=|$)/i

/** Returns the fields as they were written, with their secrets masked. */
export function maskedFields(fields: readonly Field[], isUnmasked: boolean): HeaderField[] {
  return fields.map(([name, value, written]) => {
    const shown = isUnmasked ? value : maskedValue(name.toLowerCase(), value)
    return { name: written ?? name, value: shown, ...(shown !== value && { masked: true }) }
  })
}

/** Returns a URL, or a path with its query, whose secrets are masked. */
export function maskedUrl(url: string): string {
  const start = url.indexOf('?')
  if (start < 0) return url
  const [query = '', ...fragment] = url.slice(start + 1).split('#')
  const masked = query.split('&').map((parameter) => {
    const equals = parameter.indexOf('=')
    if (equals < 0 || equals === parameter.length - 1) return parameter
    return isSecretParameter(parameter.slice(0, equals)) ? `${parameter.slice(0, equals)}=${MASK}` : parameter
  })
  return [`${url.slice(0, start)}?${masked.join('&')}`, ...fragment].join('#')
}

/** Returns the fields of an edit, where what was given out masked stands for what was masked. */
export function unmaskedFields(edited: readonly Field[], before: readonly Field[]): Field[] {
  const known = [...before]
  return edited.map((field) => {
    const name = field[0].toLowerCase()
    const at = known.findIndex(
      ([other, value]) => other.toLowerCase() === name && maskedValue(name, value) === field[1],
    )
    return at < 0 ? field : [field[0], known.splice(at, 1)[0]![1]]
  })
}

/** Returns the URL of an edit, where a masked parameter stands for the one of that name. */
export function unmaskedUrl(edited: string, before: string): string {
  const start = edited.indexOf('?')
  if (start < 0) return edited
  const known = before.slice(before.indexOf('?') + 1).split('&')
  const parameters = edited.slice(start + 1).split('&')
  const restored = parameters.map((parameter) => {
    const [name, value] = parameter.split('=')
    const isMasked = value === MASK || value === encodeURIComponent(MASK)
    return (isMasked && known.find((other) => other.startsWith(`${name}=`))) || parameter
  })
  return `${edited.slice(0, start)}?${restored.join('&')}`
}

function maskedValue(name: string, value: string): string {
  if (value === '') return value
  if (WITH_SCHEME.has(name)) return withScheme(value)
  if (name === 'cookie') return value.split(';').map(maskedCookie).join(';')
  if (name === 'set-cookie') return maskedSetCookie(value)
  if (WITH_URL.has(name)) return maskedUrl(value)
  const isSecret = PAYMENTS.has(name) || (hasSecretWord(name) && !SHOWN_FIELD.test(name))
  return isSecret ? MASK : value
}

/** Leaves the scheme of credentials (RFC 9110 §11.4). */
function withScheme(value: string): string {
  const space = value.indexOf(' ')
  return space < 0 ? MASK : `${value.slice(0, space)} ${MASK}`
}

function maskedCookie(pair: string): string {
  const equals = pair.indexOf('=')
  return equals < 0 ? MASK : `${pair.slice(0, equals)}=${MASK}`
}

function maskedSetCookie(value: string): string {
  const [pair = '', ...attributes] = value.split(';')
  return [maskedCookie(pair), ...attributes.map((part) => (ATTRIBUTE.test(part) ? part : ` ${MASK}`))].join(
    ';',
  )
}

function isSecretParameter(encoded: string): boolean {
  let name = encoded
  try {
    name = decodeURIComponent(encoded.replaceAll('+', ' '))
  } catch {
    // It is compared as it is.
  }
  const lower = name.toLowerCase()
  return hasSecretWord(lower) || wordsOf(lower).some((word) => SECRET_PARAMETERS.has(word))
}

function hasSecretWord(name: string): boolean {
  return wordsOf(name).some((word) => SECRET_WORDS.has(word) || SECRET_ENDS.some((end) => word.endsWith(end)))
}

function wordsOf(name: string): string[] {
  return name.split(/[^a-z0-9]/)
}
