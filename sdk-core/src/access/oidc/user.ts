// What the issuer says of a visitor, who of them may come in, and how a session names them.

import { base64url } from '../../bytes/base64url.ts'
import { encodeLatin1 } from '../../bytes/latin1.ts'
import type { VisitorUser } from '../../exchange/fetch-handler.ts'
import { asciiLowerCase, isAddress } from './email.ts'
import { NAME_MAX_CHARS, SUBJECT_MAX_CHARS } from './limits.ts'
import type { CheckedOidc } from './options.ts'

/** Claims are what the ID token, and perhaps the UserInfo response, say. */
export type Claims = Readonly<Record<string, unknown>>

/** A subject that can be the value of a field. */
const SUBJECT = /^[\x21-\x7e]+$/
/** Subjects of sessions that have a user begin with it. */
const PREFIX = 'oidc-'

/** Returns the visitor, or undefined when the claims have no subject that the site can use. */
export function userOf(claims: Claims, { groups, groupsClaim }: CheckedOidc): VisitorUser | undefined {
  const { sub, email, email_verified: verified, name } = claims
  if (typeof sub !== 'string' || sub.length > SUBJECT_MAX_CHARS || !SUBJECT.test(sub)) return undefined
  // Some issuers have the text in place of the value.
  const isVerified = verified === true || verified === 'true'
  const own = claims[groupsClaim]
  const all: unknown[] = Array.isArray(own) ? own : [own]
  return {
    subject: sub,
    ...(isVerified && typeof email === 'string' && isAddress(email) && { email }),
    ...(typeof name === 'string' && name !== '' && { name: [...name].slice(0, NAME_MAX_CHARS).join('') }),
    ...(groups.size > 0 && { groups: [...groups].filter((group) => all.includes(group)) }),
  }
}

/** Returns whether the user may come in. */
export function isAllowed(user: VisitorUser, { addresses, domains, subjects }: CheckedOidc): boolean {
  const { subject, email, groups = [] } = user
  if (subjects.has(subject) || groups.length > 0) return true
  if (email === undefined) return false
  const address = asciiLowerCase(email)
  return addresses.has(address) || domains.has(address.slice(address.indexOf('@') + 1))
}

/** Returns whether the claims lack something by which it is decided: some issuers have it in the UserInfo response alone. */
export function lacksClaims(
  claims: Claims,
  { addresses, domains, groups, groupsClaim }: CheckedOidc,
): boolean {
  const needsEmail = addresses.size + domains.size > 0
  const lacksEmail = claims.email === undefined || claims.email_verified === undefined
  return (needsEmail && lacksEmail) || (groups.size > 0 && claims[groupsClaim] === undefined)
}

/** Returns the subject of the user's sessions, which has all that the site knows: it stores nothing. */
export function subjectOf(user: VisitorUser): string {
  return PREFIX + base64url(new TextEncoder().encode(JSON.stringify(user)))
}

/** Returns the user of a session, whose cookie nobody else can make; undefined for those of another way to sign in. */
export function userOfSubject(subject: string): VisitorUser | undefined {
  if (!subject.startsWith(PREFIX)) return undefined
  const text = subject.slice(PREFIX.length).replaceAll('-', '+').replaceAll('_', '/')
  return JSON.parse(new TextDecoder().decode(encodeLatin1(atob(text))))
}
