// The relay's identity file: made once, read again, never overwritten.

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadIdentity } from '../../src/auth/relay-identity.ts'

// The well-known development mnemonic and the address of its first account.
const MNEMONIC = 'test test test test test test test test test test test junk'
const FIRST_ADDRESS = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const SECOND_ADDRESS = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

describe('loadIdentity', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-identity-'))
  })
  afterEach(() => rm(directory, { recursive: true }))
  const file = () => join(directory, 'identity.json')

  test('a first start makes a key that nobody else may read; the next one reads it', async () => {
    const { address } = await loadIdentity(directory)
    expect((await stat(file())).mode & 0o777).toBe(0o600)
    expect(await loadIdentity(directory)).toMatchObject({ address })
  })

  test.each([
    [{ mnemonic: MNEMONIC }, FIRST_ADDRESS],
    [{ mnemonic: MNEMONIC, derivation_path: "m/44'/60'/0'/0/1" }, SECOND_ADDRESS],
    [{ private_key: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80' }, FIRST_ADDRESS],
    [{ private_key: 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80' }, FIRST_ADDRESS],
  ])('%j', async (content, address) => {
    await writeFile(file(), JSON.stringify(content), { mode: 0o600 })
    expect(await loadIdentity(directory)).toMatchObject({ address })
  })

  test('a mnemonic with a word that was mistyped is no other identity (BIP 39)', async () => {
    const mnemonic = MNEMONIC.replace('junk', 'test')
    await writeFile(file(), JSON.stringify({ mnemonic }), { mode: 0o600 })
    const refused = loadIdentity(directory)
    await expect(refused).rejects.toThrow(/identity\.json: mnemonic or derivation_path is not valid$/)
  })

  test.each(['{', '{}', '{"private_key":"12"}', '{"mnemonic":"test test"}', 'null'])(
    '%s is refused and kept',
    async (content) => {
      await writeFile(file(), content, { mode: 0o600 })
      await expect(loadIdentity(directory)).rejects.toThrow(/identity\.json: /)
      expect(await readFile(file(), 'utf8')).toBe(content)
    },
  )
})
