// Who may come to a site: each request is checked before the handler gets it.

import { SvcError } from '../errors.ts'
import type { SiteOptions } from '../site/options.ts'
import { Gate, type GateParts } from './gate.ts'
import { type AccessOptions, type CheckedAccess, checkAccess } from './options.ts'
import type { DeriveKey } from './password-hash.ts'
import { ShareLinks, type ShareStore } from './share-links.ts'

export type { Gate } from './gate.ts'
export type { KnockingVisitor } from './knock/visitor.ts'
export { SHARES_MAX } from './limits.ts'
export { checkAccess } from './options.ts'
export { type DeriveKey, SCRYPT, storedPassword } from './password-hash.ts'
export type { ShareStore, StoredShare } from './share-links.ts'
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
 * @throws SvcError `invalid_option` or `oidc_unavailable`
 */
export async function guardedSite(
  options: SiteOptions,
  { access, visitorAddress }: Guarded,
  derive: DeriveKey | undefined,
): Promise<SiteOptions> {
  if (options.cache)
    throw new SvcError(
      'invalid_option',
      'access and cache exclude each other: the relay gives its copy of the files to everybody',
    )
  if (visitorAddress === false) refuseWithoutAddress(access)
  const checked = checkAccess(access, derive !== undefined)
  const parts = await partsOf(checked, undefined)
  const gate = new Gate(checked, derive, parts)
  const { knock } = parts
  const guarded: SiteOptions = {
    ...options,
    visitorAddress: visitorAddress ?? true,
    signal: AbortSignal.any([gate.closed, ...(options.signal ? [options.signal] : [])]),
    fetch: gate.before(options.fetch),
    onSite: (site) => options.onSite?.(gate.attach(site)),
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
 * @param store keeps the share links; without one they live in memory
 * @throws SvcError `invalid_option` or `oidc_unavailable`, or the error of the store
 */
export async function openGate(
  access: AccessOptions,
  derive: DeriveKey | undefined,
  store?: ShareStore,
): Promise<Gate> {
  const checked = checkAccess(access, derive !== undefined)
  return new Gate(checked, derive, await partsOf(checked, store))
}

/** @throws SvcError `oidc_unavailable`, or the error of the store */
async function partsOf({ knock, oidc }: CheckedAccess, store: ShareStore | undefined): Promise<GateParts> {
  return {
    shares: await ShareLinks.open(store),
    knock: knock ? await import('./knock/index.ts') : undefined,
    oidc: oidc && (await (await import('./oidc/index.ts')).OidcSignIn.open(oidc)),
  }
}
