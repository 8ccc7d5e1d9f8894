// The keys of sites' own certificates in a real browser's IndexedDB.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadStoredKey } from '../src/site-keys.ts'

const SITE = { relay: 'relay.example', name: 'demo', address: `0x${'0'.repeat(40)}` }
const DATABASE = 'svc-certificates'
const CHAIN = [Uint8Array.of(0x30, 1, 2), Uint8Array.of(0x30, 3)]
const HOUR_MS = 3_600_000

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

async function keptIds(): Promise<IDBValidKey[]> {
  const database = await done(indexedDB.open(DATABASE))
  const ids = await done(database.transaction('site').objectStore('site').getAllKeys())
  database.close()
  return ids
}

beforeEach(async () => {
  await done(indexedDB.deleteDatabase(DATABASE))
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('a key', () => {
  it('is made on first use and is the same from then on, with the chain that was kept last', async () => {
    const { key, chain, save } = await loadStoredKey(SITE)
    expect(chain).toBeUndefined()
    await save(CHAIN, Date.now() + HOUR_MS)
    const again = await loadStoredKey(SITE)
    expect(again.key.publicKey).toEqual(key.publicKey)
    expect(again.chain).toEqual(CHAIN)
    await again.save(CHAIN.slice(1), Date.now() + HOUR_MS)
    expect((await loadStoredKey(SITE)).chain).toEqual(CHAIN.slice(1))
  })

  it('is made once, however many pages ask at once', async () => {
    const loaded = await Promise.all(Array.from({ length: 20 }, () => loadStoredKey(SITE)))
    for (const { key } of loaded) expect(key.publicKey).toEqual(loaded[0]!.key.publicKey)
  })

  it('signs after it was kept', async () => {
    await loadStoredKey(SITE)
    const { key } = await loadStoredKey(SITE)
    const [first, length] = await key.sign(Uint8Array.of(1, 2, 3))
    expect(first).toBe(0x30)
    expect(length).toBeGreaterThan(60)
  })

  it('is one for each name, identity and relay', async () => {
    const sites = [
      SITE,
      { ...SITE, name: 'other' },
      { ...SITE, relay: 'relay.example:8443' },
      { ...SITE, address: `0x${'1'.repeat(40)}` },
    ]
    const keys = await Promise.all(
      sites.map(async (site) => (await loadStoredKey(site)).key.publicKey.join()),
    )
    expect(new Set(keys).size).toBe(sites.length)
    expect(await keptIds()).toHaveLength(sites.length)
  })
})

describe('what is left of other sites', () => {
  it('is deleted with the next new key once it has expired, or a day after it got no certificate', async () => {
    const now = Date.now()
    vi.useFakeTimers({ now, toFake: ['Date'] })
    await loadStoredKey({ ...SITE, name: 'unused' })
    await (await loadStoredKey({ ...SITE, name: 'short' })).save(CHAIN, now + HOUR_MS)
    await (await loadStoredKey({ ...SITE, name: 'long' })).save(CHAIN, now + 48 * HOUR_MS)
    vi.setSystemTime(now + 24 * HOUR_MS - 1)
    await loadStoredKey({ ...SITE, name: 'first' })
    expect((await keptIds()).map((id) => String(id).split('-')[0])).toEqual(['first', 'long', 'unused'])
    vi.setSystemTime(now + 24 * HOUR_MS)
    await loadStoredKey({ ...SITE, name: 'second' })
    expect((await keptIds()).map((id) => String(id).split('-')[0])).toEqual(['first', 'long', 'second'])
  })
})

it('lives as long as the page where there is no storage', async () => {
  vi.spyOn(indexedDB, 'open').mockImplementation(() => {
    throw new DOMException('no storage here', 'SecurityError')
  })
  const one = await loadStoredKey(SITE)
  await one.save(CHAIN, Date.now() + HOUR_MS)
  const other = await loadStoredKey(SITE)
  expect(other.key.publicKey).not.toEqual(one.key.publicKey)
  expect(other.chain).toBeUndefined()
})
