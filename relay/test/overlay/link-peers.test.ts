// Tests which relays become peers: by their descriptors, and by who has a key that several relays name.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { VerifiedRelay } from '../../src/features/overlay/verified-relays.ts'
import type { PeerReading } from '../../src/features/overlay/wireguard/device.ts'
import { type AskOwner, KeyOwners } from '../../src/features/overlay/wireguard/key-owners.ts'
import {
  ADDRESS_TURN_MS,
  CLAIM_ASK_AGAIN_MS,
  CLAIM_QUESTIONS_PARALLEL_MAX,
  CLAIM_TURN_MS,
  SESSION_MAX_MS,
} from '../../src/features/overlay/wireguard/limits.ts'
import { LinkPeers } from '../../src/features/overlay/wireguard/link-peers.ts'
import { overlayAddressOf } from '../../src/features/overlay/wireguard/overlay-address.ts'
import { inventRelay } from '../support/descriptors.ts'

const keyOf = (byte: number): string => Buffer.alloc(32, byte).toString('base64')
const OWN = keyOf(99)
const ADDRESSES: Record<string, string[]> = {
  'https://a.example': ['192.0.2.1', '2001:db8::1'],
  'https://b.example': ['192.0.2.2'],
  'https://thief.example': ['192.0.2.66'],
}

function relay(name: string, fields: object = {}): VerifiedRelay {
  const origin = `https://${name}.example`
  const all = { supports_overlay: true, wireguard_public_key: keyOf(1), wireguard_port: 51_820, ...fields }
  return { origin, address: `0x${name}`, descriptor: inventRelay().describe(origin, all) }
}

function reading(fields: Partial<PeerReading>): PeerReading {
  const none = { handshakeAt: undefined, receivedBytes: 0, sentBytes: 0 }
  return { publicKey: keyOf(1), host: '192.0.2.1', port: 51_820, ...none, ...fields }
}

let peers: LinkPeers
/** Questions for owners of keys, which the test answers. */
let asked: { publicKey: string; answer: (identity: string) => void; fail: (error: Error) => void }[]

const ask: AskOwner = (publicKey) =>
  new Promise((answer, fail) => {
    asked.push({ publicKey, answer, fail })
  })

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['hrtime', 'Date'] })
  asked = []
  peers = new LinkPeers({
    publicKey: OWN,
    address: overlayAddressOf(OWN),
    addressesOf: (origin) => ADDRESSES[origin] ?? [],
    owners: new KeyOwners(ask, () => {}, new AbortController().signal),
  })
})

afterEach(() => void vi.useRealTimers())

test('a relay is a peer while it supports the overlay with a key that can be one', () => {
  const bad = [
    relay('a', { supports_overlay: false }),
    relay('a', { wireguard_public_key: '' }),
    relay('a', { wireguard_public_key: `${keyOf(1)}\nAllowedIPs = ::/0` }),
    relay('a', { wireguard_public_key: Buffer.alloc(31).toString('base64') }),
    relay('a', { wireguard_port: 0 }),
    relay('a', { wireguard_public_key: OWN }),
  ]
  for (const one of bad) expect(peers.follow([one], [])).toEqual([])
  const overlayAddress = overlayAddressOf(keyOf(1))
  expect(peers.follow([relay('a')], [])).toEqual([
    { publicKey: keyOf(1), overlayAddress, host: '192.0.2.1', port: 51_820 },
  ])
  const peer = { identity: '0xa', origin: 'https://a.example', overlayAddress, port: 41_820 }
  expect([peers.of('0xa'), peers.at(overlayAddress), [...peers.all]]).toEqual([peer, peer, [peer]])
  peers.follow([relay('a', { wireguard_public_key: keyOf(2) })], [])
  expect([peers.at(overlayAddress), peers.of('0xa')?.overlayAddress]).toEqual([
    undefined,
    overlayAddressOf(keyOf(2)),
  ])
  peers.clear()
  expect([...peers.all]).toEqual([])
})

test('a peer is reached where its packets come from, and where it says that it is when it is silent', () => {
  const hostOf = (seen: PeerReading[]): unknown =>
    peers.follow([relay('a')], seen).map(({ host, port }) => `${host} ${port}`)[0]
  const handshakeAt = Date.now()
  expect(hostOf([reading({ host: '203.0.113.9', port: 9, handshakeAt })])).toBe('203.0.113.9 9')
  vi.setSystemTime(handshakeAt + SESSION_MAX_MS)
  expect(hostOf([reading({ host: '203.0.113.9', port: 9, handshakeAt })])).toBe('192.0.2.1 51820')
  // Another of its addresses is as good, and is not changed without need.
  expect(hostOf([reading({ host: '2001:db8::1' })])).toBe('2001:db8::1 51820')
})

