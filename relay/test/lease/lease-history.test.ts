// What happened to an identity: its lease, the requests for approval, and the decisions of administrators.

import type { LeaseEvent, PolicyLeaseResponse, PolicyStep } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Lease, LeaseEnd } from '../../src/core/lease/lease.ts'
import { LEASE_EVENTS_MAX, LEASE_HISTORY_MS, LeaseHistory } from '../../src/core/lease/lease-history.ts'
import { type Answer, newAccount, startTestRelay, type TestRelay } from '../support/relay.ts'

const ADMIN_TOKEN = 'the-administrators-long-token'
const AT = '2030-01-01T00:00:00.000Z'

describe('a history', () => {
  let time: number
  let history: LeaseHistory
  let changed: (lease: Lease) => void
  beforeEach(() => {
    time = 1_900_000_000_000
    history = historyOf(64)
  })
  afterEach(() => history.close())

  function historyOf(max: number): LeaseHistory {
    return new LeaseHistory({
      leases: {
        onChange: (listener) => {
          changed = listener
        },
      },
      routing: ({ identityKey }) => (identityKey.startsWith('waits') ? 'approval' : 'allowed'),
      now: () => time,
      max,
    })
  }
  const lease = (name: string, clientIp = '192.0.2.1', end?: LeaseEnd): Lease => {
    const ended = end === undefined ? new AbortController().signal : AbortSignal.abort(end)
    return { identityKey: `${name}:0x1`, clientIp, registeredFrom: clientIp, ended } as Lease
  }
  const kinds = (name: string) => history.of(`${name}:0x1`).map(({ kind }) => kind)
  const ban = (number: number): PolicyStep => ({
    kind: 'lease',
    made: { identity_key: 'demo:0x1', is_banned: true, reason: `${number}` },
    undo: { identity_key: 'demo:0x1', is_banned: false },
  })

  test('tells when a lease came, moved and went, and not of each renewal', () => {
    for (const one of [lease('demo'), lease('demo'), lease('demo', '192.0.2.2'), lease('demo', '192.0.2.2')])
      changed(one)
    changed(lease('demo', '192.0.2.2', 'replaced'))
    changed(lease('demo', '192.0.2.2'))
    changed(lease('demo', '192.0.2.2', 'expired'))
    changed(lease('demo', '192.0.2.2'))
    expect(history.of('demo:0x1')).toEqual([
      { at: expect.any(String), kind: 'registered', client_ip: '192.0.2.2' },
      { at: expect.any(String), kind: 'ended', end: 'expired' },
      { at: expect.any(String), kind: 'address_changed', client_ip: '192.0.2.2' },
      { at: expect.any(String), kind: 'registered', client_ip: '192.0.2.1' },
    ])
  })

  test('tells when a lease waits for approval', () => {
    changed(lease('waits'))
    changed(lease('waits'))
    expect(kinds('waits')).toEqual(['approval_requested', 'registered'])
  })

  test('is kept for a day after the last event of an identity without a lease', () => {
    changed(lease('demo'))
    changed(lease('stays'))
    changed(lease('demo', '192.0.2.1', 'unregistered'))
    time += LEASE_HISTORY_MS
    history.sweep()
    expect(history.size).toBe(2)
    time += 1
    expect(kinds('demo')).toEqual([])
    history.sweep()
    expect(history.size).toBe(1)
    expect(kinds('stays')).toEqual(['registered'])
  })

  test('has the last events of an identity alone, and of many identities a share of each network', () => {
    for (let number = 0; number < 3 * LEASE_EVENTS_MAX; number++) history.decided(ban(number), AT, 'ana')
    expect(history.of('demo:0x1')).toHaveLength(LEASE_EVENTS_MAX)
    expect(history.of('demo:0x1')[0]).toMatchObject({ reason: `${3 * LEASE_EVENTS_MAX - 1}` })
    for (let number = 0; number < 1_000; number++) changed(lease(`hostile-${number}`, '203.0.113.1'))
    expect(history.size).toBeLessThan(64)
    changed(lease('honest', '198.51.100.1'))
    expect(kinds('honest')).toEqual(['registered'])
  })
})

