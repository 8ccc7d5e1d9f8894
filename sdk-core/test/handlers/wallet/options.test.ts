// The options of `walletOnly`: addresses with and without a checksum, and what is refused with which words.

import { expect, test } from 'vitest'
import { checkOptions, type WalletOptions } from '../../../src/handlers/wallet/options.ts'

// EIP-55, "Test Cases": all upper case, all lower case, and mixed.
test.each([
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
])('%s is taken, and in one case, too', (address) => {
  const digits = address.slice(2)
  for (const spelled of [address, `0x${digits.toLowerCase()}`, `0x${digits.toUpperCase()}`])
    expect([...checkOptions({ wallets: [spelled] }).wallets]).toEqual([address.toLowerCase()])
})

test.each<[string, WalletOptions, RegExp]>([
  ['no wallet', { wallets: [] }, /one wallet at least/],
  [
    'a wrong checksum',
    { wallets: ['0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'] },
    /0x5AAeb6.* wrong checksum/,
  ],
  ['too short an address', { wallets: ['0x12'] }, /"0x12" is not an address/],
  ['an address without 0x', { wallets: ['de709f2102306220921060314715629080e2fb77'] }, /is not an address/],
  ['a name', { wallets: ['vitalik.eth'] }, /"vitalik.eth" is not an address/],
  ['a number', { wallets: [1 as unknown as string] }, /1 is not an address/],
  ['a short key', { wallets: [`0x${'1'.repeat(40)}`], key: new Uint8Array(31) }, /32 bytes/],
  ['an invalid chain', { wallets: [`0x${'1'.repeat(40)}`], chainId: 0 }, /chainId/],
  [
    'another protocol',
    { wallets: [`0x${'1'.repeat(40)}`], rpc: 'ws://127.0.0.1/secret' },
    /^rpc has to be an http\(s\) URL$/,
  ],
])('%s is refused in words', (_what, options, message) => {
  const invalid = { code: 'invalid_option', message: expect.stringMatching(message) }
  expect(() => checkOptions(options)).toThrow(expect.objectContaining(invalid))
})
