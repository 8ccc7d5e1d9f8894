// The options that say who may come in, for the command line and the table `access` of a tunnel in svc.toml.

import { type Kind, TEXT } from './option-kinds.ts'
import { withAbsolutePath } from './secret.ts'
import { optional, type Table } from './tunnel-options.ts'

/** The options of access as the user wrote them: secrets may be elsewhere. */
export interface AccessFlags {
  password?: string
  /** Each as `NAME:PASSWORD`. */
  user?: string[]
  bearer?: string
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
}
