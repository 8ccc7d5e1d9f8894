// Kept chains of sites: they outlive the process and damage, are bounded, and go when their site stays away.

import { X509Certificate } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createCa, createLeafFor } from '../../../src/core/certificates/development-ca.ts'
import { createLog } from '../../../src/core/log/log.ts'
import type { CertificateRequest } from '../../../src/features/site-certificates/certificate-request.ts'
import { ChainStore } from '../../../src/features/site-certificates/chain-store.ts'
import {
  SITE_AWAY_MAX_MS,
  SITE_CHAIN_MAX_BYTES,
  SITE_CHAINS_UNWRITTEN_MAX,
  SITE_SWEEP_INTERVAL_MS,
} from '../../../src/features/site-certificates/limits.ts'
import { newPublicKey } from '../../support/site-orders.ts'
import { collectingLog } from '../acme/acme-relay.ts'

const DAY_MS = 86_400_000
const ACME_DIRECTORY = 'https://ca.example/dir'
const ca = createCa('relay.example.com')
const key = (n: number): string => `demo${n}:0x${n.toString(16).padStart(40, '0')}`
const fileOf = (n: number): string => `${key(n).replace(':', '@')}.pem`
let directory: string
let folder: string
let store: ChainStore

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-chain-store-'))
  folder = join(directory, 'sites')
  store = newStore()
})
afterEach(async () => {
  vi.useRealTimers()
  await store.close()
  await rm(directory, { recursive: true })
})

function newStore(max?: number): ChainStore {
  return new ChainStore(directory, ACME_DIRECTORY, createLog('silent'), max)
}

/** Resolves when the next store has read what the one before it left. */
async function restart(): Promise<void> {
  await store.close()
  store = newStore()
  await store.find(key(0), request())
}

const request = (n = 0): CertificateRequest => ({
  der: new Uint8Array(),
  publicKey: newPublicKey(),
  names: [`demo${n}.relay.example.com`],
})
const chainFor = ({ publicKey, names }: CertificateRequest): string => createLeafFor(ca, publicKey, names)

describe('a chain', () => {
  test('is kept for its identity over a restart, in a file that only its owner may read', async () => {
    const wanted = request()
    const chain = chainFor(wanted)
    await store.put(key(0), chain)
    expect(await store.find(key(0), wanted)).toBe(chain)
    await restart()
    expect(await store.find(key(0), wanted)).toBe(chain)
    expect(await readdir(folder)).toEqual([fileOf(0)])
    expect((await stat(join(folder, fileOf(0)))).mode & 0o777).toBe(0o600)
    expect(await readFile(join(folder, fileOf(0)), 'utf8')).not.toContain('PRIVATE')
  })

  test('is found with its key and its names alone', async () => {
    const wanted = request()
    await store.put(key(0), chainFor(wanted))
    expect(await store.find(key(0), { ...wanted, publicKey: newPublicKey() })).toBeUndefined()
    const names = ['other.relay.example.com']
    expect(await store.find(key(0), { ...wanted, names })).toBeUndefined()
    expect(await store.find(key(0), { ...wanted, names: [...wanted.names, ...names] })).toBeUndefined()
    expect(await store.find(key(1), wanted)).toBeUndefined()
    expect([store.hadNames(key(0), wanted.names), store.hadNames(key(0), names)]).toEqual([true, false])
  })

  test('is removed at a start with another ACME directory, and does not count as had', async () => {
    const wanted = request()
    await store.put(key(0), chainFor(wanted))
    await store.close()
    const { log, lines } = collectingLog()
    store = new ChainStore(directory, 'https://staging.example/dir', log)
    expect(await store.find(key(0), wanted)).toBeUndefined()
    expect(store.hadNames(key(0), wanted.names)).toBe(false)
    expect(await readdir(folder)).toEqual([])
    expect(lines).toMatchObject([
      { count: 1, msg: 'kept certificates of sites come from another ACME directory: removed' },
    ])
    const next = chainFor(wanted)
    await store.put(key(0), next)
    expect(await store.find(key(0), wanted)).toBe(next)
  })

  test('is found no more when a third of its validity is left', async () => {
    const wanted = request()
    await store.put(key(0), chainFor(wanted))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 200 * DAY_MS })
    expect(await store.find(key(0), wanted)).toBeDefined()
    vi.setSystemTime(Date.now() + 65 * DAY_MS)
    expect(await store.find(key(0), wanted)).toBeUndefined()
    expect(store.has(key(0))).toBe(true)
  })

  test.each(['../../etc/passwd', 'demo:0x00', 'demo', `de/mo:0x${'0'.repeat(40)}`])(
    'of the identity key %s is not written',
    async (bad) => {
      await store.put(bad, chainFor(request()))
      expect(await readdir(directory)).toEqual([])
    },
  )
})

test('whether a certificate is the kept one of an identity', async () => {
  const wanted = request()
  const chain = chainFor(wanted)
  await store.put(key(0), chain)
  await store.put(key(1), chainFor(request(1)))
  const leaf = new X509Certificate(chain).raw
  expect([await store.holds(key(0), leaf), await store.holds(key(1), leaf)]).toEqual([true, false])
  expect(await store.holds(key(2), leaf)).toBe(false)
  // Of the same key and names, but not this one.
  expect(await store.holds(key(0), new X509Certificate(chainFor(wanted)).raw)).toBe(false)
})