describe('a history that was stored', () => {
  const START = 1_900_000_000_000
  let changed: (lease: Lease) => void
  const historyAt = (time: number, isShared = false): LeaseHistory =>
    new LeaseHistory({
      leases: {
        onChange: (listener) => {
          changed = listener
        },
      },
      routing: () => 'allowed',
      isShared: () => isShared,
      now: () => time,
    })
  const leaseSince = (firstSeenAt: number, end?: LeaseEnd): Lease => {
    const ended = end === undefined ? new AbortController().signal : AbortSignal.abort(end)
    const clientIp = '192.0.2.1'
    return { identityKey: 'demo:0x1', clientIp, registeredFrom: clientIp, firstSeenAt, ended } as Lease
  }
  /** What is known after a restart at that time. */
  const restarted = (before: LeaseHistory, time: number): LeaseHistory => {
    const stored = [...before.stored()]
    before.close()
    const after = historyAt(time)
    for (const [key, history] of stored) after.restore(key, history)
    after.close()
    return after
  }
  const kinds = (history: LeaseHistory) => history.of('demo:0x1').map(({ kind }) => kind)

  test('goes on after a restart, unless it is over', () => {
    const before = historyAt(START)
    changed(leaseSince(START))
    changed(leaseSince(START, 'shutdown'))
    expect(kinds(restarted(before, START + LEASE_HISTORY_MS + 1))).toEqual([])
    const after = restarted(before, START + LEASE_HISTORY_MS)
    changed(leaseSince(START + LEASE_HISTORY_MS))
    expect(kinds(after)).toEqual(['registered', 'ended', 'registered'])
  })

  test('has no end and no begin for a lease that other machines had meanwhile', () => {
    const before = historyAt(START, true)
    changed(leaseSince(START))
    changed(leaseSince(START, 'shutdown'))
    const after = restarted(before, START + 1_000)
    changed(leaseSince(START))
    changed(leaseSince(START, 'expired'))
    expect(kinds(after)).toEqual(['ended', 'registered'])
  })
})

describe('GET /api/policy/lease', () => {
  let relay: TestRelay
  beforeEach(async () => {
    relay = await startTestRelay({ ADMIN_TOKEN })
  })
  afterEach(() => relay.close())

  const Authorization = `Bearer ${ADMIN_TOKEN}`
  const ask = (key: string): Promise<Answer> =>
    relay.call('GET', `/api/policy/lease?identity_key=${encodeURIComponent(key)}`, undefined, {
      Authorization,
    })
  const about = async (key: string): Promise<PolicyLeaseResponse> =>
    (await ask(key)).json.data as unknown as PolicyLeaseResponse
  const decide = (path: string, body: object): Promise<Answer> =>
    relay.call('POST', path, body, { Authorization })
  const shown = (events: readonly LeaseEvent[]) => events.map(({ at: _at, ...event }) => event)

  test('protocol §20.2.13: has all about an identity, also after the end of its lease', async () => {
    await decide('/api/policy', {
      approval_mode: 'manual',
      landing_page_enabled: true,
      udp: { enabled: false, max_leases: 0 },
      tcp_port: { enabled: false, max_leases: 0 },
    })
    const account = newAccount()
    const { access_token } = await relay.register('demo', { account })
    const identity_key = `demo:${account.address.toLowerCase()}`
    const { lease, ...waiting } = await about(identity_key.toUpperCase().replace('0X', '0x'))
    expect(lease).toMatchObject({ identity_key, name: 'demo', is_approved: false })
    expect(waiting).toMatchObject({ identity_key, is_approved: false, is_banned: false, bps: 0 })
    expect(waiting.hours).toHaveLength(24)
    await decide('/api/policy/leases/bulk', { decisions: [{ identity_key, is_approved: true }] })
    const until = '2999-01-01T00:00:00.000Z'
    await decide('/api/policy/leases', { identity_key, is_banned: true, reason: 'spam', until, bps: 1000 })
    await decide('/api/policy/leases', { identity_key, is_banned: false, is_denied: true, bps: 0 })
    await relay.call('POST', '/sdk/unregister', { access_token })
    const ended = await about(identity_key)
    expect(ended).toMatchObject({ is_approved: false, is_denied: true, is_banned: false, bps: 0 })
    expect(ended.lease).toBeUndefined()
    const by = 'ADMIN_TOKEN'
    const [end, ...events] = shown(ended.events)
    expect(end).toEqual({ kind: 'ended', end: 'unregistered' })
    expect(events).toEqual([
      { kind: 'limit_removed', by },
      { kind: 'denied', by },
      { kind: 'ban_ended', by },
      { kind: 'limited', by, bps: 1000 },
      { kind: 'banned', by, reason: 'spam', until },
      { kind: 'approved', by },
      { kind: 'approval_requested', client_ip: '127.0.0.1' },
      { kind: 'registered', client_ip: '127.0.0.1' },
    ])
  })

  test('protocol §20.2.13: knows nothing of an identity that was never here, and is for administrators', async () => {
    const key = `nobody:${newAccount().address}`
    expect(await ask(key)).toMatchObject({ status: 404, json: { error: { code: 'lease_not_found' } } })
    await decide('/api/policy/leases', { identity_key: key, is_denied: true })
    expect(await about(key)).toMatchObject({ is_denied: true, events: [{ kind: 'denied' }] })
    for (const wrong of ['', 'nobody', 'nobody:0x1'])
      expect(await ask(wrong)).toMatchObject({ status: 400, json: { error: { code: 'invalid_request' } } })
    expect((await relay.call('GET', `/api/policy/lease?identity_key=${key}`)).status).toBe(401)
  })
})
