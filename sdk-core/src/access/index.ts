// Who may come to a site: each request is checked before the handler gets it.

import { SvcError } from '../errors.ts'
import type { SiteOptions } from '../site/options.ts'
import { Gate } from './gate.ts'
import { type AccessOptions, checkAccess } from './options.ts'
import type { DeriveKey } from './password-hash.ts'

export type { Gate } from './gate.ts'
export { type DeriveKey, SCRYPT, storedPassword } from './password-hash.ts'
export { parseEnd } from './times.ts'

/** The options of `publish` that a guarded site has. */
interface Guarded {
  access: AccessOptions
  /** True by default: guesses are counted for each network. */
  visitorAddress?: boolean | undefined
}

/**
 * Returns the options of a site whose handler gets only the requests of visitors who may come in.
 * @param derive runs scrypt, where the platform has it
 * @throws SvcError `invalid_option`
 */
export function guardedSite(
  options: SiteOptions,
  { access, visitorAddress }: Guarded,
  derive: DeriveKey | undefined,
): SiteOptions {
  const gate = openGate(access, derive)
  if (options.cache)
    throw new SvcError(
      'invalid_option',
      'access and cache exclude each other: the relay gives its copy of the files to everybody',
    )
  if (visitorAddress === false) refuseWithoutAddress(access)
  return {
    ...options,
    visitorAddress: visitorAddress ?? true,
    signal: AbortSignal.any([gate.closed, ...(options.signal ? [options.signal] : [])]),
    fetch: gate.before(options.fetch),
  }
}

/** @throws SvcError `invalid_option` when lists of networks would refuse everybody */
export function refuseWithoutAddress({ allowIp, denyIp }: AccessOptions): void {
  if (allowIp || denyIp)
    throw new SvcError('invalid_option', 'access.allowIp and access.denyIp need visitorAddress')
}

/**
 * Returns the gate of a site. Its sessions are valid at each relay of the site.
 * @throws SvcError `invalid_option`
 */
export function openGate(access: AccessOptions, derive: DeriveKey | undefined): Gate {
  return new Gate(checkAccess(access, derive !== undefined), derive)
}
