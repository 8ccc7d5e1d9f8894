// The relay's identity: its file is made once, read again and never overwritten, and its signatures name it.

import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { descriptorTexts, type RelayDescriptor, verifyDescriptor } from '@svc/protocol'
import { privateKeyToAccount } from 'viem/accounts'
import { recoverAddress } from 'viem/utils'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { identityFromKey, signerOf } from '../../../sdk-core/src/identity/key.ts'
import { type Hex, recoverSigner } from '../../src/core/auth/ethereum-signature.ts'
import { loadIdentity, type RelayIdentity } from '../../src/core/auth/relay-identity.ts'

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

describe('recoverable signatures', () => {
  const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
  const DESCRIPTOR: RelayDescriptor = {
    address: FIRST_ADDRESS,
    version: '0.1.0',
    issued_at: '2026-01-02T03:04:05Z',
    expires_at: '2026-01-02T04:04:05Z',
    api_https_addr: 'https://relay.example',
    wireguard_public_key: '',
    wireguard_port: 0,
    supports_overlay: false,
    supports_udp: false,
    supports_tcp: true,
    active_connections: 0,
    tcp_bps: 0,
    signature: '',
  }
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()
  const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

  let identity: RelayIdentity
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-identity-'))
    await writeFile(join(directory, 'identity.json'), JSON.stringify({ private_key: KEY }), { mode: 0o600 })
    identity = await loadIdentity(directory)
  })
  afterEach(() => rm(directory, { recursive: true }))

  test('of a digest: 65 bytes from which two implementations recover the relay', async () => {
    const recoveries = new Set<number>()
    for (let at = 0; at < 16; at++) {
      const text = `descriptor ${at}`
      const signature = await identity.signDigest(sha256(text))
      expect(signature).toHaveLength(65)
      expect(2n * BigInt(hexOf(signature.subarray(32, 64)))).toBeLessThan(ORDER)
      const recovered = await recoverAddress({ hash: hexOf(sha256(text)), signature: hexOf(signature) })
      expect(recovered.toLowerCase()).toBe(FIRST_ADDRESS)
      expect(signerOf(text, signature)?.toLowerCase()).toBe(FIRST_ADDRESS)
      expect(signerOf(`${text}.`, signature)?.toLowerCase()).not.toBe(FIRST_ADDRESS)
      recoveries.add(signature[64]!)
    }
    expect(recoveries).toEqual(new Set([27, 28]))
  })

  test('of anything but 32 bytes is refused', async () => {
    await expect(identity.signDigest(new Uint8Array(31))).rejects.toThrow(RangeError)
    await expect(identity.signDigest(new Uint8Array(64))).rejects.toThrow(RangeError)
  })

  test('of a text is what personal_sign makes', async () => {
    const signature = await identity.personalSign('hello, wörld')
    expect(hexOf(signature)).toBe(await privateKeyToAccount(KEY).signMessage({ message: 'hello, wörld' }))
    expect(hexOf(signature)).toBe(
      identityFromKey(Buffer.from(KEY.slice(2), 'hex')).personalSign('hello, wörld'),
    )
    expect(recoverSigner('hello, wörld', hexOf(signature))).toBe(FIRST_ADDRESS)
  })

  test('make a descriptor that SDKs take', async () => {
    const signature = await identity.signDigest(sha256(descriptorTexts(DESCRIPTOR)[0]))
    const signed = { ...DESCRIPTOR, signature: Buffer.from(signature).toString('base64') }
    const now = Date.parse(DESCRIPTOR.issued_at)
    expect(await verifyDescriptor(signed, now, signerOf)).toEqual({ descriptor: signed })
    expect(await verifyDescriptor({ ...signed, tcp_bps: 1 }, now, signerOf)).toEqual({ fault: 'forged' })
  })
})
