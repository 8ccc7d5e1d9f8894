// The options of `access`, checked when the site is made.

import { SvcError } from '../errors.ts'

/** AccessOptions say who may come to a site. */
export interface AccessOptions {
  /** A token that a program sends as `Authorization: Bearer TOKEN` (RFC 6750), of 16 characters or more. */
  bearer?: string | undefined
}

/** The checked options. */
export interface CheckedAccess {
  bearer: string
}

const NAMES: ReadonlySet<string> = new Set<keyof AccessOptions>(['bearer'])

/** A token68 (RFC 9110 §11.2), too long to be guessed. */
const TOKEN = /^[a-z0-9\-._~+/]{16,}=*$/i

/** @throws SvcError `invalid_option` that names the option */
export function checkAccess(options: AccessOptions): CheckedAccess {
  for (const name of Object.keys(options))
    if (!NAMES.has(name)) throw wrong(`there is no option access.${name}`)
  const { bearer } = options
  if (bearer === undefined) throw wrong('access has to say who may come in')
  if (!TOKEN.test(bearer))
    throw wrong('access.bearer has to have 16 characters or more: letters, digits and -._~+/')
  return { bearer }
}

function wrong(message: string): SvcError {
  return new SvcError('invalid_option', message)
}
