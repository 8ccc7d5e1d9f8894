// The file with the key and the chain of a site's own certificate: private, whole, and the same for every process.

import { createPublicKey, verify, X509Certificate } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { siteKeysBeside, siteKeysInMemory } from '../../src/identity/site-keys.ts'

const SITE = { relay: 'relay.example:8443', name: 'demo', address: `0x${'0'.repeat(40)}` }
const FILE = 'me-demo@relay.example_8443.pem'
const LEAF = new Uint8Array(new X509Certificate(CERTIFICATE_PEM).raw)
const CONTENT = new TextEncoder().encode('content')
let folder: string
let path: string
const load = () => siteKeysBeside(join(folder, 'me.json')).load(SITE)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-site-keys-'))
  path = join(folder, FILE)
})
afterEach(() => rm(folder, { recursive: true }))

describe('a key that is not there', () => {
  it('is made for its owner only, signs, and is the same from then on', async () => {
    const { key, chain } = await load()
    expect(chain).toBeUndefined()
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const publicKey = createPublicKey({ key: Buffer.from(key.publicKey), format: 'der', type: 'spki' })
    expect(publicKey.asymmetricKeyDetails).toMatchObject({ namedCurve: 'prime256v1' })
    expect(verify('sha256', CONTENT, publicKey, await key.sign(CONTENT))).toBe(true)
    expect((await load()).key.publicKey).toEqual(key.publicKey)
    expect(await readdir(folder)).toEqual([FILE])
  })

  it('is made once, however many ask at once', async () => {
    const loaded = await Promise.all(Array.from({ length: 20 }, load))
    for (const { key } of loaded) expect(key.publicKey).toEqual(loaded[0]!.key.publicKey)
    expect(await readdir(folder)).toEqual([FILE])
  })

  it('is one for each name, relay and identity file', async () => {
    const { key } = await load()
    const others = await Promise.all([
      siteKeysBeside(join(folder, 'me.json')).load({ ...SITE, name: 'other' }),
      siteKeysBeside(join(folder, 'me.json')).load({ ...SITE, relay: 'relay.example' }),
      siteKeysBeside(join(folder, 'you.json')).load(SITE),
    ])
    for (const other of others) expect(other.key.publicKey).not.toEqual(key.publicKey)
    expect(await readdir(folder)).toHaveLength(4)
  })
})

describe('a chain', () => {
  it('is kept with its key, in place of the last one', async () => {
    const { key, save } = await load()
    await save([LEAF, LEAF], 0)
    expect((await load()).chain).toEqual([LEAF, LEAF])
    await save([LEAF], 0)
    const again = await load()
    expect(again.chain).toEqual([LEAF])
    expect(again.key.publicKey).toEqual(key.publicKey)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await readFile(path, 'utf8')).toContain(CERTIFICATE_PEM)
    expect(await readdir(folder)).toEqual([FILE])
  })
})

describe('a file that is there', () => {
  it('is refused when others may read it', async () => {
    await load()
    await chmod(path, 0o640)
    await expect(load()).rejects.toMatchObject({
      code: 'certificate_unavailable',
      message: `${path} is open to others: run chmod 600 on it`,
    })
  })

  it('is refused without a key, and left as it is', async () => {
    for (const text of ['', 'hello', CERTIFICATE_PEM]) {
      await writeFile(path, text, { mode: 0o600 })
      await expect(load()).rejects.toMatchObject({ code: 'certificate_unavailable' })
      expect(await readFile(path, 'utf8')).toBe(text)
    }
  })

  it('says what is wrong when it cannot be read', async () => {
    await rm(folder, { recursive: true })
    await writeFile(folder, '')
    await expect(load()).rejects.toMatchObject({
      code: 'certificate_unavailable',
      message: `no key from ${path}`,
    })
  })
})

it('an identity that is in no file leaves no file', async () => {
  const [one, other] = await Promise.all([1, 2].map(() => siteKeysInMemory().load(SITE)))
  expect(one!.key.publicKey).not.toEqual(other!.key.publicKey)
  await one!.save([LEAF], 0)
  expect(await readdir(folder)).toEqual([])
})
