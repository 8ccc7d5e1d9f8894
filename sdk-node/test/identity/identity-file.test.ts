// The identity file: created once and privately, refused when others can read it.

import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadIdentityFile } from '../../src/identity/identity-file.ts'

const KEY = `0x${'0a'.repeat(32)}`
const VALID = 'test test test test test test test test test test test junk'
let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-identity-'))
  path = join(folder, 'identity.json')
})
afterEach(() => rm(folder, { recursive: true }))

describe('a file that is not there', () => {
  it('is created for its owner only, and is the same from then on', async () => {
    const key = await loadIdentityFile(path)
    expect(key).toHaveLength(32)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      private_key: `0x${Buffer.from(key).toString('hex')}`,
    })
    expect(await loadIdentityFile(path)).toEqual(key)
    expect(await readdir(folder)).toEqual(['identity.json'])
  })

  it('is created once, however many start at once, and its folders too', async () => {
    const deep = join(folder, 'a', 'b', 'identity.json')
    const keys = await Promise.all(Array.from({ length: 20 }, () => loadIdentityFile(deep)))
    for (const key of keys) expect(key).toEqual(keys[0])
    expect(await readdir(join(folder, 'a', 'b'))).toEqual(['identity.json'])
  })
})

describe('a file that is there', () => {
  it.each([KEY, KEY.slice(2), KEY.toUpperCase().replace('0X', '0x')])('is read: %s', async (key) => {
    await writeFile(path, JSON.stringify({ private_key: key }), { mode: 0o600 })
    expect(await loadIdentityFile(path)).toEqual(new Uint8Array(32).fill(10))
  })

  it('is read with the byte-order mark of an editor', async () => {
    await writeFile(path, `\uFEFF{"private_key": "${KEY}"}`, { mode: 0o600 })
    expect(await loadIdentityFile(path)).toEqual(new Uint8Array(32).fill(10))
  })

  it("is read as a mnemonic, at the path of a wallet's first account or at another", async () => {
    const mnemonic = VALID
    const keyAt = async (content: object): Promise<string> => {
      await writeFile(path, JSON.stringify(content), { mode: 0o600 })
      return Buffer.from(await loadIdentityFile(path)).toString('hex')
    }
    // the well-known accounts of development chains
    const first = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
    expect(await keyAt({ mnemonic })).toBe(first)
    expect(await keyAt({ mnemonic: ` ${mnemonic.replaceAll(' ', '\n')} ` })).toBe(first)
    // the first vector of BIP 39 with 24 words
    expect(await keyAt({ mnemonic: `${'abandon '.repeat(23)}art` })).toMatch(/^[0-9a-f]{64}$/)
    expect(await keyAt({ mnemonic, derivation_path: "m/44'/60'/0'/0/0" })).toBe(first)
    expect(await keyAt({ mnemonic, derivation_path: "m/44'/60'/0'/0/1" })).toBe(
      '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
    )
  })

  it.each([0o640, 0o604, 0o660, 0o601])('is refused with mode %o', async (mode) => {
    await writeFile(path, JSON.stringify({ private_key: KEY }))
    await chmod(path, mode)
    await expect(loadIdentityFile(path)).rejects.toMatchObject({
      code: 'identity_unavailable',
      message: expect.stringContaining('chmod 600'),
    })
  })

  it.each([
    ['not JSON', `private_key ${KEY}`],
    ['null', 'null'],
    ['without a key', '{}'],
    ['with a short key', JSON.stringify({ private_key: KEY.slice(0, -1) })],
    ['with a key that is zero', JSON.stringify({ private_key: `0x${'0'.repeat(64)}` })],
    ['with a key that begins twice', JSON.stringify({ private_key: `0x${KEY.slice(0, -2)}` })],
    ['with a number', '{"private_key": 7}'],
    ['with a mnemonic of a wrong checksum', JSON.stringify({ mnemonic: VALID.replace('junk', 'test') })],
    ['with invalid words', JSON.stringify({ mnemonic: VALID.replace('junk', '0a0a') })],
    ['with too few words', JSON.stringify({ mnemonic: 'test junk' })],
    ['with a mnemonic that is a number', '{"mnemonic": 7}'],
    ['with an invalid path', JSON.stringify({ mnemonic: VALID, derivation_path: '0a0a' })],
    [
      'with a key that is broken beside a mnemonic',
      JSON.stringify({ private_key: '0x0a0a', mnemonic: VALID }),
    ],
  ])('is refused when it is %s, unquoted and unchanged', async (_, content) => {
    await writeFile(path, content, { mode: 0o600 })
    const error = await loadIdentityFile(path).catch((caught) => caught)
    expect(error.code).toBe('identity_unavailable')
    expect(error.message).not.toContain('0a0a')
    expect(error.cause).toBeUndefined()
    expect(await readFile(path, 'utf8')).toBe(content)
  })

  it('is an error with its cause when it cannot be read', async () => {
    await expect(loadIdentityFile(folder)).rejects.toMatchObject({
      code: 'identity_unavailable',
      cause: expect.objectContaining({ code: 'EISDIR' }),
    })
  })
})
