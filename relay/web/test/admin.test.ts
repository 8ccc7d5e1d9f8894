// The administration: what a change sends and what takes it back, what the relay tells of changes, what the graphs get.
import type { LeaseDecisions, PolicyChange } from '@svc/protocol'
import { describe, expect, test } from 'vitest'
import { fieldTime, isFuture, nextMinute, tomorrow, untilOf } from '../src/admin/ban-end.ts'
import { banChange, leaseChange, manyChange, settingsChange } from '../src/admin/change-request.ts'
import { auditText } from '../src/admin/history/audit-text.ts'
import { machineRows } from '../src/admin/machine-rows.ts'
import { addSample, type Sample } from '../src/admin/overview/load-samples.ts'
import { pastChanges } from '../src/admin/past-changes.ts'
import { machine } from './support.ts'

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

  test.each([
    ['banned_ips', '/api/policy/ips', 'ip', '192.0.2.1'],
    ['banned_relays', '/api/policy/relays', 'relay', 'https://relay.example'],
    ['banned_domains', '/api/policy/domains', 'domain', 'evil.example'],
  ] as const)('of a ban among %s, whose reason and end come back with it', (kind, path, field, what) => {
    const terms = { reason: 'spam', until: '2030-01-01T00:00:00.000Z' }
    const ban = { path, body: { [field]: what, is_banned: true, ...terms } }
    const lift = { path, body: { [field]: what, is_banned: false } }
    expect(banChange(kind, what, true, terms)).toEqual({
      text: `${what} was banned`,
      request: ban,
      undo: lift,
    })
    // What the relay knows besides is not sent back.
    const details = { ...terms, by: 'alice', at: '2026-01-01T00:00:00.000Z' }
    expect(banChange(kind, what, false, details)).toMatchObject({ request: lift, undo: ban })
    expect(banChange(kind, what, false).undo).toEqual({ path, body: { [field]: what, is_banned: true } })
  })

  test('of many decisions restores each', () => {
    const before = { ...none, approved: ['a:0x1'], denied: ['b:0x2'] }
    const leases = [
      { identity_key: 'a:0x1', name: 'a' },
      { identity_key: 'b:0x2', name: 'b' },
    ]
    expect(manyChange(leases, 'approve', before)).toEqual({
      text: '2 sites were approved',
      request: [
        {
          path: '/api/policy/leases/bulk',
          body: {
            decisions: [
              { identity_key: 'a:0x1', is_approved: true, is_denied: false },
              { identity_key: 'b:0x2', is_approved: true, is_denied: false },
            ],
          },
        },
      ],
      undo: [
        {
          path: '/api/policy/leases/bulk',
          body: {
            decisions: [
              { identity_key: 'a:0x1', is_approved: true, is_denied: false },
              { identity_key: 'b:0x2', is_approved: false, is_denied: true },
            ],
          },
        },
      ],
    })
    expect(manyChange(leases.slice(0, 1), 'deny', before).text).toBe('a was denied')
  })

  test('of many bans restores each with its own reason, in as many requests', () => {
    const details = { reason: 'older', at: '2026-01-01T00:00:00.000Z', by: 'ana' }
    const lists = { banned_ips: {}, banned_relays: {}, banned_domains: {} }
    const before = {
      ...none,
      banned: ['site-1:0x1'],
      ban_details: { ...lists, banned: { 'site-1:0x1': details } },
    }
    const leases = Array.from({ length: 101 }, (_, number) => ({
      identity_key: `site-${number}:0x1`,
      name: `site-${number}`,
    }))
    const { text, request, undo } = manyChange(leases, { ban: { reason: 'spam' } }, before)
    expect(text).toBe('101 sites were banned')
    const decisionsOf = (calls: typeof request) =>
      [calls].flat().map(({ body }) => (body as LeaseDecisions).decisions)
    expect(decisionsOf(request).map(({ length }) => length)).toEqual([100, 1])
    expect(
      new Set(
        decisionsOf(request)
          .flat()
          .map(({ reason }) => reason),
      ),
    ).toEqual(new Set(['spam']))
    expect(decisionsOf(undo).map((part) => part.slice(0, 2))).toEqual([
      [
        { identity_key: 'site-0:0x1', is_banned: false },
        { identity_key: 'site-1:0x1', is_banned: true, reason: 'older' },
      ],
      [{ identity_key: 'site-100:0x1', is_banned: false }],
    ])
  })

  test('of settings', () => {
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

describe('the end of a ban', () => {
  const now = Date.parse('2026-03-01T12:34:56.789Z')

  test.each([
    ['never', undefined],
    ['hour', '2026-03-01T13:34:56.789Z'],
    ['month', '2026-03-31T12:34:56.789Z'],
  ] as const)('%s is %s', (end, until) => {
    expect(untilOf(end, '', now)).toBe(until)
  })

  test('may be a time, which is one of the zone of who types it', () => {
    expect(untilOf('chosen', fieldTime(now))).toBe('2026-03-01T12:34:00.000Z')
    expect(untilOf('chosen', fieldTime(tomorrow(now)))).toBe('2026-03-02T12:35:00.000Z')
  })

  test('is in the future', () => {
    expect(isFuture(fieldTime(now), now)).toBe(false)
    expect(isFuture(fieldTime(nextMinute(now)), now)).toBe(true)
    expect(isFuture('', now)).toBe(false)
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
        by: undefined,
        text: '192.0.2.1 was banned',
        details: [],
        canUndo: true,
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

  test('say why a ban was made and until when, and one whose end is over is not made again', () => {
    const made = { identity_key: key, is_banned: true, reason: 'spam', until: '2026-02-01T00:00:00.000Z' }
    const undo = { identity_key: key, is_banned: false }
    const [banned, lifted] = pastChanges(
      [
        { id: 2, at, kind: 'lease', made, undo },
        { id: 1, at, kind: 'lease', made: undo, undo: made },
      ],
      Date.parse('2026-03-01T00:00:00.000Z'),
    )
    expect(banned).toMatchObject({
      canUndo: true,
      details: ['Reason: spam', expect.stringContaining('Feb 1')],
    })
    expect(lifted).toMatchObject({ canUndo: false, details: [] })
  })

  test('about many sites are one line', () => {
    const decisions = ['a:0x1', 'b:0x2'].map((identity_key) => ({ identity_key, is_approved: true }))
    const undone = decisions.map((one) => ({ ...one, is_approved: false }))
    const [change] = pastChanges([
      { id: 1, at, kind: 'leases', made: { decisions }, undo: { decisions: undone } },
    ])
    expect(change).toMatchObject({
      text: '2 sites were approved',
      undo: { path: '/api/policy/leases/bulk', body: { decisions: undone } },
    })
  })

  test('about bans of many sites say why, and are made again only while none is over', () => {
    const until = '2026-02-01T00:00:00.000Z'
    const bans = ['a:0x1', 'b:0x2'].map((identity_key) => ({
      identity_key,
      is_banned: true,
      reason: 'spam',
      until,
    }))
    const lifts = bans.map(({ identity_key }) => ({ identity_key, is_banned: false }))
    const changes: PolicyChange[] = [
      { id: 2, at, kind: 'leases', made: { decisions: lifts }, undo: { decisions: bans } },
      { id: 1, at, kind: 'leases', made: { decisions: bans }, undo: { decisions: lifts } },
    ]
    expect(pastChanges(changes, Date.parse(at))).toMatchObject([
      { text: '2 sites are no longer banned', details: [], canUndo: true },
      { text: '2 sites were banned', details: ['Reason: spam', expect.stringContaining('Feb 1')] },
    ])
    expect(pastChanges(changes, Date.parse('2026-03-01T00:00:00.000Z'))[0]).toMatchObject({ canUndo: false })
  })

  test('about many sites are taken back, too, where the ban of one before is over', () => {
    const until = '2026-02-01T00:00:00.000Z'
    const keys = ['a:0x1', 'b:0x2']
    const banned = keys.map((identity_key) => ({ identity_key, is_banned: true, is_denied: true }))
    const before = [
      { identity_key: 'a:0x1', is_banned: true, reason: 'spam', until, is_denied: false },
      { identity_key: 'b:0x2', is_banned: false, is_denied: false },
    ]
    const change: PolicyChange = {
      ...{ id: 1, at, kind: 'leases' },
      ...{ made: { decisions: banned }, undo: { decisions: before } },
    }
    const then = pastChanges([change], Date.parse(until) - 1)
    expect(then).toMatchObject([{ canUndo: true, undo: { body: { decisions: before } } }])
    const decisions = keys.map((identity_key) => ({ identity_key, is_banned: false, is_denied: false }))
    const [now] = pastChanges([change], Date.parse(until))
    expect(now).toMatchObject({ canUndo: true, isUndone: false })
    expect(now?.undo).toEqual({ path: '/api/policy/leases/bulk', body: { decisions } })
    const undone: PolicyChange = {
      ...{ id: 2, at, kind: 'leases' },
      ...{ made: { decisions }, undo: { decisions: banned } },
    }
    expect(pastChanges([undone, change], Date.parse(until))[1]).toMatchObject({ isUndone: true })
  })

  test('are taken back by whoever did just that later', () => {
    const isUndone = (...changes: PolicyChange[]): boolean[] =>
      pastChanges(changes).map((made) => made.isUndone)
    expect(isUndone(ban(2, false), ban(1, true))).toEqual([false, true])
    expect(isUndone(ban(2, true), ban(1, true))).toEqual([false, false])
    expect(isUndone(ban(3, true), ban(2, false), ban(1, true))).toEqual([false, true, true])
  })
})

describe('a change of the settings', () => {
  const settings = {
    approval_mode: 'auto' as 'auto' | 'manual',
    landing_page_enabled: true,
    udp: { enabled: false, max_leases: 0 },
    tcp_port: { enabled: true, max_leases: 10 },
    reserved_names: ['www', 'mail'],
  }
  const made = {
    ...settings,
    approval_mode: 'manual' as const,
    landing_page_enabled: false,
    tcp_port: { enabled: true, max_leases: 20 },
    reserved_names: ['www', 'bank'],
  }
  const difference = [
    'Who may register: Everybody → With approval',
    'Landing page and list of sites: on → off',
    'Leases with a TCP port, at most: 10 → 20',
    'Reserved names: added bank',
    'Reserved names: removed mail',
  ]

  test('says what is different, from what to what, and who did it', () => {
    const [change] = pastChanges([
      { id: 1, at: '2026-01-02T03:04:05.000Z', by: 'alice', kind: 'settings', made, undo: settings },
    ])
    expect(change).toMatchObject({ text: 'The settings were changed', by: 'alice', details: difference })
  })

  test('is a line for each of them in the audit log', () => {
    const entry = { at: '2026-01-02T03:04:05.000Z', kind: 'settings', made, undo: settings }
    expect(auditText(entry)).toEqual(['The settings were changed', ...difference])
  })
})

describe('a line of the audit log', () => {
  const at = '2026-01-02T03:04:05.000Z'
  test.each([
    [
      'lease',
      { identity_key: key, is_banned: true, reason: 'spam\u202e' },
      { identity_key: key, is_banned: false },
      ['demo was banned', 'Reason: spam', key],
    ],
    ['file', { mode: { from: 1, to: 2 } }, undefined, ['policy.json was edited', 'mode: {"from":1,"to":2}']],
    ['of the future', { a: 'b' }, undefined, ['of the future', 'a: b']],
  ])('of kind %s is said in words, or field by field', (kind, made, undo, lines) => {
    expect(auditText({ at, kind, made, undo })).toEqual(lines)
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
