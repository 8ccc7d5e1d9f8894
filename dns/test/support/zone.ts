// Makes zones for tests, with a clock that the test sets, and reads their answers as text.
import { createECDH } from 'node:crypto'
import type { ZoneKey } from '../../src/dnssec/zone-key.ts'
import type { AnswerOptions, ResourceRecord, ZoneAnswer } from '../../src/zone/answer.ts'
import { DnsName } from '../../src/zone/name.ts'
import { addressData, TYPE, textData } from '../../src/zone/record-data.ts'
import { Zone } from '../../src/zone/zone.ts'

export const APEX = 'relay.test'
/** Noon of some day. */
const START: number = Date.UTC(2026, 0, 1, 12)

export interface TestZone {
  zone: Zone
  key: ZoneKey
  /** Milliseconds of both clocks, which only the test moves. */
  clock: { wall: number; monotonic: number }
  setAddress(name: string, ...addresses: string[]): void
  setText(name: string, value: string): void
  ask(name: string | DnsName, type: number, dnssecOk?: boolean, options?: AnswerOptions): ZoneAnswer
}

/** A zone of {@link APEX} with addresses for the apex and the wildcard. */
export function testZone(options: { hasDefaultPort?: boolean } = {}): TestZone {
  const key = newZoneKey(APEX)
  const clock = { wall: START, monotonic: 0 }
  const zone = new Zone(
    { key, hasDefaultPort: options.hasDefaultPort ?? true },
    { wall: () => clock.wall, monotonic: () => clock.monotonic },
  )
  const setAddress = (name: string, ...addresses: string[]): void => setAddresses(zone, name, addresses)
  setAddress(APEX, '192.0.2.1', '2001:db8::1')
  setAddress(`*.${APEX}`, '192.0.2.1', '2001:db8::1')
  return {
    zone,
    key,
    clock,
    setAddress,
    setText: (name, value) =>
      zone.apply({ kind: 'set', name, type: TYPE.TXT, ttl: 60, data: [textData(value)] }),
    ask: (name, type, dnssecOk = true, asked = {}) => {
      const question = { name: typeof name === 'string' ? DnsName.parse(name) : name, type }
      return zone.answer(question, dnssecOk, asked)
    },
  }
}

/** Replaces the addresses of both families. */
function setAddresses(zone: Zone, name: string, addresses: readonly string[]): void {
  const data = addresses.map(addressData)
  for (const [type, length] of [
    [TYPE.A, 4],
    [TYPE.AAAA, 16],
  ] as const) {
    const ofType = data.filter((one) => one.length === length)
    if (ofType.length > 0) zone.apply({ kind: 'set', name, type, ttl: 60, data: ofType })
    else zone.apply({ kind: 'remove', name, type })
  }
}

export function newZoneKey(zone: string): ZoneKey {
  const curve = createECDH('prime256v1')
  curve.generateKeys()
  const privateKey = curve.getPrivateKey('hex').padStart(64, '0')
  return { zone, privateKey, publicKey: curve.getPublicKey('hex').slice(2) }
}

/** `rcode: types of the answer / types of the authority section`. */
export function shapeOf({ rcode, answers, authority }: ZoneAnswer): string {
  const types = (records: readonly ResourceRecord[]): string =>
    records.map(({ type }) => NAME_OF_TYPE.get(type)).join(' ')
  return `${rcode}: ${types(answers)} / ${types(authority)}`.trim()
}

const NAME_OF_TYPE: ReadonlyMap<number, string> = new Map(
  Object.entries(TYPE).map(([name, type]) => [type, name]),
)
