// The options that say who may come in, for the command line and the table `access` of a tunnel in svc.toml.

import { COUNT, FIELDS, type Kind, TEXT, TEXTS, YES_NO } from './option-kinds.ts'
import { withAbsolutePath } from './secret.ts'
import { optional, type Table } from './tunnel-options.ts'

/** The options of access as the user wrote them: secrets may be elsewhere. */
export interface AccessFlags {
  password?: string
  /** Each as `NAME:PASSWORD`. */
  user?: string[]
  bearer?: string
  /** The URL of an issuer of OpenID Connect. */
  oidc?: string
  oidcClientId?: string
  oidcClientSecret?: string
  oidcAllow?: string[]
  oidcGroup?: string[]
  oidcGroupsClaim?: string
  oidcScope?: string[]
  knock?: boolean
  allowIp?: string[]
  denyIp?: string[]
  /** A time from now or a date. */
  expires?: string
  once?: boolean
  maxVisitors?: number
  rate?: string
}

/** Returns whether visitors have to show who they are, so that a share link has something to open. */
export function canBeShared({ password, user, bearer, oidc, knock }: AccessFlags): boolean {
  return [password, user, bearer, oidc].some((flag) => flag !== undefined) || knock === true
}

/** A secret in svc.toml: a relative path in it is relative to the file. */
const SECRET: Kind<string> = { ...TEXT, read: (text: string, path) => withAbsolutePath(text, path) }

/** The users in svc.toml: a table of passwords by name. */
const USERS: Kind<string[]> = {
  isList: true,
  isWhole: true,
  wanted: 'a table of passwords, each a string',
  accepts: (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(TEXT.accepts),
  read: (users: Record<string, string>, path) =>
    Object.entries(users).map(([name, password]) => `${name}:${withAbsolutePath(password, path)}`),
}

export const ACCESS_OPTIONS: Table<AccessFlags> = {
  password: optional(SECRET, {
    field: 'password',
    flags: '--password <secret>',
    help: 'let in who knows this password. A secret may be file:PATH, env:NAME or -, for standard input, so that no list of processes shows it; a password may be a hash of svc hash-password',
  }),
  user: optional(USERS, {
    field: 'users',
    flags: '--user <name:secret>',
    help: 'let in this user with this password; several times',
  }),
  bearer: optional(SECRET, {
    field: 'bearer',
    flags: '--bearer <secret>',
    help: 'let in programs that send this token, of 16 characters or more',
  }),
  oidc: optional(TEXT, {
    field: 'oidc',
    flags: '--oidc <issuer>',
    help: 'let visitors sign in at this issuer of OpenID Connect; the target gets X-Svc-User and X-Svc-Email',
  }),
  oidcClientId: optional(TEXT, {
    field: 'oidc_client_id',
    flags: '--oidc-client-id <id>',
    help: 'the name of the site’s registration there',
  }),
  oidcClientSecret: optional(SECRET, {
    field: 'oidc_client_secret',
    flags: '--oidc-client-secret <secret>',
    help: 'its secret, if it has one: file:PATH, env:NAME, - or the text',
  }),
  oidcAllow: optional(TEXTS, {
    field: 'oidc_allow',
    flags: '--oidc-allow <who>',
    help: 'who of them may come in: an address, @example.org for all of a domain, or a subject; several times',
  }),
  oidcGroup: optional(FIELDS, {
    field: 'oidc_groups',
    flags: '--oidc-group <name>',
    help: 'let in the members of this group; several times',
  }),
  oidcGroupsClaim: optional(TEXT, {
    field: 'oidc_groups_claim',
    flags: '--oidc-groups-claim <name>',
    help: 'the claim that has the groups [groups]',
  }),
  oidcScope: optional(TEXTS, {
    field: 'oidc_scopes',
    flags: '--oidc-scope <name>',
    help: 'a scope to ask for; several times [email, profile]',
  }),
  knock: optional(YES_NO, {
    field: 'knock',
    flags: '--knock',
    help: 'ask here about each visitor who does not sign in; svc knock answers too',
  }),
  allowIp: optional(TEXTS, {
    field: 'allow_ip',
    flags: '--allow-ip <network>',
    help: 'let in only visitors from this address or network, such as 192.0.2.0/24; several times',
  }),
  denyIp: optional(TEXTS, {
    field: 'deny_ip',
    flags: '--deny-ip <network>',
    help: 'let in nobody from this address or network; several times',
  }),
  expires: optional(TEXT, {
    field: 'expires',
    flags: '--expires <time>',
    help: 'close the site after a time such as 30m, 2h or 7d, or at a date',
  }),
  once: optional(YES_NO, {
    field: 'once',
    flags: '--once',
    help: 'let in the first visitor alone',
  }),
  maxVisitors: optional(COUNT, {
    field: 'max_visitors',
    flags: '--max-visitors <count>',
    help: 'the most visitors at once',
  }),
  rate: optional(TEXT, {
    field: 'rate',
    flags: '--rate <rate>',
    help: 'the most requests of each visitor, such as 10/s or 100/m',
  }),
}
