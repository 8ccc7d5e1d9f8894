// Keeps a name and an identity for each example and each of its tabs, which tell the sites of this web origin apart.
import { friendlyName, secretName } from '@svc/relay-web/common/random-name.ts'
import { tabNumber } from '@svc/relay-web/common/tab-number.ts'

export interface SiteNames {
  /** The name of the stored identity, as the option `identity` of `publish` takes it. */
  identity: string
  /** The site's name: the one that was used last, else a new one. */
  name: string
  /** Remembers the name for the next time. */
  keep(name: string): void
}

/** Makes friendly names that outlive the tab. */
export async function friendlyNames(example: string): Promise<SiteNames> {
  return namesOf(example, localStorage, friendlyName)
}

/** Makes names for sites whose address gives access: a name that cannot be guessed, and that ends with the tab. */
export async function secretNames(example: string, prefix: string): Promise<SiteNames> {
  return namesOf(example, sessionStorage, () => secretName(prefix))
}

/** Makes the names of an example of which there is one, however many tabs show it. */
export function sharedNames(example: string): SiteNames {
  return storedNames(`svc-example-${example}`, localStorage, friendlyName)
}

async function namesOf(example: string, storage: Storage, create: () => string): Promise<SiteNames> {
  const number = await tabNumber(`example-${example}`)
  return storedNames(`svc-example-${example}-${number}`, storage, create)
}

function storedNames(identity: string, storage: Storage, create: () => string): SiteNames {
  const name = storage.getItem(identity) ?? create()
  const keep = (name: string): void => storage.setItem(identity, name)
  keep(name)
  return { identity, name, keep }
}
