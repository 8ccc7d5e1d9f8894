// Stores of domains in memory, whose entries outlive a site, and whose disk may be full.
import { createWebCryptoKey, siteKeyOf } from '../../src/certificate/web-crypto-key.ts'
import type { DomainEntry, DomainStore } from '../../src/domains/domain-store.ts'

export interface MemoryStore extends DomainStore {
  entries: Map<string, DomainEntry & { text: string | undefined }>
  isFull: boolean
}

export function memoryStore(): MemoryStore {
  const last = new Map<string, Promise<unknown>>()
  const store: MemoryStore = {
    entries: new Map(),
    isFull: false,
    load: async (id) => {
      const kept = store.entries.get(id)
      if (kept) return { ...kept }
      const entry = {
        key: siteKeyOf(await createWebCryptoKey()),
        text: undefined as string | undefined,
        where: `memory ${id}`,
        save: async (text: string) => {
          if (store.isFull) throw new Error('the disk is full')
          entry.text = text
        },
      }
      store.entries.set(id, entry)
      return { ...entry }
    },
    lock: (id, task) => {
      const done = (last.get(id) ?? Promise.resolve()).then(task)
      last.set(
        id,
        done.catch(() => {}),
      )
      return done
    },
  }
  return store
}
