// A store of sites' keys that holds one entry, in memory.

import type { SiteKeyStore, StoredSiteKey } from '../../src/certificate/site-key.ts'
import { createWebCryptoKey, siteKeyOf } from '../../src/certificate/web-crypto-key.ts'

export interface OneKeyStore extends SiteKeyStore {
  /** What is kept, and what `load` gives. */
  kept: { -readonly [Field in keyof StoredSiteKey]: StoredSiteKey[Field] }
  /** The end of the validity that was told with the chain. */
  expiresAt: number | undefined
}

export async function oneKeyStore(): Promise<OneKeyStore> {
  const store: OneKeyStore = {
    expiresAt: undefined,
    kept: {
      key: siteKeyOf(await createWebCryptoKey()),
      chain: undefined,
      save: async (chain, expiresAt) => {
        store.kept.chain = chain
        store.expiresAt = expiresAt
      },
    },
    load: async () => store.kept,
  }
  return store
}