describe('at a start', () => {
  const fileAt = (n: number): string => join(folder, fileOf(n))
  const left = async (): Promise<string[]> => {
    await restart()
    await store.close()
    return (await readdir(folder)).sort()
  }

  test.each<[string, string | Buffer]>([
    ['cut short', chainFor(request()).slice(0, 200)],
    ['empty', ''],
    ['random', Buffer.alloc(2_000, 0xa5)],
    ['too long', chainFor(request()) + ' '.repeat(SITE_CHAIN_MAX_BYTES)],
    ['PEM without DER', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ])('a file that is %s is removed, and the others stay', async (_, content) => {
    await store.put(key(1), chainFor(request(1)))
    await writeFile(fileAt(2), content)
    expect(await left()).toEqual([fileOf(1)])
  })

  test('a file that was damaged meanwhile is no certificate, and the next one replaces it', async () => {
    const wanted = request()
    await store.put(key(0), chainFor(wanted))
    await writeFile(fileAt(0), 'damaged')
    expect(await store.find(key(0), wanted)).toBeUndefined()
    await store.put(key(0), chainFor(wanted))
    expect(await store.find(key(0), wanted)).toBeDefined()
  })

  test('a temporary file goes; files and folders of others stay', async () => {
    await mkdir(folder)
    for (const name of ['notes.txt', 'demo@0x1.pem', `${fileOf(3)}.svc-tmp`])
      await writeFile(join(folder, name), '')
    await mkdir(fileAt(4))
    expect(await left()).toEqual(['demo@0x1.pem', fileOf(4), 'notes.txt'].sort())
  })

  test('a file in place of the folder stops neither the start nor a certificate', async () => {
    await store.close()
    await writeFile(folder, '')
    store = newStore()
    const wanted = request()
    const chain = chainFor(wanted)
    await store.put(key(0), chain)
    expect(await store.find(key(0), wanted)).toBe(chain)
  })
})

describe('a site that stays away', () => {
  test('for 30 days loses its chain, and one that is there does not', async () => {
    await store.put(key(0), chainFor(request(0)))
    await store.put(key(1), chainFor(request(1)))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + SITE_AWAY_MAX_MS - DAY_MS })
    store.seen(key(1))
    await store.sweep()
    expect(store.summary.count).toBe(2)
    vi.setSystemTime(Date.now() + 2 * DAY_MS)
    await store.sweep()
    expect([store.has(key(0)), store.has(key(1))]).toEqual([false, true])
    await restart()
    await store.find(key(1), request(1))
    expect(store.has(key(1))).toBe(true)
    expect(await readdir(folder)).toEqual([fileOf(1)])
  })

  test('loses it at the next start as well', async () => {
    await store.put(key(0), chainFor(request()))
    const longAgo = new Date(Date.now() - SITE_AWAY_MAX_MS - 1000)
    await utimes(join(folder, fileOf(0)), longAgo, longAgo)
    await restart()
    await store.close()
    expect(await readdir(folder)).toEqual([])
  })

  test('was last seen when its file says so, which is noted a few times a day', async () => {
    await store.put(key(0), chainFor(request()))
    const written = (await stat(join(folder, fileOf(0)))).mtimeMs
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + SITE_SWEEP_INTERVAL_MS })
    store.seen(key(0))
    await store.sweep()
    expect((await stat(join(folder, fileOf(0)))).mtimeMs).toBeGreaterThan(
      written + SITE_SWEEP_INTERVAL_MS / 2,
    )
  })

  test('and whose certificate has ended goes at once', async () => {
    await store.put(key(0), chainFor(request()))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 398 * DAY_MS })
    store.seen(key(0))
    await store.sweep()
    expect([store.summary.count, await readdir(folder)]).toEqual([0, []])
  })
})

describe('what cannot be written', () => {
  test('is served from memory, so many chains at once', async () => {
    await store.close()
    await writeFile(folder, '')
    store = newStore()
    const wanted = Array.from({ length: SITE_CHAINS_UNWRITTEN_MAX + 1 }, (_, n) => request(n))
    for (const [n, one] of wanted.entries()) await store.put(key(n), chainFor(one))
    expect(await store.find(key(0), wanted[0]!)).toBeUndefined()
    expect(await store.find(key(1), wanted[1]!)).toBeDefined()
    await rm(folder)
    const chain = chainFor(wanted[1]!)
    await store.put(key(1), chain)
    expect(await readFile(join(folder, fileOf(1)), 'utf8')).toBe(
      `ACME directory: ${ACME_DIRECTORY}\n${chain}`,
    )
  })
})

test('a file that cannot be read stays, and another chain replaces it', async () => {
  await store.put(key(0), chainFor(request()))
  await store.close()
  await chmod(join(folder, fileOf(0)), 0)
  store = newStore()
  const wanted = request()
  await store.put(key(0), chainFor(wanted))
  expect(await store.find(key(0), wanted)).toBeDefined()
})

test('no more than a bounded number are kept: the site that was seen longest ago goes first', async () => {
  const max = 20
  await store.close()
  store = newStore(max)
  const one = chainFor(request())
  for (let n = 0; n < max; n++) await store.put(key(n), one)
  store.seen(key(0))
  await store.put(key(max), one)
  expect([store.summary.count, store.has(key(0)), store.has(key(1))]).toEqual([max, true, false])
  await store.close()
  expect(await readdir(folder)).toHaveLength(max)
  store = newStore(1)
  await store.find(key(0), request())
  await store.close()
  expect(await readdir(folder)).toHaveLength(1)
})
