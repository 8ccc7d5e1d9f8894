// The options of OpenID Connect, checked when the site is made.

import { SvcError } from '../../errors.ts'
import { asciiLowerCase, isAddress } from './email.ts'
import { ENTRIES_MAX, ENTRY_MAX_CHARS, GROUPS_MAX_CHARS } from './limits.ts'

/** OidcOptions say at which issuer of OpenID Connect visitors sign in, and who of them may come in: by `allow`, `groups`, or both. */
export interface OidcOptions {
  /** The URL of the issuer, as it names itself. It begins with https:, except for one on this machine. */
  issuer: string
  /** The name of this site's registration at the issuer. The issuer knows `https://HOST/.svc/access/oidc/callback` as its redirect URI. */
  clientId: string
  /**
   * The secret of the registration.
   * @default none: the site is a public client, with PKCE alone
   */
  clientSecret?: string | undefined
  /**
   * Who may come in: an e-mail address, `@example.org` for all addresses of a domain, or the subject that the issuer has for somebody.
   * Only addresses that the issuer verified count (`email_verified`).
   * @default nobody
   */
  allow?: readonly string[] | undefined
  /**
   * The groups whose members may come in.
   * @default none
   */
  groups?: readonly string[] | undefined
  /**
   * The claim that has the visitor's groups.
   * @default 'groups'
   */
  groupsClaim?: string | undefined
  /**
   * The scopes that the site asks for. `openid` is always among them.
   * @default ['email', 'profile']
   */
  scopes?: readonly string[] | undefined
}

/** The checked options. */
export interface CheckedOidc {
  issuer: URL
  clientId: string
  clientSecret: string | undefined
  /** In ASCII lower case. */
  addresses: ReadonlySet<string>
  /** In ASCII lower case, without the `@`. */
  domains: ReadonlySet<string>
  subjects: ReadonlySet<string>
  groups: ReadonlySet<string>
  groupsClaim: string
  /** Separated by spaces. */
  scope: string
}

const NAMES: Readonly<Record<keyof OidcOptions, true>> = {
  issuer: true,
  clientId: true,
  clientSecret: true,
  allow: true,
  groups: true,
  groupsClaim: true,
  scopes: true,
}
/** The characters of a scope (RFC 6749 §3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/
/** The characters of a subject that can be a field's value. */
const SUBJECT = /^[\x21-\x7e]+$/
const DOMAIN = /^(?:[a-z\d-]+\.)*[a-z\d-]+$/

/** @throws SvcError `invalid_option` that names the option */
export function checkOidc(options: OidcOptions): CheckedOidc {
  for (const name of Object.keys(options))
    if (!Object.hasOwn(NAMES, name)) throw wrong(`there is no option access.oidc.${name}`)
  const { clientId, clientSecret, groupsClaim = 'groups', scopes = ['email', 'profile'] } = options
  const entries = listOf('allow', options.allow)
  const [addresses, domains, subjects] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const entry of entries) {
    const text = asciiLowerCase(entry)
    if (text.startsWith('@') && DOMAIN.test(text.slice(1))) domains.add(text.slice(1))
    else if (isAddress(entry)) addresses.add(text)
    else if (SUBJECT.test(entry) && !entry.includes('@')) subjects.add(entry)
    else throw wrong(`access.oidc.allow: ${JSON.stringify(entry)} is no e-mail address, @domain or subject`)
  }
  const groups = new Set(listOf('groups', options.groups))
  if (entries.length === 0 && groups.size === 0)
    throw wrong(
      'access.oidc has to say who may come in: allow or groups. Without them, everybody with an account at the issuer could',
    )
  if ([...groups].join('').length > GROUPS_MAX_CHARS)
    throw wrong(`access.oidc.groups has more than ${GROUPS_MAX_CHARS} characters`)
  return {
    issuer: issuerOf(options.issuer),
    clientId: textOf('clientId', clientId),
    clientSecret: clientSecret === undefined ? undefined : textOf('clientSecret', clientSecret),
    addresses,
    domains,
    subjects,
    groups,
    groupsClaim: textOf('groupsClaim', groupsClaim),
    scope: scopeOf(scopes),
  }
}

function issuerOf(issuer: unknown): URL {
  const url = typeof issuer === 'string' ? URL.parse(issuer) : null
  const isPlain = url !== null && url.search + url.hash + url.username + url.password === ''
  if (!isPlain || !(url.protocol === 'https:' || isOnThisMachine(url)))
    throw wrong('access.oidc.issuer has to be a URL with https:, such as https://accounts.example.org')
  return url
}

/** Returns whether http: is as safe as https:, because nothing leaves the machine. */
export function isOnThisMachine({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}

function scopeOf(scopes: readonly string[]): string {
  const list = listOf('scopes', scopes)
  for (const scope of list)
    if (!SCOPE.test(scope)) throw wrong(`access.oidc.scopes: ${JSON.stringify(scope)} is no scope`)
  return [...new Set(['openid', ...list])].join(' ')
}

function listOf(name: string, list: unknown = []): string[] {
  const isText = (entry: unknown): boolean =>
    typeof entry === 'string' && entry !== '' && entry.length <= ENTRY_MAX_CHARS
  if (!Array.isArray(list) || list.length > ENTRIES_MAX || !list.every(isText))
    throw wrong(`access.oidc.${name} has to be a list of at most ${ENTRIES_MAX} texts`)
  return list
}

/** The message never has the value, which may be a secret. */
function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw wrong(`access.oidc.${name} is missing: it has to be a text that is not empty`)
}

function wrong(message: string): SvcError {
  return new SvcError('invalid_option', message)
}
