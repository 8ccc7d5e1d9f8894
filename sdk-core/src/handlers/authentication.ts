// HTTP authentication of visitors (RFC 9110 §11): by password (RFC 7617) or bearer token (RFC 6750).

import { fromBase64 } from '../bytes/base64.ts'
import { SvcError } from '../errors.ts'
import type { FetchHandler } from '../exchange/fetch-handler.ts'
import { constantTimeEqual } from './constant-time-equal.ts'
import { lineOrPage } from './line-or-page.ts'

/** VerifyPassword returns whether a user name and password are right, or a promise of that. */
export type VerifyPassword = (user: string, password: string, request: Request) => boolean | Promise<boolean>
/** VerifyToken returns whether a bearer token is right, or a promise of that. */
export type VerifyToken = (token: string, request: Request) => boolean | Promise<boolean>

/** AuthOptions are the options of `basicAuth` and `bearer`. */
export interface AuthOptions {
  /**
   * The text, in printable ASCII, that browsers may show when they ask for a password.
   * @default site
   */
  realm?: string | undefined
}

const PRINTABLE_ASCII = /^[ -~]+$/
/** The scheme is case-insensitive (RFC 9110 §11.1). A token68 follows it (§11.2). */
const CREDENTIALS = /^([a-z]+) +([a-z0-9\-._~+/]+=*)$/i
/** Neither user name nor password may contain control characters (RFC 7617 §2). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const CONTROL = /[\0-\x1f\x7f]/

/**
 * Returns a handler that requires a user name and a password, and otherwise answers 401.
 * @param users a map from user to password, or a function that decides
 */
export function basicAuth(
  handler: FetchHandler,
  users: Readonly<Record<string, string>> | VerifyPassword,
  options: AuthOptions = {},
): FetchHandler {
  // With `charset` browsers send UTF-8 (§2.1).
  const challenge = `Basic realm=${quotedRealm(options)}, charset="UTF-8"`
  const verify =
    typeof users === 'function' ? users : (user: string, given: string) => isOneOf(users, user, given)
  return async (request, info) => {
    const pair = userAndPassword(credentials(request, 'basic'))
    const isKnown = pair !== undefined && (await verify(...pair, request))
    return isKnown ? handler(request, info, info) : unauthorized(request, challenge)
  }
}

/**
 * Returns a handler that requires a bearer token, and otherwise answers 401.
 * @param tokens one token, several, or a function that decides
 */
export function bearer(
  handler: FetchHandler,
  tokens: string | readonly string[] | VerifyToken,
  options: AuthOptions = {},
): FetchHandler {
  const challenge = `Bearer realm=${quotedRealm(options)}`
  const list = typeof tokens === 'string' ? [tokens] : tokens
  const verify = typeof list === 'function' ? list : (token: string) => isAnyOf(list, token)
  return async (request, info) => {
    const token = credentials(request, 'bearer')
    // The challenge for a request without a token names no error (RFC 6750 §3).
    if (token === undefined) return unauthorized(request, challenge)
    return (await verify(token, request))
      ? handler(request, info, info)
      : unauthorized(request, `${challenge}, error="invalid_token"`)
  }
}

/** Returns the token68 after the scheme in the Authorization field. */
export function credentials(request: Request, scheme: string): string | undefined {
  const match = CREDENTIALS.exec(request.headers.get('authorization') ?? '')
  return match?.[1]?.toLowerCase() === scheme ? match[2] : undefined
}

/** Decodes `user:password` from base64 of UTF-8 (RFC 7617 §2). Only the password may contain further colons. */
export function userAndPassword(text: string | undefined): [user: string, password: string] | undefined {
  const bytes = text === undefined ? undefined : fromBase64(text)
  if (!bytes) return undefined
  try {
    const pair = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const colon = pair.indexOf(':')
    return colon < 0 || CONTROL.test(pair) ? undefined : [pair.slice(0, colon), pair.slice(colon + 1)]
  } catch {
    return undefined
  }
}

/** Does the same work for an unknown user as for a wrong password, so that the time does not show which users exist. */
async function isOneOf(
  users: Readonly<Record<string, string>>,
  user: string,
  given: string,
): Promise<boolean> {
  const password = Object.hasOwn(users, user) ? users[user] : undefined
  const isSame = await constantTimeEqual(given, password ?? '')
  return isSame && password !== undefined
}

/** Compares all tokens, so that the time does not show which one was right. */
async function isAnyOf(tokens: readonly string[], given: string): Promise<boolean> {
  const results = await Promise.all(tokens.map((token) => constantTimeEqual(token, given)))
  return results.includes(true)
}

function unauthorized(request: Request, challenge: string): Response {
  const headers = { 'WWW-Authenticate': challenge, 'Cache-Control': 'no-store' }
  return lineOrPage(request, 401, 'Not authorized', headers)
}

function quotedRealm({ realm = 'site' }: AuthOptions): string {
  if (!PRINTABLE_ASCII.test(realm)) throw new SvcError('invalid_option', 'realm must be printable ASCII')
  return `"${realm.replace(/["\\]/g, '\\$&')}"`
}