test('a silent peer is sought at each of its addresses in turn', () => {
  const seen = (): PeerReading => reading({ host })
  let host: string | undefined
  const hosts = Array.from({ length: 3 }, () => {
    host = peers.follow([relay('a')], [seen()])[0]!.host
    vi.advanceTimersByTime(ADDRESS_TURN_MS - 1)
    expect(peers.follow([relay('a')], [seen()])[0]!.host).toBe(host)
    vi.advanceTimersByTime(1)
    return host
  })
  expect(hosts).toEqual(['192.0.2.1', '2001:db8::1', '192.0.2.1'])
})

test('a relay without an address yet is a peer that may begin', () => {
  expect(peers.follow([relay('unknown')], [])[0]).toMatchObject({ host: undefined, port: 51_820 })
})

test('a relay that names the key of another one does not get its place', async () => {
  const [owner, thief] = [relay('a'), relay('thief')]
  const holder = (): string | undefined => peers.at(overlayAddressOf(keyOf(1)))?.identity
  const connected = (): PeerReading[] => [reading({ handshakeAt: Date.now() })]
  peers.follow([thief], connected())
  expect([holder(), asked.length]).toEqual(['0xthief', 0])
  // Nobody is asked before packets can pass.
  peers.follow([thief, owner], [reading({})])
  expect(asked).toHaveLength(0)
  // The host that the packets come from does not count: the thief says where its own is.
  ADDRESSES['https://thief.example'] = ['192.0.2.66', '192.0.2.1']
  peers.follow([thief, owner], connected())
  peers.follow([thief, owner], connected())
  expect(asked.map(({ publicKey }) => publicKey)).toEqual([keyOf(1)])
  asked[0]!.answer('0xa')
  await new Promise(setImmediate)
  peers.follow([thief, owner], connected())
  expect([holder(), peers.of('0xthief')]).toEqual(['0xa', undefined])
  // It stays, also where its packets come from elsewhere, and while there are none.
  peers.follow([thief, owner], [reading({ host: '203.0.113.9', handshakeAt: Date.now() })])
  expect(holder()).toBe('0xa')
  vi.advanceTimersByTime(CLAIM_TURN_MS)
  peers.follow([thief, owner], [reading({})])
  expect([holder(), asked.length]).toEqual(['0xa', 1])
})

test('the peer of a key stays while others name it and its owner does not answer, and is asked again after a while', async () => {
  const [owner, thief] = [relay('a'), relay('thief')]
  const follow = (): string | undefined => {
    peers.follow([thief, owner], [reading({ handshakeAt: Date.now() })])
    return peers.at(overlayAddressOf(keyOf(1)))?.identity
  }
  peers.follow([owner], [])
  expect(follow()).toBe('0xa')
  asked[0]!.fail(new Error('silent'))
  await new Promise(setImmediate)
  expect([follow(), asked.length]).toEqual(['0xa', 1])
  vi.advanceTimersByTime(CLAIM_ASK_AGAIN_MS)
  expect([follow(), asked.length]).toEqual(['0xa', 2])
  // An answer of somebody who does not name the key is none.
  asked[1]!.answer('0xother')
  await new Promise(setImmediate)
  expect(follow()).toBe('0xa')
})

test('only so many owners are asked at once', async () => {
  const keys = Array.from({ length: CLAIM_QUESTIONS_PARALLEL_MAX + 3 }, (_, index) => keyOf(index + 1))
  const claimants = keys.flatMap((key, index) =>
    ['one', 'two'].map((name) => relay(`${name}${index}`, { wireguard_public_key: key })),
  )
  const readings = keys.map((publicKey) => reading({ publicKey, handshakeAt: Date.now() }))
  peers.follow(claimants, readings)
  expect(asked).toHaveLength(CLAIM_QUESTIONS_PARALLEL_MAX)
  asked[0]!.answer('0xone0')
  await vi.waitFor(() => expect(asked).toHaveLength(CLAIM_QUESTIONS_PARALLEL_MAX + 1))
  // A relay that waits for a key which nobody names any more is not asked.
  peers.clear()
  asked[1]!.answer('0xone1')
  await new Promise(setImmediate)
  expect(asked).toHaveLength(CLAIM_QUESTIONS_PARALLEL_MAX + 1)
})

test('while nobody uses a key, each relay that names it has its turn', () => {
  const claimants = [relay('a'), relay('thief'), relay('b')]
  const turns = Array.from({ length: 4 }, () => {
    peers.follow(claimants, [reading({})])
    vi.advanceTimersByTime(CLAIM_TURN_MS - 1)
    peers.follow(claimants, [reading({})])
    vi.advanceTimersByTime(1)
    return peers.at(overlayAddressOf(keyOf(1)))!.identity
  })
  expect(turns).toEqual(['0xa', '0xthief', '0xb', '0xa'])
})
