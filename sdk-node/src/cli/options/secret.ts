// A secret of the command line or svc.toml: the text itself, or where it is.

import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { SvcError } from '@svc/sdk-core'

const FILE = 'file:'
const ENVIRONMENT = 'env:'
const STDIN = '-'

/** Returns the secret with an absolute path, if it is in a file. */
export function withAbsolutePath(secret: string, absolute: (path: string) => string): string {
  return secret.startsWith(FILE) ? FILE + absolute(secret.slice(FILE.length)) : secret
}

/** Returns whether a secret in svc.toml is the place of one, in a file or the environment. */
export function isElsewhere(secret: string): boolean {
  return secret.startsWith(FILE) || secret.startsWith(ENVIRONMENT)
}

/**
 * Resolves with the secret itself.
 * @param name the option's name, for errors, which never have the secret
 * @throws SvcError `invalid_option`
 */
export async function readSecret(
  name: string,
  secret: string,
  stdin: NodeJS.ReadableStream = process.stdin,
): Promise<string> {
  if (secret === STDIN) return withoutLineEnd(await text(stdin))
  if (secret.startsWith(ENVIRONMENT)) return fromEnvironment(name, secret.slice(ENVIRONMENT.length))
  if (!secret.startsWith(FILE)) return secret
  const path = secret.slice(FILE.length)
  const content = await readFile(path, 'utf8').catch((cause) => {
    throw new SvcError('invalid_option', `${name}: ${path} cannot be read`, { cause })
  })
  return withoutLineEnd(content)
}

function fromEnvironment(name: string, variable: string): string {
  const value = process.env[variable]
  if (value) return value
  throw new SvcError('invalid_option', `${name}: there is no ${variable} in the environment`)
}

function withoutLineEnd(content: string): string {
  return content.replace(/\r?\n$/, '')
}
