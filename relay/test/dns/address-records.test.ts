// Address records of the root host and its wildcard: they follow the public addresses, also after failures.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLog } from '../../src/core/log/log.ts'
import { AddressRecords } from '../../src/features/dns/address-records.ts'
import type { PublicAddresses } from '../../src/features/dns/public-address/public-address-watcher.ts'
import { MemoryDnsProvider } from '../support/memory-dns-provider.ts'

const PATIENT = { timeout: 60_000 }
const FIRST: PublicAddresses = { ipv4: ['192.0.2.1'], ipv6: ['2001:db8::1'] }
const SECOND: PublicAddresses = { ipv4: ['192.0.2.2'], ipv6: [] }

let provider: MemoryDnsProvider
let records: AddressRecords
let found: (addresses: PublicAddresses) => void
let isWatched: boolean
let lines: { level: number; msg: string }[]

beforeEach(() => {
  provider = new MemoryDnsProvider()
  lines = []
  isWatched = true
  records = new AddressRecords({
    provider,
    rootHost: 'relay.example',
    addresses: {
      watch: (listener) => {
        found = listener
        return () => {
          isWatched = false
        }
      },
    },
    log: createLog('info', { write: (line) => lines.push(JSON.parse(line)) }),
    firstPauseMs: 1,
  })
})
afterEach(() => records.close())

const inSync = (addresses: PublicAddresses) =>
  vi.waitFor(
    () =>
      expect(Object.fromEntries(provider.addresses)).toEqual({
        'relay.example': addresses,
        '*.relay.example': addresses,
      }),
    PATIENT,
  )

describe('the root host and its wildcard', () => {
  test('have the public addresses, and follow a change of them', async () => {
    found(FIRST)
    await inSync(FIRST)
    found(SECOND)
    await inSync(SECOND)
    expect(provider.calls).toHaveLength(4)
    expect(lines.map(({ msg }) => msg)).toEqual(Array(2).fill('the address records are in sync'))
  })

  test('keep what they have while no address is known', async () => {
    found(FIRST)
    await inSync(FIRST)
    found({ ipv4: [], ipv6: [] })
    await new Promise(setImmediate)
    expect(provider.calls).toHaveLength(2)
  })

  test('what failed is tried again and what succeeded is not, with one line for a reason', async () => {
    let failures = 3
    provider.faultOf = (call) => (call.includes('*.') && failures-- > 0 ? 'unavailable' : undefined)
    found(FIRST)
    await inSync(FIRST)
    await vi.waitFor(() => expect(lines).toHaveLength(2), PATIENT)
    expect(provider.calls.filter((call) => call.startsWith('setAddresses relay.example'))).toHaveLength(1)
    expect(provider.calls).toHaveLength(5)
    expect(lines.map(({ level }) => level)).toEqual([40, 30])
  })

  test('a change while a failure is waited out is made at the next attempt', async () => {
    let isFailing = true
    provider.faultOf = () => (isFailing ? 'unavailable' : undefined)
    found(FIRST)
    await vi.waitFor(() => expect(lines).toHaveLength(1), PATIENT)
    found(SECOND)
    isFailing = false
    await inSync(SECOND)
  })

  test('nothing happens after the end, not even an attempt that was due', async () => {
    provider.faultOf = () => 'unavailable'
    found(FIRST)
    await vi.waitFor(() => expect(lines).toHaveLength(1), PATIENT)
    await records.close()
    const { length } = provider.calls
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([provider.calls.length, isWatched]).toEqual([length, false])
  })
})
