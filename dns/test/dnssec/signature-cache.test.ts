import { NETWORK_SLOTS } from '@svc/node-kit/gcra'
import { beforeEach, expect, test } from 'vitest'
import { KeptSignatures } from '../../src/dnssec/kept-signatures.ts'
import { SignatureCache } from '../../src/dnssec/signature-cache.ts'
import { Signer } from '../../src/dnssec/signer.ts'
import {
  CLOCK_SKEW_MS,
  NETWORK_SIGNATURES_BURST,
  NETWORK_SIGNATURES_PER_MINUTE,
  SIGNATURE_RENEW_MS,
  SIGNATURE_VALID_MS,
  SIGNATURES_BURST,
  SIGNATURES_PER_MINUTE,
} from '../../src/zone/limits.ts'
import { DnsName } from '../../src/zone/name.ts'
import { addressData, TYPE } from '../../src/zone/record-data.ts'
import { recordSet } from '../../src/zone/record-set.ts'
import { APEX, shapeOf, type TestZone, testZone } from '../support/zone.ts'

const { A, TXT } = TYPE
const SERVFAIL = 2
const SECOND_MS = 1000
const SIGNED = '0: A RRSIG /'
const SITE = `shop.${APEX}`

let zone: TestZone

beforeEach(() => {
  zone = testZone()
})

/** RDATA of the RRSIG, in hexadecimal. */
function signature(name: string = SITE, type: number = A): string | undefined {
  return zone
    .ask(name, type)
    .answers.find((one) => one.type === TYPE.RRSIG)
    ?.data.toString('hex')
}

/** Seconds since the epoch between which a signature is valid. */
function validity(rdata: string): { from: number; to: number } {
  const bytes = Buffer.from(rdata, 'hex')
  return { from: bytes.readUInt32BE(12), to: bytes.readUInt32BE(8) }
}

test('a signature is valid for a day, with five minutes before', () => {
  const { from, to } = validity(signature()!)
  expect(from * SECOND_MS).toBe(zone.clock.wall - CLOCK_SKEW_MS)
  expect(to * SECOND_MS).toBe(zone.clock.wall + SIGNATURE_VALID_MS)
})

test('a signature is kept for twelve hours, and then made anew', () => {
  const first = signature()
  zone.clock.wall += SIGNATURE_RENEW_MS - 1
  expect(signature()).toBe(first)
  zone.clock.wall++
  const second = signature()
  expect(second).not.toBe(first)
  expect(signature()).toBe(second)
})

test('a clock that is set makes the signature anew, whichever way it was set', () => {
  const first = signature()
  zone.clock.wall -= SIGNATURE_VALID_MS
  const second = signature()!
  expect(second).not.toBe(first)
  expect(validity(second).to * SECOND_MS).toBe(zone.clock.wall + SIGNATURE_VALID_MS)
})

test('other records have another signature, and a change elsewhere none', () => {
  zone.setText(SITE, 'one')
  const [address, text] = [signature(), signature(SITE, TXT)]
  zone.setText(SITE, 'two')
  expect(signature()).toBe(address)
  expect(signature(SITE, TXT)).not.toBe(text)
})

