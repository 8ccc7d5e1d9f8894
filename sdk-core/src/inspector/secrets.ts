// Masks secrets in what an inspector gives out: in header fields and in the queries of URLs.

import type { Field } from '../semantics/fields.ts'
import type { HeaderField } from './messages.ts'

/** What stands for a secret. */
const MASK = '••••••'

/** Fields whose value is a secret, with or without a scheme before it. */
const WITH_SCHEME: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization'])
/** Words in a name whose value is a secret. */
const SECRET_WORDS: ReadonlySet<string> = new Set([
  ...[
    'assertion',
    'auth',
    'authorization',
    'bearer',
    'cookie',
    'cookie2',
    'credential',
    'credentials',
    'csrf',
  ],
  ...[
    'dpop',
    'jwt',
    'otp',
    'pass',
    'passcode',
    'passphrase',
    'passwd',
    'pin',
    'pwd',
    'session',
    'sid',
    'totp',
  ],
  ...['xsrf'],
])
/** The same, in queries alone. */
const SECRET_PARAMETERS: ReadonlySet<string> = new Set(['code', 'samlresponse', 'sig', 'ticket', 'verifier'])
/** The end of such a word. */
const SECRET_ENDS = ['token', 'key', 'secret', 'password', 'sessid', 'sessionid', 'signature']
/** Fields with such a word that have no secret: what verifies a content is shown. */
const SHOWN_FIELD = /(?:^|-)signature(?:-input|-\w{0,9}\d{1,9})?$|^sec-websocket-key$|^idempotency-key$/
/** Fields of payments (x402). */
const PAYMENTS: ReadonlySet<string> = new Set(['x-payment', 'payment-signature'])
/** An attribute of a cookie. Programs that join fields may have put another cookie behind it. */
const ATTRIBUTE =
  /^\s*(?:(?:path|domain|expires|max-age|samesite|priority)\s*=[^=]*|secure\s*|httponly\s*|partitioned\s*)$/i
/** The scheme of credentials (RFC 9110 §11.1), and no part of them. */
const SCHEME = /^[a-z][a-z\d-]{0,30}(?= )/i
/** The user and password of a URL (RFC 3986 §3.2.1). */
const USER_INFO = /(\/\/)[^/?#\s]*@/g
/** A parameter of a path, which some servers write for a session. */
const PATH_PARAMETER = /;([^=;/]+)=[^;/]+/g

/** Returns the fields as they were written, with their secrets masked. */
export function maskedFields(fields: readonly Field[], isUnmasked: boolean): HeaderField[] {
  return fields.map(([name, value, written]) => {
    const shown = isUnmasked ? value : maskedValue(name.toLowerCase(), value)
    return { name: written ?? name, value: shown, ...(shown !== value && { masked: true }) }
  })
}

/** Returns a URL, a path with its query, or a text with a URL, whose secrets are masked. */
export function maskedUrl(url: string): string {
  const [path, parameters] = partsOf(url)
  const shown = path
    .replace(USER_INFO, `$1${MASK}@`)
    .replace(PATH_PARAMETER, (whole, name) => (isSecretParameter(name.trim()) ? `;${name}=${MASK}` : whole))
  return shown + parameters.map(maskedParameter).join('')
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

/** Returns the URL of an edit, where what was given out masked stands for what was masked. */
export function unmaskedUrl(edited: string, before: string): string {
  const [path, known] = partsOf(before)
  const [given, parameters] = partsOf(edited.replaceAll(encodeURIComponent(MASK), MASK))
  const unmasked = [path, URL.parse(path)?.pathname ?? path].find((each) => maskedUrl(each) === given)
  const bare = (parameter: string): string => parameter.replace(/^[?&#]/, '')
  const restored = parameters.map((parameter) => {
    const at = known.findIndex((other) => bare(maskedParameter(other)) === bare(parameter))
    return at < 0 ? parameter : parameter.slice(0, 1) + bare(known.splice(at, 1)[0]!)
  })
  return (unmasked ?? given) + restored.join('')
}

/** Returns a URL's part before the query, and the parameters of its query and fragment, each with the character before it. */
function partsOf(url: string): [path: string, parameters: string[]] {
  const end = url.search(/[?#]/)
  return end < 0 ? [url, []] : [url.slice(0, end), url.slice(end).split(/(?=[&#])/)]
}

/** The first secret in a parameter is masked, with all that follows: some servers divide parameters otherwise. */
function maskedParameter(parameter: string): string {
  let start = 0
  for (const piece of parameter.split(/(?<=[?&#;])/)) {
    const equals = piece.indexOf('=')
    if (equals >= 0 && equals < piece.length - 1 && isSecretParameter(piece.slice(0, equals)))
      return `${parameter.slice(0, start + equals)}=${MASK}`
    start += piece.length
  }
  return parameter
}

function maskedValue(name: string, value: string): string {
  if (value === '') return value
  if (WITH_SCHEME.has(name)) return withScheme(value)
  if (name === 'cookie') return value.split(';').map(maskedCookie).join(';')
  if (name === 'set-cookie') return maskedSetCookie(value)
  if (PAYMENTS.has(name)) return MASK
  if (SHOWN_FIELD.test(name)) return value
  return hasSecretWord(name) ? MASK : maskedUrl(value)
}

/** Leaves the scheme of credentials (RFC 9110 §11.4). */
function withScheme(value: string): string {
  const [scheme] = SCHEME.exec(value) ?? []
  return scheme === undefined ? MASK : `${scheme} ${MASK}`
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
  // accessToken has two words, and so has SessionId.
  const lower = name.replace(/([a-z\d])([A-Z])/g, '$1-$2').toLowerCase()
  return (
    hasSecretWord(lower) ||
    hasSecretWord(name.toLowerCase()) ||
    wordsOf(lower).some((word) => SECRET_PARAMETERS.has(word))
  )
}

function hasSecretWord(name: string): boolean {
  return wordsOf(name).some((word) => SECRET_WORDS.has(word) || SECRET_ENDS.some((end) => word.endsWith(end)))
}

function wordsOf(name: string): string[] {
  return name.split(/[^a-z0-9]/)
}
