// The administration: what a change sends and what takes it back, which leases are shown, what the graphs get.
import type { PolicyChange } from '@svc/protocol'
import { describe, expect, test } from 'vitest'
import { ipChange, leaseChange, relayChange, settingsChange } from '../src/admin/change-request.ts'
import { filterLeases, statusOf } from '../src/admin/filter-leases.ts'
import { addSample, type Sample } from '../src/admin/load-samples.ts'
import { machineRows } from '../src/admin/machine-rows.ts'
import { pastChanges } from '../src/admin/past-changes.ts'
import { lease, machine } from './support.ts'

const key = 'demo:0xab'
const none = {
  approved: [],
  denied: [],
  banned: [],
  banned_ips: [],
  banned_relays: [],
  banned_domains: [],
  bps: {},
}

describe('undoing', () => {
  test.each([
    [{ is_banned: true }, none, { is_banned: false }],
    [{ is_banned: false }, { ...none, banned: [key] }, { is_banned: true }],
    // A denial revokes the approval as well.
    [{ is_denied: true }, { ...none, approved: [key] }, { is_denied: false, is_approved: true }],
    [{ is_denied: false }, { ...none, denied: [key] }, { is_denied: true }],
    [
      { is_approved: true, is_denied: false },
      { ...none, denied: [key] },
      { is_approved: false, is_denied: true },
    ],
    [{ bps: 5 }, none, { bps: 0 }],
    [{ bps: 0 }, { ...none, bps: { [key]: 7 } }, { bps: 7 }],
  ])('%j after %j restores %j, and touches nothing else', (update, before, restored) => {
    const { request, undo } = leaseChange({ identity_key: key, ...update }, before, '')
    expect(request).toEqual({ path: '/api/policy/leases', body: { identity_key: key, ...update } })
    expect(undo).toEqual({ path: '/api/policy/leases', body: { identity_key: key, ...restored } })
  })

  test('of a ban of another relay', () => {
    const relay = 'https://relay.example'
    expect(relayChange(relay, true)).toMatchObject({
      text: `${relay} was banned`,
      request: { path: '/api/policy/relays', body: { relay, is_banned: true } },
      undo: { path: '/api/policy/relays', body: { relay, is_banned: false } },
    })
  })

  test('of a ban of an address and of settings', () => {
    expect(ipChange('192.0.2.1', true).undo.body).toEqual({ ip: '192.0.2.1', is_banned: false })
    const before = {
      approval_mode: 'auto',
      landing_page_enabled: true,
      udp: { enabled: false, max_leases: 0 },
      tcp_port: { enabled: false, max_leases: 0 },
    } as const
    const change = settingsChange({ ...before, approval_mode: 'manual' }, before)
    expect(change.undo).toEqual({ path: '/api/policy', body: before })
  })
})

describe('the changes that the relay tells of', () => {
  const at = '2026-01-02T03:04:05.000Z'
  const ban = (id: number, is_banned: boolean): PolicyChange => ({
    id,
    at,
    kind: 'lease',
    made: { identity_key: key, is_banned },
    undo: { is_banned: !is_banned, identity_key: key },
  })

  test('say what was decided, and where what takes them back is sent', () => {
    const undo = { ip: '192.0.2.1', is_banned: false }
    const made = { ...undo, is_banned: true }
    expect(pastChanges([{ id: 3, at, kind: 'ip', made, undo }])).toEqual([
      {
        id: 3,
        at: Date.parse(at),
        text: '192.0.2.1 was banned',
        undo: { path: '/api/policy/ips', body: undo },
        isUndone: false,
      },
    ])
  })

  test.each([
    [{ is_approved: true, is_denied: false }, 'demo was approved'],
    [{ is_approved: false }, 'demo is no longer approved'],
    [{ is_denied: true }, 'demo was denied'],
    [{ is_denied: true, is_approved: false }, 'demo was denied'],
    [{ is_denied: false }, 'demo is no longer denied'],
    [{ is_banned: true, bps: 5000 }, 'demo was banned; demo has the limit 5.0 kB/s'],
  ])('%j is said as “%s”', (update, text) => {
    const change = { ...ban(1, true), made: { identity_key: key, ...update } } as PolicyChange
    expect(pastChanges([change])[0]!.text).toBe(text)
  })

  test('are taken back by whoever did just that later', () => {
    const isUndone = (...changes: PolicyChange[]): boolean[] =>
      pastChanges(changes).map((made) => made.isUndone)
    expect(isUndone(ban(2, false), ban(1, true))).toEqual([false, true])
    expect(isUndone(ban(2, true), ban(1, true))).toEqual([false, false])
    expect(isUndone(ban(3, true), ban(2, false), ban(1, true))).toEqual([false, true, true])
  })
})

