// Who signed a descriptor: recovered once for each address, and checked against its key from then on.

import { beforeEach, expect, test, vi } from 'vitest'
import { recoverTextSigner } from '../../src/core/auth/ethereum-signature.ts'
import {
  DescriptorSignatures,
  type RecoverSigner,
} from '../../src/features/discovery/descriptor-signatures.ts'
import { inventRelay } from '../support/descriptors.ts'

const recover = vi.fn<RecoverSigner>(async (...signed) => recoverTextSigner(...signed))
let signatures: DescriptorSignatures
beforeEach(() => {
  recover.mockClear()
  signatures = new DescriptorSignatures(recover)
})

const ORIGIN = 'https://relay.example'
/** The first bytes of a compact signature: one that is not compact begins with one of them now and then, and has two readings. */
const COMPACT = [27, 28, 29, 30, 31, 32, 33, 34]
const forms = (signature: string): string[] => {
  const bytes = Buffer.from(signature, 'base64')
  return [signature, Buffer.concat([Uint8Array.of(bytes[64]! + 4), bytes.subarray(0, 64)]).toString('base64')]
}

test('the key of an address is recovered once, and later descriptors are checked against it, in both forms', async () => {
  let relay = inventRelay()
  const first = (): number =>
    Buffer.from(relay.describe(ORIGIN, { active_connections: 0 }).signature, 'base64')[0]!
  while (COMPACT.includes(first())) relay = inventRelay()
  for (let count = 0; count < 10; count++) {
    const descriptor = relay.describe(ORIGIN, { active_connections: count })
    for (const signature of forms(descriptor.signature))
      expect(await signatures.isGenuine({ ...descriptor, signature })).toBe(true)
  }
  expect(recover).toHaveBeenCalledTimes(1)
})

test('what is forged is refused, before the key is known and after', async () => {
  const [relay, other] = [inventRelay(), inventRelay()]
  const forged = [
    { ...relay.describe(ORIGIN), tcp_bps: 1 },
    { ...other.describe(ORIGIN), address: relay.address },
    { ...relay.describe(ORIGIN), signature: Buffer.alloc(65, 1).toString('base64') },
    { ...relay.describe(ORIGIN), signature: Buffer.alloc(65).toString('base64') },
  ]
  for (const one of forged) expect(await signatures.isGenuine(one)).toBe(false)
  expect(await signatures.isGenuine(relay.describe(ORIGIN))).toBe(true)
  for (const one of forged) expect(await signatures.isGenuine(one)).toBe(false)
  expect(await signatures.isGenuine(other.describe(ORIGIN))).toBe(true)
})

test('an address in another case has the same key', async () => {
  const relay = inventRelay()
  expect(await signatures.isGenuine(relay.describe(ORIGIN))).toBe(true)
  const address = `0x${relay.address.slice(2).toUpperCase()}`
  expect(await signatures.isGenuine(relay.describe(ORIGIN, { address }))).toBe(true)
  expect(recover).toHaveBeenCalledTimes(1)
})

test('1,024 keys are remembered; that which was used longest ago is forgotten first', async () => {
  const signer = inventRelay()
  const descriptor = signer.describe(ORIGIN)
  const real = recoverTextSigner('', Buffer.from(descriptor.signature, 'base64'))
  // A key for each of many addresses: what they sign is not looked at here.
  recover.mockImplementation(async (text) => ({
    address: JSON.parse(text.replaceAll(/:(\d{16,})/g, ':"$1"')).address,
    publicKey: real?.publicKey ?? new Uint8Array(65),
  }))
  const named = (index: number) => ({ ...descriptor, address: `0x${index.toString(16).padStart(40, '0')}` })
  for (let index = 0; index < 1024; index++) await signatures.isGenuine(named(index))
  expect(recover).toHaveBeenCalledTimes(1024)
  await signatures.isGenuine(named(0))
  await signatures.isGenuine(named(1024))
  expect(recover).toHaveBeenCalledTimes(1025)
  await signatures.isGenuine(named(0))
  expect(recover).toHaveBeenCalledTimes(1025)
  await signatures.isGenuine(named(1))
  expect(recover).toHaveBeenCalledTimes(1026)
  recover.mockImplementation(async (...signed) => recoverTextSigner(...signed))
})
