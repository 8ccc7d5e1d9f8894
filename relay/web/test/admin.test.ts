// The administration: what a change sends and what takes it back, which leases are shown, what the graphs get.
import type { PolicyChange } from '@svc/protocol'
import { describe, expect, test } from 'vitest'
import { ipChange, leaseChange, relayChange, settingsChange } from '../src/admin/change-request.ts'
import { filterLeases, statusOf } from '../src/admin/filter-leases.ts'
import { addSample, type Sample } from '../src/admin/load-samples.ts'
import { pastChanges } from '../src/admin/past-changes.ts'
import { lease } from './support.ts'

const key = 'demo:0xab'
const none = { approved: [], denied: [], banned: [], banned_ips: [], banned_relays: [], bps: {} }

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
    [{ is_approved: false }, 'demo is not approved any more'],
    [{ is_denied: true }, 'demo was denied'],
    [{ is_denied: true, is_approved: false }, 'demo was denied'],
    [{ is_denied: false }, 'demo is not denied any more'],
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
  const waiting = lease('waiting', { is_approved: false })
  const banned = lease('banned', { is_banned: true, is_denied: true, is_approved: false })
  const limited = lease('limited', { bps: 5, first_seen_at: '2026-01-02T00:00:00.000Z' })
  const hidden = lease('hidden', { metadata: { hide: true, owner: 'Ada' }, is_ip_banned: true })
  const all = [hidden, limited, banned, waiting]

  test('the strongest decision is what a lease is shown with', () => {
    expect(all.map(statusOf)).toEqual(['ipBanned', 'routed', 'banned', 'waiting'])
    expect(statusOf(lease('d', { is_denied: true, is_approved: false }))).toBe('denied')
  })

  test.each([
    ['all', '', ['waiting', 'limited', 'hidden', 'banned']],
    ['waiting', '', ['waiting']],
    ['blocked', '', ['hidden', 'banned']],
    ['limited', '', ['limited']],
    ['hidden', 'ada', ['hidden']],
    ['all', '192.0.2.1 limited', ['limited']],
    ['hidden', 'limited', []],
  ] as const)('shown: %s, search "%s"', (filter, search, expected) => {
    const shown = filterLeases(all, filter, search).map(({ name }) => name)
    expect(shown.toSorted()).toEqual(expected.toSorted())
    // Who waits for a decision is first, then who came last.
    expect(shown[0]).toBe(expected[0])
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

  test('two hundred are kept', () => {
    let samples: readonly Sample[] = []
    for (let i = 0; i < 300; i++) samples = addSample(samples, load(i, i), i * 1000)
    expect([samples.length, samples[0]?.time]).toEqual([200, 100])
  })
})
