// Chooses the name and the identity of this tab's site: what the user wrote, or one by chance for each kind of site and each tab.
import { friendlyName, secretName } from '../../common/random-name.ts'
import { patienceMs, requestLock, tabNumber } from '../../common/tab-number.ts'
import { LANDING } from '../../texts/landing.ts'
import type { Kind } from './demo.ts'

/** Bytes of a secp256k1 private key. */
const KEY_BYTES = 32
/** The key of an identity that ends with the tab. */
const KEY_OF_TAB = 'svc-landing-key'
/** What the names of those kinds begin with whose address grants access. */
const SECRET_PREFIXES: Partial<Record<Kind, string>> = { folder: 'share', webhook: 'hook', tools: 'tools' }

export interface SiteNames {
  /** The name of the stored identity, or a private key: the option `identity` of `publish`. */
  identity: string | Uint8Array
  /** Lease name of the site. */
  name: string
}

export interface WantedName {
  /** Empty for one by chance. */
  name: string
  /** This browser keeps the identity, so that nobody else gets the name. */
  isKept: boolean
}

/**
 * The names by chance of kinds whose addresses grant access are secret, and last as long as the tab.
 * @param isResuming the page before a reload may still have the name
 * @throws an error with the code `name_in_other_tab`
 */
export async function siteNames(
  kind: Kind,
  { name, isKept }: WantedName,
  isResuming: boolean,
): Promise<SiteNames> {
  if (name !== '') {
    await holdName(name, isResuming)
    if (isKept) localStorage.setItem(keyOfOwn(name), 'yes')
    // A name that this browser has kept is its own for as long as the relay reserves it, and no stranger's.
    const isOwn = localStorage.getItem(keyOfOwn(name)) !== null
    return { name, identity: isOwn ? `svc-landing-name-${name}` : keyOfTab() }
  }
  const identity = `svc-landing-${kind}-${await tabNumber(`landing-${kind}`)}`
  const prefix = SECRET_PREFIXES[kind]
  const byChance =
    prefix !== undefined
      ? stored(sessionStorage, identity, () => secretName(prefix))
      : stored(isKept ? localStorage : sessionStorage, identity, friendlyName)
  return { name: byChance, identity: isKept ? identity : keyOfTab() }
}

/** Under this key the browser has noted that it has the identity of a name. */
const keyOfOwn = (name: string): string => `svc-landing-own-${name}`

let free = (): void => {}

/** Frees the name that this tab holds: another tab may take it. */
export function freeName(): void {
  free()
}

/** Two tabs with the same identity would take the name from each other. */
async function holdName(name: string, isResuming: boolean): Promise<void> {
  free()
  const { promise, resolve } = Promise.withResolvers<void>()
  const options = isResuming ? { signal: AbortSignal.timeout(patienceMs()) } : { ifAvailable: true }
  if (!(await requestLock(`svc-landing-name-${name}`, options, promise)))
    throw Object.assign(new Error(LANDING.errors.name_in_other_tab), { code: 'name_in_other_tab' })
  free = resolve
}

/** Returns the stored name, so that the address survives a reload, or a new one. */
function stored(storage: Storage, key: string, create: () => string): string {
  const name = storage.getItem(key) ?? create()
  storage.setItem(key, name)
  return name
}

/** The key survives a reload, and ends with the tab. */
function keyOfTab(): Uint8Array {
  const hex = stored(sessionStorage, KEY_OF_TAB, () =>
    Array.from(crypto.getRandomValues(new Uint8Array(KEY_BYTES)), (byte) =>
      byte.toString(16).padStart(2, '0'),
    ).join(''),
  )
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))
}
