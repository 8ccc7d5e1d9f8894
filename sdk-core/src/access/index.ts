// Who may come to a site: each request is checked before the handler gets it.

import { SvcError } from '../errors.ts'
import type { SiteOptions } from '../site/options.ts'
import { Gate } from './gate.ts'
import { type AccessOptions, checkAccess } from './options.ts'
import type { DeriveKey } from './password-hash.ts'

export type { Gate } from './gate.ts'
export type { KnockingVisitor } from './knock/visitor.ts'
export { type DeriveKey, SCRYPT, storedPassword } from './password-hash.ts'
export { parseEnd } from './times.ts'

/** The options of `publish` that a guarded site has. */
interface Guarded {
  access: AccessOptions
  /** True by default: guesses are counted for each network. */
  visitorAddress?: boolean | undefined
}

/**
 * Resolves with the options of a site whose handler gets only the requests of visitors who may come in.
 * @param derive runs scrypt, where the platform has it
 * @throws SvcError `invalid_option`
 */
export async function guardedSite(
  options: SiteOptions,
  { access, visitorAddress }: Guarded,
  derive: DeriveKey | undefined,
): Promise<SiteOptions> {
  const knock = await knockCode(access)
  const gate = new Gate(checkAccess(access, derive !== undefined), derive, knock)
  if (options.cache)
    throw new SvcError(
      'invalid_option',
      'access and cache exclude each other: the relay gives its copy of the files to everybody',
    )
  if (visitorAddress === false) refuseWithoutAddress(access)
  const guarded: SiteOptions = {
    ...options,
    visitorAddress: visitorAddress ?? true,
    signal: AbortSignal.any([gate.closed, ...(options.signal ? [options.signal] : [])]),
    fetch: gate.before(options.fetch),
  }
  return knock && gate.knocking ? knock.knockingSite(guarded, gate.knocking) : guarded
}

/** @throws SvcError `invalid_option` when lists of networks would refuse everybody */
export function refuseWithoutAddress({ allowIp, denyIp }: AccessOptions): void {
  if (allowIp || denyIp)
    throw new SvcError('invalid_option', 'access.allowIp and access.denyIp need visitorAddress')
}

/**
 * Resolves with the gate of a site. Its sessions are valid at each relay of the site.
 * @throws SvcError `invalid_option`
 */
export async function openGate(access: AccessOptions, derive: DeriveKey | undefined): Promise<Gate> {
  return new Gate(checkAccess(access, derive !== undefined), derive, await knockCode(access))
}

/** Loads the code for visitors who knock only when they may. */
async function knockCode({ knock }: AccessOptions): Promise<typeof import('./knock/index.ts') | undefined> {
  return knock === true ? import('./knock/index.ts') : undefined
}
