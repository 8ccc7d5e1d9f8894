// The relay's public addresses: from the setting, the interfaces or DNS, and how changes of them are told.

import type { NetworkInterfaceInfo } from 'node:os'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLog } from '../../src/core/log/log.ts'
import {
  type AddressSources,
  type PublicAddresses,
  PublicAddressWatcher,
} from '../../src/features/dns/public-address/public-address-watcher.ts'

const ROOT_HOST = 'relay.example.com'
/** A change is known within a minute. */
const REFRESH_MS = 60_000

/** Of the machine's interfaces. */
let own: string[]
/** Of another interface, which the machine does not use for the internet. */
let bridge: string[]
/** What DNS has for the root host; an error is thrown. */
let records: { ipv4: string[] | Error; ipv6: string[] | Error }
let questions: string[]
let lines: { level: number; msg: string }[]
let told: PublicAddresses[]

beforeEach(() => {
  vi.useFakeTimers()
  bridge = []
  own = ['127.0.0.1', '10.0.0.5', 'fe80::1']
  records = { ipv4: errorWith('ENODATA'), ipv6: errorWith('ENODATA') }
  questions = []
  lines = []
  told = []
})
afterEach(() => void vi.useRealTimers())

function errorWith(code: string): Error {
  return Object.assign(new Error(code), { code })
}

const infosOf = (addresses: string[]) =>
  addresses.map(
    (address) => ({ address, family: address.includes(':') ? 'IPv6' : 'IPv4' }) as NetworkInterfaceInfo,
  )

const sources: AddressSources = {
  interfaces: () => ({ br0: infosOf(bridge), eth0: infosOf(own), down: undefined }),
  source: async (family) => own.findLast((address) => address.includes(':') === (family === 'ipv6')),
  async resolve(host, family) {
    questions.push(`${family} ${host}`)
    const answer = records[family]
    if (answer instanceof Error) throw answer
    return answer
  },
}

function newWatcher(
  { ipv4, ipv6 }: { ipv4?: string[]; ipv6?: string[] } = {},
  { rootHost = ROOT_HOST, answersItself = false } = {},
): PublicAddressWatcher {
  const log = createLog('info', { write: (line) => lines.push(JSON.parse(line)) })
  const settings = { publicAddresses: { ipv4, ipv6 }, rootHost }
  return new PublicAddressWatcher(settings, log, { sources, answersItself })
}

const listener = (addresses: PublicAddresses): void => void told.push(addresses)
const settle = () => vi.advanceTimersByTimeAsync(0)
const refresh = () => vi.advanceTimersByTimeAsync(REFRESH_MS)