test('made-up names cost a bounded number of signatures; then clients are sent to TCP, which has a budget of its own', () => {
  const asked = (count: number, isAddressProven: boolean): string[] =>
    Array.from({ length: count }, (_, index) => {
      const network = Math.floor(index / NETWORK_SIGNATURES_BURST)
      const name = `${isAddressProven ? 'p' : 'u'}${made + index}.${APEX}`
      return shapeOf(zone.ask(name, A, true, { isAddressProven, network }))
    })
  let made = 0
  expect(new Set(asked(SIGNATURES_BURST, false))).toEqual(new Set(['0: A RRSIG /']))
  made += SIGNATURES_BURST
  expect(zone.ask(`more.${APEX}`, A)).toEqual({ rcode: 0, answers: [], authority: [], isTruncated: true })
  // What the zone always has, and what is signed already, is answered as before.
  for (const name of [APEX, `*.${APEX}`, `ns1.${APEX}`, `u1.${APEX}`])
    expect(shapeOf(zone.ask(name, A)), name).toBe('0: A RRSIG /')
  expect(shapeOf(zone.ask(`more.${APEX}`, A, false))).toBe('0: A /')
  expect(new Set(asked(SIGNATURES_BURST, true))).toEqual(new Set(['0: A RRSIG /']))
  const other = { isAddressProven: true, network: NETWORK_SLOTS - 1 }
  expect(shapeOf(zone.ask(`more.${APEX}`, A, true, other))).toBe(`${SERVFAIL}:  /`)
  zone.clock.monotonic += SECOND_MS
  const refilled = (SIGNATURES_PER_MINUTE / 60_000) * SECOND_MS
  made += SIGNATURES_BURST
  const after = asked(refilled + 10, false)
  expect(after.filter((shape) => shape === '0: A RRSIG /')).toHaveLength(refilled)
})

test('a network that asks for random names spends its own share, and no signature of another network', () => {
  const ask = (label: string, network: number): string =>
    shapeOf(zone.ask(`${label}.${APEX}`, A, true, { isAddressProven: true, network }))
  const made = (count: number): number =>
    Array.from({ length: count }, () => ask(`random${random++}`, 1)).filter((shape) => shape === SIGNED)
      .length
  let random = 0
  expect(made(4 * SIGNATURES_BURST)).toBe(NETWORK_SIGNATURES_BURST)
  for (let count = 0; count < 100; count++) expect(ask(`quiet${count}`, 2)).toBe(SIGNED)
  zone.clock.monotonic += SECOND_MS
  expect(made(SIGNATURES_BURST)).toBe((NETWORK_SIGNATURES_PER_MINUTE / 60_000) * SECOND_MS)
  expect(ask('random0', 1)).toBe(SIGNED)
})

test('an old signature is used until it ends while the budget is spent', () => {
  const first = signature()
  zone.clock.wall += SIGNATURE_RENEW_MS
  for (let count = 0; count < SIGNATURES_BURST; count++) signature(`u${count}.${APEX}`)
  expect(signature()).toBe(first)
  zone.clock.wall += SIGNATURE_VALID_MS - SIGNATURE_RENEW_MS - CLOCK_SKEW_MS
  expect(signature()).toBeUndefined()
})

test('kept signatures are bounded, and those that were asked for twice stay, whatever else is asked for once', () => {
  const cache = new SignatureCache(new Signer(zone.key), 10)
  const clocks = { wall: () => zone.clock.wall, monotonic: () => zone.clock.monotonic }
  const set = recordSet(A, 60, [addressData('192.0.2.1')])
  const ask = (label: string): Buffer =>
    cache.signature(DnsName.parse(`${label}.${APEX}`).key, set, 'anyone', clocks)!
  const [wanted, unwanted] = [ask('wanted'), ask('unwanted')]
  expect(ask('wanted')).toBe(wanted)
  for (let count = 0; count < 100; count++) ask(`u${count}`)
  expect(ask('wanted')).toBe(wanted)
  expect(ask('unwanted')).not.toEqual(unwanted)
})

test('of names that are asked for again and again, each half keeps as many as it may', () => {
  const kept = new KeptSignatures(10)
  const signature = { data: Buffer.alloc(0), content: '', madeAt: 0 }
  for (let count = 0; count < 1000; count++) {
    kept.set(`u${count}`, signature)
    if (count % 2 === 0) expect(kept.get(`u${count}`)).toBe(signature)
    expect(kept.get('u0')).toBe(signature)
    expect(kept.size).toBeLessThanOrEqual(4 * 10)
  }
  expect(kept.get('u2')).toBeUndefined()
  // A signature that is made anew stays where the old one was.
  const renewed = { ...signature, madeAt: 1 }
  kept.set('u0', renewed)
  for (let count = 0; count < 100; count++) kept.set(`v${count}`, signature)
  expect(kept.get('u0')).toBe(renewed)
})
