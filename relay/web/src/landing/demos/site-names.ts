// Chooses the name and identity of each kind of demo site, for each tab.
import { friendlyName, secretName } from '../../common/random-name.ts'
import { tabNumber } from '../../common/tab-number.ts'
import type { Kind } from './demo.ts'

export interface SiteNames {
  /** Name of the stored identity: the option `identity` of `publish`. */
  identity: string
  /** Lease name of the site. */
  name: string
}

/** The note has a friendly name. The addresses of the other two grant access, so their names are secret. */
export async function siteNames(kind: Kind): Promise<SiteNames> {
  const identity = `svc-landing-${kind}-${await tabNumber(`landing-${kind}`)}`
  return kind === 'note'
    ? { identity, name: stored(localStorage, identity, friendlyName) }
    : {
        identity,
        name: stored(sessionStorage, identity, () => secretName(kind === 'folder' ? 'share' : 'hook')),
      }
}

/** Returns the stored name, so that the address survives a reload, or a new one. */
function stored(storage: Storage, key: string, create: () => string): string {
  const name = storage.getItem(key) ?? create()
  storage.setItem(key, name)
  return name
}