describe('leases', () => {
  const unlisted = { hide: true }
  const waiting = lease('waiting', { is_approved: false, metadata: unlisted })
  const banned = lease('banned', { is_banned: true, is_denied: true, is_approved: false, metadata: unlisted })
  const limited = lease('limited', {
    bps: 5,
    first_seen_at: '2026-01-02T00:00:00.000Z',
    metadata: unlisted,
  })
  const listed = lease('listed', { metadata: { owner: 'Ada' }, is_ip_banned: true })
  const all = [listed, limited, banned, waiting]

  test('the strongest decision is what a lease is shown with', () => {
    expect(all.map(statusOf)).toEqual(['ipBanned', 'routed', 'banned', 'waiting'])
    expect(statusOf(lease('d', { is_denied: true, is_approved: false }))).toBe('denied')
  })

  test.each([
    ['all', '', ['waiting', 'limited', 'listed', 'banned']],
    ['waiting', '', ['waiting']],
    ['blocked', '', ['listed', 'banned']],
    ['limited', '', ['limited']],
    ['listed', 'ada', ['listed']],
    ['all', '192.0.2.1 limited', ['limited']],
    ['listed', 'limited', []],
  ] as const)('shown: %s, search "%s"', (filter, search, expected) => {
    const shown = filterLeases(all, filter, search).map(({ name }) => name)
    expect(shown.toSorted()).toEqual(expected.toSorted())
    // Who waits for a decision is first, then who came last.
    expect(shown[0]).toBe(expected[0])
  })
})

describe('machines', () => {
  test('are in the order of their addresses, whichever of them answers', () => {
    const [a, b, c] = [machine('a:1'), machine('b:1'), machine('c:1')] as const
    const rows = machineRows([{ ...b, is_this: true }, c, a])
    expect(rows.map(({ address, isThis }) => [address, isThis])).toEqual([
      ['a:1', false],
      ['b:1', true],
      ['c:1', false],
    ])
    expect(machineRows([c, a, b]).map(({ key }) => key)).toEqual(rows.map(({ key }) => key))
  })

  test.each([
    ['online', 'online'],
    ['draining', ''],
    ['unreachable', 'wrong'],
  ] as const)('one that is %s has its figures, and the color "%s"', (state, color) => {
    const figures = { carriers: 1_234, visitor_connections: 5, visitor_received_bytes: 9_400 }
    const [row] = machineRows([machine('a:1', { state, ...figures, visitor_sent_bytes: 7 })])
    expect(row).toMatchObject({ state, color })
    expect(row!.cells.map(([, text]) => text)).toEqual(['1.2.3', '1,234', '5', '9.4 kB', '7 B'])
  })

  test('one that is gone has none', () => {
    const [row] = machineRows([machine('a:1', { state: 'gone', visitor_connections: 5 })])
    expect(row!.cells.map(([, text]) => text)).toEqual(['1.2.3', '–', '–', '–', '–'])
  })

  test('one that was started again at its address is another row', () => {
    const again = machine('a:1', { started_at: '2026-01-02T00:00:00.000Z' })
    const keys = machineRows([again, machine('a:1', { state: 'gone' })]).map(({ key }) => key)
    expect(new Set(keys).size).toBe(2)
  })

  test('direction marks in what a machine says are left out', () => {
    const [row] = machineRows([machine('a\u202e:1', { release_version: '1\u2066.2' })])
    expect([row!.address, row!.cells[0]![1]]).toEqual(['a :1', '1 .2'])
  })
})

describe('samples', () => {
  const load = (received: number, sent: number) => ({
    leases: 1,
    ready_sessions: 2,
    carriers: 1,
    visitor_connections: 0,
    visitor_received_bytes: received,
    visitor_sent_bytes: sent,
  })

  test('bytes become rates; a relay that was started again counts from zero', () => {
    let samples: readonly Sample[] = addSample([], load(100, 0), 1000)
    samples = addSample(samples, load(400, 50), 3000)
    samples = addSample(samples, load(0, 60), 5000)
    expect(samples.map(({ receivedRate, sentRate }) => [receivedRate, sentRate])).toEqual([
      [null, null],
      [150, 25],
      [null, 5],
    ])
  })

  test('of several machines the bytes of those count that are in two samples', () => {
    const started_at = '2026-01-02T00:00:00.000Z'
    const of = (address: string, visitor_received_bytes: number, fields = {}) =>
      machine(address, { visitor_received_bytes, ...fields })
    const rates = (...steps: ReturnType<typeof machine>[][]) => {
      let samples: readonly Sample[] = []
      for (const [at, machines] of steps.entries()) {
        const sum = machines.reduce((total, one) => total + one.visitor_received_bytes, 0)
        samples = addSample(samples, { ...load(sum, 0), machines }, at * 1000)
      }
      return samples.slice(1).map(({ receivedRate }) => receivedRate)
    }
    const [a, b] = [of('a', 100), of('b', 1_000)]
    expect(rates([a, b], [of('a', 110), of('b', 1_001)])).toEqual([11])
    expect(rates([a, b], [of('a', 110)], [of('a', 110), b])).toEqual([10, 0])
    expect(rates([a, b], [of('a', 110), of('b', 5, { started_at })])).toEqual([10])
    expect(rates([a, b], [of('b', 1_002), of('a', 90)])).toEqual([2])
    const alone = addSample([], load(100, 0), 0)
    expect(addSample(alone, { ...load(200, 0), machines: [a] }, 1000).at(-1)!.receivedRate).toBe(null)
  })

  test('two hundred are kept', () => {
    let samples: readonly Sample[] = []
    for (let i = 0; i < 300; i++) samples = addSample(samples, load(i, i), i * 1000)
    expect([samples.length, samples[0]?.time]).toEqual([200, 100])
  })
})
