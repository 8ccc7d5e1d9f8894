// Tests how much may be sent to an address before and after it is validated, and with protocols that people use.

import { beforeEach, describe, expect, test } from 'vitest'
import { AddressValidation } from '../../src/features/datagrams/address-validation.ts'
import { AmplificationLimit } from '../../src/features/datagrams/amplification-limit.ts'
import { NetworkRates } from '../../src/features/datagrams/network-byte-rates.ts'

const ROUND_TRIP_MS = 60
const MIB = 1024 * 1024

let now: number
beforeEach(() => {
  now = 1_000_000
})

const credit = (
  share: (bytes: number) => boolean = () => true,
  host = new AddressValidation(),
): AmplificationLimit => new AmplificationLimit(host, share)

/** It sends this many bytes, is answered with none, and once more: then it has answered twice. */
function answered(share?: (bytes: number) => boolean): AmplificationLimit {
  const it = credit(share)
  for (let answers = 0; answers < 2; answers += 1) {
    it.onReceived(0, now)
    it.spend(0, now)
    now += ROUND_TRIP_MS
  }
  it.onReceived(0, now)
  return it
}

/** What may be sent there now, in datagrams of `bytes`. */
function most(it: AmplificationLimit, bytes = 1): number {
  let sent = 0
  while (it.spend(bytes, now)) sent += bytes
  return sent
}

describe('an address that has not answered', () => {
  test('gets three bytes for each, and three datagrams for each (protocol §12.2.5)', () => {
    const it = credit()
    expect(it.spend(0, now)).toBe(false)
    it.onReceived(100, now)
    expect(it.spend(301, now)).toBe(false)
    expect(it.spend(300, now)).toBe(true)
    expect(it.spend(1, now)).toBe(false)
    expect([it.spend(0, now), it.spend(0, now), it.spend(0, now)]).toEqual([true, true, false])
  })

  test('gets no more for a burst, however long that is', () => {
    const it = credit()
    for (let count = 0; count < 1000; count += 1) {
      it.onReceived(1, now)
      it.spend(1, now)
      now += 0.049
    }
    expect(most(it)).toBe(3 * 1000 - 1000)
  })

  test('gets no more for any number of datagrams to which nothing was sent', () => {
    const it = credit()
    for (let count = 0; count < 100; count += 1) {
      it.onReceived(1, now)
      expect(it.spend(1024, now)).toBe(false)
      now += ROUND_TRIP_MS
    }
    expect(most(it)).toBe(300)
  })

  test('gets the echo of a second’s datagrams, also when it comes a second late', () => {
    const it = credit()
    for (let count = 0; count < 20_000; count += 1) it.onReceived(64, now)
    expect(most(it, 64)).toBe(3 * 20_000 * 64)
    const other = credit()
    for (let count = 0; count < 100_000; count += 1) other.onReceived(0, now)
    let sent = 0
    while (other.spend(0, now)) sent += 1
    expect(sent).toBe(65_536)
  })

  test('may save up 8 MiB, so that an echo of a burst passes whenever it comes', () => {
    const it = credit()
    for (let count = 0; count < 4096; count += 1) it.onReceived(1472, now)
    expect(most(it, 1472)).toBeGreaterThan(4096 * 1472)
    for (let count = 0; count < 100_000; count += 1) it.onReceived(1472, now)
    expect(it.spend(8 * MIB + 1, now)).toBe(false)
    expect(it.spend(8 * MIB, now)).toBe(true)
  })
})

describe('an address that has answered twice', () => {
  test('gets 512 bytes for each, at most 16 KiB for a datagram (protocol §12.2.5)', () => {
    const it = answered()
    it.onReceived(1, now)
    expect(it.spend(3 + 512 + 1, now)).toBe(false)
    expect(it.spend(3 + 512, now)).toBe(true)
    const other = answered()
    other.onReceived(32, now)
    expect(other.spend(16_384 + 96 + 1, now)).toBe(false)
    other.onReceived(1200, now)
    expect(other.spend(2 * 16_384 + 96 + 3600, now)).toBe(true)
    expect(other.spend(1, now)).toBe(false)
  })

  test('gets 64 datagrams for each, so that empty ones are bounded, too', () => {
    const it = answered()
    while (it.spend(0, now));
    it.onReceived(0, now)
    let sent = 0
    while (it.spend(0, now)) sent += 1
    expect(sent).toBe(64)
  })

  test('may save up 1 MiB', () => {
    const it = answered()
    for (let count = 0; count < 1000; count += 1) it.onReceived(32, now)
    expect(it.spend(MIB + 96_000 + 1, now)).toBe(false)
    expect(it.spend(MIB + 96_000, now)).toBe(true)
  })

  test('has to answer twice again after 2 minutes of silence, and what it had saved up is gone', () => {
    const it = answered()
    it.onReceived(32, now)
    now += 120_000
    expect(it.spend(1000, now)).toBe(true)
    now += 1
    expect(it.spend(1000, now)).toBe(false)
    it.onReceived(1, now)
    expect(it.spend(1000, now)).toBe(false)
    expect(it.spend(3, now)).toBe(true)
  })

  test('counts each answer once: two datagrams after one reply are one answer', () => {
    const it = credit()
    it.onReceived(100, now)
    it.spend(1, now)
    now += ROUND_TRIP_MS
    it.onReceived(100, now)
    now += ROUND_TRIP_MS
    it.onReceived(100, now)
    expect(it.spend(10_000, now)).toBe(false)
  })

  test('shares 8 MiB a second with its network, whatever came from it', () => {
    const rates = new NetworkRates({ perMinute: 60 * 8 * MIB, burst: 8 * MIB })
    const [one, neighbour, stranger] = ['2001:db8::1', '2001:db8::2', '2001:db9::1'].map((address) =>
      answered(rates.of(address)),
    )
    const bytes = (it: AmplificationLimit): number => {
      let sent = 0
      for (let count = 0; count < 2000; count += 1) {
        it.onReceived(32, now)
        if (it.spend(16_384 + 96, now)) sent += 16_384 + 96
      }
      return sent
    }
    const began = performance.now()
    const ofNetwork = bytes(one!) + bytes(neighbour!)
    const seconds = (performance.now() - began) / 1000
    expect(ofNetwork).toBeGreaterThan(8 * MIB - 20_000)
    expect(ofNetwork).toBeLessThan(8 * MIB * (1 + seconds) + 3 * 32 * 4000 + 20_000)
    expect(bytes(stranger!)).toBeGreaterThan(8 * MIB - 20_000)
    // what is three times of what came is nobody's share
    now += 120_001
    one!.onReceived(1200, now)
    expect(one!.spend(3600, now)).toBe(true)
  })
})

