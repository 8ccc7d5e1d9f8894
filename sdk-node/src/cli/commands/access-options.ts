// Converts the options of access to those of `expose`, with the secrets that are elsewhere.

import { type OidcOptions, SvcError } from '@svc/sdk-core'
import type { ExposeOptions } from '../../expose/options.ts'
import type { AccessFlags } from '../options/access-options.ts'
import { readSecret } from '../options/secret.ts'

/** When a tunnel ends that has to end a time after it began, in milliseconds since the epoch: a new attempt does not change that. */
const ends = new WeakMap<AccessFlags, number | undefined>()

/**
 * Resolves with the option `access`; undefined when everybody may come in.
 * @param flags the same object in each attempt to start one tunnel
 * @throws SvcError `invalid_option`
 */
export async function accessOptions(flags: AccessFlags): Promise<ExposeOptions['access']> {
  const {
    password,
    user = [],
    bearer,
    oidcClientSecret,
    knock,
    allowIp,
    denyIp,
    expires,
    once,
    maxVisitors,
    rate,
  } = flags
  const users = user.map(parseUser)
  const secrets = [password, bearer, oidcClientSecret, ...users.map(([, secret]) => secret)]
  if (secrets.filter((secret) => secret === '-').length > 1)
    throw new SvcError('invalid_option', 'only one secret can be read from standard input')
  const access = {
    ...(password !== undefined && { password: await readSecret('--password', password) }),
    ...(users.length > 0 && { users: await passwordsOf(users) }),
    ...(bearer !== undefined && { bearer: await readSecret('--bearer', bearer) }),
    ...(isOidc(flags) && { oidc: await oidcOptions(flags) }),
    ...(knock && { knock }),
    ...(allowIp && { allowIp }),
    ...(denyIp && { denyIp }),
    ...(expires !== undefined && { expires: await endOf(flags, expires) }),
    ...(once && { once }),
    ...(maxVisitors !== undefined && { maxVisitors }),
    ...(rate !== undefined && { rate }),
  }
  return Object.keys(access).length > 0 ? access : undefined
}

async function endOf(flags: AccessFlags, expires: string): Promise<string | Date> {
  const { parseEnd } = await import('@svc/sdk-core/access')
  if (!ends.has(flags)) ends.set(flags, parseEnd(expires))
  const end = ends.get(flags)
  return end === undefined ? expires : new Date(end)
}

/** Returns whether any option of OpenID Connect is given: one alone is an error that says what is missing. */
function isOidc(flags: AccessFlags): boolean {
  return Object.entries(flags).some(([name, value]) => name.startsWith('oidc') && value !== undefined)
}

async function oidcOptions({
  oidc,
  oidcClientId: clientId,
  oidcClientSecret: secret,
  oidcAllow: allow,
  oidcGroup: groups,
  oidcGroupsClaim: groupsClaim,
  oidcScope: scopes,
}: AccessFlags): Promise<OidcOptions> {
  if (oidc === undefined) throw new SvcError('invalid_option', '--oidc is missing: the URL of the issuer')
  if (clientId === undefined)
    throw new SvcError(
      'invalid_option',
      '--oidc needs --oidc-client-id: the site’s registration at the issuer',
    )
  if (!allow && !groups)
    throw new SvcError('invalid_option', '--oidc needs --oidc-allow or --oidc-group: who may come in')
  const clientSecret = secret === undefined ? undefined : await readSecret('--oidc-client-secret', secret)
  return { issuer: oidc, clientId, clientSecret, allow, groups, groupsClaim, scopes }
}

async function passwordsOf(users: readonly (readonly [string, string])[]): Promise<Record<string, string>> {
  const passwords: [string, string][] = []
  for (const [name, secret] of users) passwords.push([name, await readSecret(`--user ${name}`, secret)])
  return Object.fromEntries(passwords)
}

/** The message has no part of the text, which may be a password alone. */
function parseUser(text: string): readonly [name: string, secret: string] {
  const colon = text.indexOf(':')
  if (colon > 0) return [text.slice(0, colon), text.slice(colon + 1)]
  throw new SvcError('invalid_option', '--user has to be NAME:PASSWORD')
}
