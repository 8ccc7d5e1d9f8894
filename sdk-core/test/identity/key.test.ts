// Identities: published vectors, and viem as the judge of what a relay will make of a signature.

import { hexToBytes, recoverMessageAddress, sha256, stringToBytes } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { createPrivateKey, identityFromKey, signerOf } from '../../src/identity/key.ts'

/** Example account of the web3.js documentation. */
const KEY = '0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318'

describe('address (EIP-55)', () => {
  it.each([
    [
      '0x0000000000000000000000000000000000000000000000000000000000000001',
      '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
    ],
    [
      '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
      '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    ],
    [KEY, '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23'],
  ] as const)('of key %s', (key, address) => {
    expect(identityFromKey(hexToBytes(key)).address).toBe(address)
  })
})

describe('personalSign (EIP-191)', () => {
  it('makes the published signature of "Some data"', () => {
    expect(identityFromKey(hexToBytes(KEY)).personalSign('Some data')).toBe(
      '0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c',
    )
  })

  it.each(['', 'line\nline', 'ünïcödé ☃', 'x'.repeat(3000)])('agrees with viem on %j', async (message) => {
    const key = createPrivateKey()
    const account = privateKeyToAccount(`0x${Buffer.from(key).toString('hex')}`)
    const identity = identityFromKey(key)
    const signature = identity.personalSign(message)
    expect(signature).toBe(await account.signMessage({ message }))
    expect(await recoverMessageAddress({ message, signature: signature as `0x${string}` })).toBe(
      identity.address,
    )
  })
})

describe('identityFromKey', () => {
  const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
  it.each([
    ['31 bytes', new Uint8Array(31).fill(1)],
    ['33 bytes', new Uint8Array(33).fill(1)],
    ['zero', new Uint8Array(32)],
    ['the order of the curve', hexToBytes(`0x${order}`)],
    ['a string', '0x01' as unknown as Uint8Array],
  ])('refuses %s', (_, key) => {
    expect(() => identityFromKey(key)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  })

  it('keeps its own copy of the key', () => {
    const key = hexToBytes(KEY)
    const identity = identityFromKey(key)
    const before = identity.personalSign('a')
    key.fill(7)
    expect(identity.personalSign('a')).toBe(before)
  })
})

describe('signerOf', () => {
  const TEXT = '{"a":1}'
  const made = async (text: string): Promise<Uint8Array> =>
    hexToBytes(await sign({ hash: sha256(stringToBytes(text)), privateKey: KEY, to: 'hex' }))

  it('finds the address, with and without 27 in the recovery bit', async () => {
    for (const text of [TEXT, 'another', 'a third, for the other recovery bit', '4']) {
      const signature = await made(text)
      expect(signerOf(text, signature)).toBe(identityFromKey(hexToBytes(KEY)).address)
      signature[64]! -= 27
      expect(signerOf(text, signature)).toBe(identityFromKey(hexToBytes(KEY)).address)
    }
  })

  it('finds another one for another text, and none in what is no signature', async () => {
    expect(signerOf('{"a":2}', await made(TEXT))).not.toBe(identityFromKey(hexToBytes(KEY)).address)
    expect(signerOf(TEXT, new Uint8Array(65))).toBeUndefined()
    expect(signerOf(TEXT, new Uint8Array(3))).toBeUndefined()
    expect(signerOf(TEXT, new Uint8Array(65).fill(0xff))).toBeUndefined()
  })
})