describe('a host whose every question comes from another port', () => {
  const ask = (host: AddressValidation, bytes: number): boolean => {
    const it = credit(undefined, host)
    it.onReceived(45, now)
    const isAnswered = it.spend(bytes, now)
    now += ROUND_TRIP_MS
    return isAnswered
  }

  test('gets more than three times as much when it was answered 8 times, and came again', () => {
    const host = new AddressValidation()
    for (let count = 0; count < 8; count += 1) {
      expect(ask(host, 500)).toBe(false)
      expect(ask(host, 135)).toBe(true)
    }
    expect(ask(host, 500)).toBe(true)
    now += 120_001
    expect(ask(host, 500)).toBe(false)
  })

  test('gets no more for a burst from many ports', () => {
    const host = new AddressValidation()
    for (let count = 0; count < 100; count += 1) {
      ask(host, 1)
      now -= ROUND_TRIP_MS
    }
    expect(ask(host, 500)).toBe(false)
  })
})

/** From the visitor: a number. From the service: an array of what it sends in one go. */
type Exchange = readonly (number | readonly number[])[]

/** Plays it, one round trip for each answer. @returns what of the service's was dropped */
function dropped(exchange: Exchange): number[] {
  const it = credit()
  const lost: number[] = []
  for (const step of exchange) {
    if (typeof step === 'number') it.onReceived(step, now)
    else {
      lost.push(...step.filter((bytes) => !it.spend(bytes, now)))
      now += ROUND_TRIP_MS
    }
  }
  return lost
}

/** UDP payloads, of the first datagrams of a visitor and its service. */
describe('protocols', () => {
  const FLIGHT = [1200, 1200, 1200]
  const WINDOW = Array.from({ length: 10 }, () => 1200)

  test.each<[string, Exchange]>([
    // whitepaper §5.4: initiation, response, data
    ['WireGuard', [148, [92], 32, 112, [112], 96, [1452, 1452, 1452], 96, WINDOW]],
    ['QUIC, whose server obeys the same limit', [1200, FLIGHT, 1200, 300, [400, 1200, 1200], 35, WINDOW]],
    ['STUN', [20, [32], 20, [44]]],
    ['NTP', [48, [48]]],
    ['DNS, a short answer', [45, [61]]],
    // RakNet: the first request is padded to the path's size
    ['Minecraft Bedrock, joining', [1464, [28], 34, [35], 90, [120], 60, WINDOW]],
    ['Source engine queries with a challenge', [25, [9], 29, [140], 9, [9], 9, [1200]]],
    // RFC 6347 §4.2.1
    ['DTLS 1.2 with a cookie', [200, [60], 260, [90, 700, 250, 25], 500, [250], 60, [1200]]],
  ])('%s: nothing is lost', (_name, exchange) => {
    expect(dropped(exchange)).toEqual([])
  })

  test.each<[string, Exchange, number]>([
    [
      'Minecraft Bedrock, the list of servers: every other ping at first',
      [33, [130], 33, [130], 33, [130]],
      1,
    ],
    ['DNS, 500 bytes: the fourth question from one port', [45, [500], 45, [500], 45, [500], 45, [500]], 3],
    ['Source engine queries, 250 bytes: asked twice more', [25, [9], 29, [250], 29, [250], 29, [250]], 2],
    ['DTLS 1.2, a flight of 3.6 KB: sent again once', [200, [60], 260, FLIGHT, 260, FLIGHT], 2],
  ])('%s', (_name, exchange, lost) => {
    expect(dropped(exchange)).toHaveLength(lost)
    expect(typeof exchange.at(-1)).toBe('object')
  })

  test('a query that is answered with 40 times as much never is, from however many ports it is asked', () => {
    for (let ports = 0; ports < 100; ports += 1) expect(dropped([14, [560]])).toEqual([560])
  })
})