describe('where they come from', () => {
  test('the settings: nothing is looked for', async () => {
    own.push('8.8.8.8')
    newWatcher({ ipv4: ['10.1.1.1', '1.1.1.1'], ipv6: ['2606:4700::2'] }).watch(listener)
    await refresh()
    expect(told).toEqual([{ ipv4: ['1.1.1.1', '10.1.1.1'], ipv6: ['2606:4700::2'] }])
    expect([questions, vi.getTimerCount()]).toEqual([[], 0])
  })

  test('the setting of one family: the other one is looked for', async () => {
    own.push('8.8.8.8', '2606:4700::1')
    newWatcher({ ipv4: ['1.1.1.1'] }).watch(listener)
    await settle()
    expect(told).toEqual([{ ipv4: ['1.1.1.1'], ipv6: ['2606:4700::1'] }])
  })

  test('the public addresses of the interfaces, in order and once', async () => {
    own.push('8.8.8.8', '2606:4700::1', '1.1.1.1', '8.8.8.8')
    newWatcher().watch(listener)
    await settle()
    expect(told).toEqual([{ ipv4: ['1.1.1.1', '8.8.8.8'], ipv6: ['2606:4700::1'] }])
    expect(questions).toEqual([])
  })

  test('a family that the interfaces do not have: the public addresses of the root host', async () => {
    own.push('2606:4700::1')
    records.ipv4 = ['9.9.9.9', '192.168.0.1']
    newWatcher().watch(listener)
    await settle()
    expect(told).toEqual([{ ipv4: ['9.9.9.9'], ipv6: ['2606:4700::1'] }])
    expect(questions).toEqual([`ipv4 ${ROOT_HOST}`])
  })

  test('of many addresses those of the interface that the machine uses, and so many', async () => {
    bridge = Array.from({ length: 9 }, (_, index) => `2606:4700:0:1::${index}`)
    own.push('2606:4700::9', '2606:4700::5')
    newWatcher({ ipv4: [] }).watch(listener)
    await settle()
    expect(told[0]?.ipv6).toHaveLength(4)
    expect(told[0]?.ipv6).toEqual(expect.arrayContaining(['2606:4700::5', '2606:4700::9']))
    // Temporary addresses (RFC 8981) come and go; the one in use is published.
    own.push(...Array.from({ length: 9 }, (_, index) => `2606:4700::a${index}`))
    await refresh()
    expect(told[1]?.ipv6).toHaveLength(4)
    expect(told[1]?.ipv6).toContain('2606:4700::a8')
    expect(told[1]?.ipv6.filter((address) => bridge.includes(address))).toEqual([])
  })

  test('a root host of many addresses gives so many', async () => {
    records.ipv4 = Array.from({ length: 200 }, (_, index) => `8.8.8.${index}`)
    newWatcher({ ipv6: [] }).watch(listener)
    await settle()
    expect(told[0]?.ipv4).toHaveLength(4)
  })

  test('a root host on localhost is not asked for in DNS', async () => {
    newWatcher({}, { rootHost: 'relay.localhost' }).watch(listener)
    await settle()
    expect([told, questions]).toEqual([[{ ipv4: [], ipv6: [] }], []])
  })

  test('a root host for which the relay answers itself is not asked for in DNS', async () => {
    newWatcher({}, { answersItself: true }).watch(listener)
    await settle()
    expect([told, questions]).toEqual([[{ ipv4: [], ipv6: [] }], []])
  })

  test('where there are none the log says what to do', async () => {
    newWatcher().watch(listener)
    await settle()
    expect(lines).toEqual([
      expect.objectContaining({ level: 40, msg: expect.stringContaining('set PUBLIC_IPV4') }),
    ])
  })
})

describe('watching', () => {
  test('costs nothing before the first listener and after the last one', async () => {
    const watcher = newWatcher()
    await refresh()
    expect([questions, vi.getTimerCount()]).toEqual([[], 0])
    const leave = [watcher.watch(listener), watcher.watch(() => {})]
    await settle()
    leave[0]!()
    leave[0]!()
    expect(vi.getTimerCount()).toBe(1)
    leave[1]!()
    questions = []
    await refresh()
    expect([questions, vi.getTimerCount()]).toEqual([[], 0])
  })

  test('tells every listener what is known, and each change once', async () => {
    records.ipv4 = ['9.9.9.9']
    const watcher = newWatcher()
    watcher.watch(listener)
    await refresh()
    expect(told).toEqual([{ ipv4: ['9.9.9.9'], ipv6: [] }])
    const late: PublicAddresses[] = []
    watcher.watch((addresses) => late.push(addresses))
    expect(late).toEqual([])
    await settle()
    expect(late).toEqual(told)
    records.ipv4 = ['9.9.9.10']
    await refresh()
    expect(told.slice(1)).toEqual([{ ipv4: ['9.9.9.10'], ipv6: [] }])
    expect(late).toEqual(told)
  })

  test('a listener that leaves is not called any more, also while an answer is on its way', async () => {
    newWatcher().watch(listener)()
    await refresh()
    expect(told).toEqual([])
  })

  test('keeps the addresses while DNS does not answer, and not when it answers that there are none', async () => {
    records.ipv4 = ['9.9.9.9']
    newWatcher().watch(listener)
    await settle()
    for (const code of ['ETIMEOUT', 'ESERVFAIL', 'ECONNREFUSED']) {
      records.ipv4 = errorWith(code)
      await refresh()
    }
    expect(told).toHaveLength(1)
    records.ipv4 = errorWith('ENOTFOUND')
    await refresh()
    expect(told[1]).toEqual({ ipv4: [], ipv6: [] })
  })

  test('does not keep the process', () => {
    const leave = newWatcher().watch(listener)
    vi.useRealTimers()
    const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const leaveReal = newWatcher().watch(listener)
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout')).toHaveLength(timers)
    leave()
    leaveReal()
  })
})
