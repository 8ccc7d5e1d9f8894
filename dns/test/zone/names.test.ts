import { expect, test } from 'vitest'
import { DnsName } from '../../src/zone/name.ts'
import { ZoneNames } from '../../src/zone/names.ts'
import { addressData, TYPE } from '../../src/zone/record-data.ts'
import { recordSet } from '../../src/zone/record-set.ts'

const APEX = DnsName.parse('relay.test')
const SETS = [recordSet(TYPE.A, 60, [addressData('192.0.2.1')])]

test('names are bounded, and a removed one makes room', () => {
  const names = new ZoneNames(APEX, 3)
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((label) => DnsName.parse(`${label}.relay.test`)) as [
    DnsName,
    DnsName,
    DnsName,
    DnsName,
  ]
  for (const name of [a, b, c]) names.put(name, SETS)
  expect(() => names.put(d, SETS)).toThrow(/3 names/)
  expect(names.setsAt(d.key)).toEqual([])
  // A name that is there can still change.
  names.put(a, SETS)
  names.put(b, [])
  names.put(d, SETS)
  expect(names.setsAt(d.key)).toEqual(SETS)
})

test('ancestors are known as long as a name below them has records', () => {
  const names = new ZoneNames(APEX)
  const [one, two] = [DnsName.parse('x.y.z.relay.test'), DnsName.parse('w.z.relay.test')]
  names.put(one, SETS)
  names.put(one, SETS)
  names.put(two, SETS)
  const ancestors = (): boolean[] =>
    ['y.z.relay.test', 'z.relay.test'].map((text) => names.hasBelow(DnsName.parse(text).key))
  expect(ancestors()).toEqual([true, true])
  names.put(one, [])
  expect(ancestors()).toEqual([false, true])
  names.put(two, [])
  expect(ancestors()).toEqual([false, false])
})
