// The messages of rare errors, which a page loads only when it needs one: wrong options, and relays that do not fit.

import { LEASE_TTL_MAX_S, PROTOCOL_VERSION } from '@svc/protocol'
import { noOption, optionNames } from './option-names.ts'
import { CONNECTIONS_MAX } from './site/connections-max.ts'

const SWITCH = 'must be true or false'
const FUNCTION = 'must be a function'

/** The message for each option. After some, the value follows. */
const SENTENCES: Readonly<Record<string, string>> = {
  route: 'needs the SDK for Node',
  relays: 'must be an array of URLs',
  name: 'must be one DNS label: 1 to 22 letters, digits and inner hyphens',
  fetch: FUNCTION,
  onSite: FUNCTION,
  debug: FUNCTION,
  signal: 'must be an AbortSignal',
  metadata: 'must be an object',
  allowFields: 'must be an array of names',
  identity: 'must be a private key of 32 bytes (Uint8Array) or the name of a stored one',
  allowCanonicalFallback: SWITCH,
  invitation: 'must be a string',
  listed: SWITCH,
  awayPage: SWITCH,
  http2: SWITCH,
  hsts: SWITCH,
  globals: SWITCH,
  ttl: `must be a whole number of seconds from 1 to ${LEASE_TTL_MAX_S}`,
  maxConnections: `must be a whole number from 1 to ${CONNECTIONS_MAX}`,
  certificate: 'must be own or shared, not',
  tls: 'must be an object',
  'tls.minVersion': 'must be TLSv1.3 or TLSv1.2, not',
  'tls.clientCertificates': 'must be an object with ca',
  'tls.onSecret': FUNCTION,
  access: 'must be an object',
  rules: 'must be an object of rules',
  domains: 'must be an array of names',
  acme: 'must be an object with agreeTerms: true',
  cache: 'must be an object with files',
  'cache.files': 'must be a map, a record or a list of files, a folder, or a function',
  'cache.index': 'must be the path of a file',
  'cache.fallback': SWITCH,
  'cache.ttl': 'must be a whole number of seconds, or 0 for what the relay allows',
}

/** The messages for values that would be right elsewhere. */
const OF_VALUES: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  identity: (value) =>
    typeof value === 'string'
      ? 'looks like a private key: pass its 32 bytes as a Uint8Array, since a string is the name of a stored key'
      : undefined,
  'tls.minVersion': (value) =>
    value === 'TLSv1.2' ? 'TLSv1.2 needs certificate: own, since the relay signs TLS 1.3 only' : undefined,
}

/** Protocol versions that can be compared. */
const NUMBER = /^\d+$/

/** Returns the message about a relay of another protocol: it says who has to upgrade. */
export function incompatible(theirs: string, release: string | undefined): string {
  const relay = release === undefined ? 'the relay' : `the relay (release ${release})`
  return `${relay} speaks protocol ${theirs}, this SDK protocol ${PROTOCOL_VERSION}: ${upgradeOf(theirs)}`
}

function upgradeOf(theirs: string): string {
  if (!NUMBER.test(theirs)) return 'one of them has to be upgraded'
  return Number(theirs) > Number(PROTOCOL_VERSION)
    ? 'the SDK has to be upgraded'
    : 'its operator has to upgrade the relay'
}

/** Returns the message about a challenge that the SDK does not sign. */
export function notSigned(): string {
  return 'the SDK did not sign: the message does not name this relay, this identity and this request'
}

/** Returns the message about a lease for another identity. */
export function anotherIdentity(): string {
  return 'the relay registered another identity'
}

/** Returns the message about an unknown answer to a capability. */
export function strangeByte(byte: number): string {
  return `the relay answered a capability with 0x${byte.toString(16)}`
}

/** Returns the message about a WebSocket whose subprotocol was not offered. */
export function otherSubprotocol(): string {
  return 'the relay selected another WebSocket subprotocol'
}

/** Returns the message about a visitor who came while the lease was ending. */
export function noLease(): string {
  return 'there is no lease to sign with'
}

/**
 * Returns the message about a site that needs its own certificate and cannot have one.
 * @param isRefused true when the relay has one, which a site with client certificates cannot use
 */
export function noCertificate(obstacle: Obstacle, isRefused = false): string {
  const why = isRefused
    ? 'client certificates need a certificate of the site itself'
    : 'the relay has no certificate that its sites share'
  return `${why}, and ${OBSTACLES[obstacle]}`
}

/** An Obstacle is the reason why a site has no certificate of its own. */
export type Obstacle = keyof typeof OBSTACLES

const OBSTACLES = {
  store: 'this platform cannot store a key for one of its own',
  option: 'certificate: own asks for one of its own',
  relay: 'the relay issues none for sites',
} as const

/** Returns the message about a visitor whose handshake failed although the site is online. */
export function visitorFailed(reason: string): string {
  return `a visitor's TLS handshake failed: ${reason}`
}

/** Returns the message about a platform, or a polyfill, that is too old. */
export function unsupported(): string {
  return 'the SDK needs Promise.withResolvers and URL.parse: Chrome 126, Firefox 126, Safari 18, Node 22.1, zone.js 0.14.3, or later ones'
}

/**
 * Returns the message about an invalid option: it names the option and the reason.
 * @param option the option, or what is wrong with it, as `readOptions` names it
 */
export function wrongOption(option: string, options: Record<string, unknown>): string {
  if (option === 'relay') return wrongRelay(options.relay)
  const hasSentence = [OF_VALUES, SENTENCES].some((sentences) => Object.hasOwn(sentences, option))
  if (!hasSentence && !optionNames().includes(option)) return noOption(option)
  const [name = '', member] = option.split('.')
  const value = member === undefined ? options[name] : (options[name] as Record<string, unknown>)[member]
  const sentence = OF_VALUES[option]?.(value) ?? SENTENCES[option] ?? 'is wrong'
  return `${option} ${sentence}${sentence.endsWith(' not') ? ` ${printed(value)}` : ''}`
}

/** Returns why `relay` is not the address of a relay. */
export function wrongRelay(relay: unknown): string {
  const text = printed(relay)
  const url = URL.parse(text)
  if (url === null) return `relay ${typeof relay === 'string' ? JSON.stringify(relay) : text} is not a URL`
  if (url.protocol !== 'https:') return `relay must be an https: URL, not ${url.protocol}`
  return 'relay must not carry credentials'
}

/** Returns the value as text. Some objects have none. */
function printed(value: unknown): string {
  try {
    return String(value)
  } catch {
    return `of type ${typeof value}`
  }
}
