// Converts the options of access to those of `expose`, with the secrets that are elsewhere.

import { SvcError } from '@svc/sdk-core'
import type { ExposeOptions } from '../../expose/options.ts'
import type { AccessFlags } from '../options/access-options.ts'
import { readSecret } from '../options/secret.ts'

/**
 * Resolves with the option `access`; undefined when everybody may come in.
 * @throws SvcError `invalid_option`
 */
export async function accessOptions({
  password,
  user = [],
  bearer,
}: AccessFlags): Promise<ExposeOptions['access']> {
  const users = user.map(parseUser)
  const secrets = [password, bearer, ...users.map(([, secret]) => secret)]
  if (secrets.filter((secret) => secret === '-').length > 1)
    throw new SvcError('invalid_option', 'only one secret can be read from standard input')
  const access = {
    ...(password !== undefined && { password: await readSecret('--password', password) }),
    ...(users.length > 0 && { users: await passwordsOf(users) }),
    ...(bearer !== undefined && { bearer: await readSecret('--bearer', bearer) }),
  }
  return Object.keys(access).length > 0 ? access : undefined
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
