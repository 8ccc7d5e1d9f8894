// Bans with a reason and an end: who sees them, that they end by themselves, and that a restart changes neither.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AuditResponse, PolicyChange, PolicyDecisionsResponse, PolicyStep } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLog } from '../../src/core/log/log.ts'
import { BanEnds } from '../../src/core/policy/ban-ends.ts'
import { Policy } from '../../src/core/policy/policy.ts'
import { WriteHealth } from '../../src/core/storage/write-health.ts'
import { newAccount, startTestRelay, type TestRelay } from '../support/relay.ts'

const ADMIN_TOKEN = 'the-administrators-long-token'
const KEY = `demo:0x${'ab'.repeat(20)}`
const REASON = 'It sends spam to its visitors.'
const FAR = '2999-12-31T23:00:00.000Z'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-bans-'))
})
afterEach(() => rm(directory, { recursive: true }))

const fileOf = async () => JSON.parse(await readFile(join(directory, 'policy.json'), 'utf8'))

describe('the policy', () => {
  const START = Date.parse('2030-01-01T00:00:00Z')
  const HOUR_MS = 3_600_000
  let ended: PolicyStep[]
  let ends: BanEnds | undefined
  let health: WriteHealth
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: START })
    ended = []
    health = new WriteHealth(createLog('silent'))
  })
  afterEach(() => {
    ends?.close()
    health.close()
    vi.useRealTimers()
  })

  const begin = async (): Promise<Policy> => {
    const policy = await Policy.load(directory, { udp: false, tcp: false }, { health })
    ends = new BanEnds({
      policy,
      ended: async (step) => void ended.push(step),
      isShared: () => false,
    })
    return policy
  }
  const pass = async (ms: number): Promise<void> => {
    await vi.advanceTimersByTimeAsync(ms)
  }
  const until = new Date(START + 2 * HOUR_MS).toISOString()
  const details = { reason: REASON, until, at: '2030-01-01T00:00:00.000Z', by: 'ana' }

  test('ends a ban when its time has come, and no earlier', async () => {
    const policy = await begin()
    await policy.updateLease({ identity_key: KEY, is_banned: true }, details)
    await policy.updateBan('banned_ips', '192.0.2.1', true)
    await pass(2 * HOUR_MS - 1)
    await policy.settled()
    expect(policy.identityStatus(KEY).isBanned).toBe(true)
    await pass(60_000)
    await policy.settled()
    await expect.poll(() => policy.identityStatus(KEY).isBanned).toBe(false)
    expect(policy.decisions).toMatchObject({ banned: [], banned_ips: ['192.0.2.1'] })
    expect(ended).toEqual([
      {
        kind: 'lease',
        made: { identity_key: KEY, is_banned: false },
        undo: { identity_key: KEY, is_banned: true, until, reason: REASON },
      },
    ])
    expect((await fileOf()).ban_details.banned_identity_keys).toEqual({})
  })

  test('ends after a restart a ban whose time came while no relay was running', async () => {
    const before = await begin()
    await before.updateBan('banned_domains', 'shop.example', true, details)
    ends?.close()
    vi.setSystemTime(START + 3 * HOUR_MS)
    const policy = await begin()
    expect(policy.isDomainBanned('shop.example')).toBe(true)
    await pass(0)
    await expect.poll(() => policy.isDomainBanned('shop.example')).toBe(false)
    expect(ended).toMatchObject([{ kind: 'domain', made: { domain: 'shop.example', is_banned: false } }])
  })

  test('a new ban without an end replaces one with an end', async () => {
    const policy = await begin()
    await policy.updateBan('banned_ips', '192.0.2.1', true, details)
    const { until: _none, ...endless } = details
    await policy.updateBan('banned_ips', '192.0.2.1', true, endless)
    await pass(3 * HOUR_MS)
    await policy.settled()
    expect(policy.isAnyIpBanned('192.0.2.1')).toBe(true)
    expect(ended).toEqual([])
  })
})

describe('at a relay', () => {
  let relay: TestRelay
  beforeEach(async () => {
    relay = await startTestRelay({ ADMIN_TOKEN }, { directory })
  })
  afterEach(() => relay.stop())

  const ask = async (method: string, path: string, body?: unknown) =>
    await relay.call(method, path, body, { Authorization: `Bearer ${ADMIN_TOKEN}` })
  const get = async <T>(path: string) => (await ask('GET', path)).json.data as unknown as T
  const decisions = () => get<PolicyDecisionsResponse>('/api/policy/decisions')

  test('protocol §20.2.9: a ban has its reason and its end, for administrators alone, also after a restart', async () => {
    const account = newAccount()
    await relay.register('demo', { account })
    const identity_key = `demo:${account.address.toLowerCase()}`
    const ban = { identity_key, is_banned: true, reason: REASON, until: '2999-12-31T23:00:00Z' }
    expect((await ask('POST', '/api/policy/leases', ban)).status).toBe(200)
    const expected = { reason: REASON, until: FAR, at: expect.any(String), by: 'ADMIN_TOKEN' }
    expect((await decisions()).ban_details?.banned).toEqual({ [identity_key]: expected })
    const state = await get<{ leases: { ban?: unknown }[] }>('/api/policy/state')
    expect(state.leases[0]?.ban).toEqual(expected)
    expect((await relay.call('GET', '/api/state')).text).not.toContain('spam')
    await relay.stop()
    relay = await startTestRelay({ ADMIN_TOKEN }, { directory })
    expect((await decisions()).ban_details?.banned).toEqual({ [identity_key]: expected })
  })

  test.each([
    ['ips', { ip: '192.0.2.7' }, 'banned_ips'],
    ['relays', { relay: 'https://relay.example' }, 'banned_relays'],
    ['domains', { domain: 'shop.example' }, 'banned_domains'],
  ] as const)(
    'protocol §20.2.9: so have bans of %s, and what takes their end back',
    async (kind, what, list) => {
      const [subject] = Object.values(what) as [string]
      const path = `/api/policy/${kind}`
      await ask('POST', path, { ...what, is_banned: true, reason: REASON, until: FAR })
      expect((await decisions()).ban_details?.[list][subject]).toMatchObject({ reason: REASON, until: FAR })
      await ask('POST', path, { ...what, is_banned: false })
      expect((await decisions()).ban_details).toBeUndefined()
      const [last] = (await get<{ changes: PolicyChange[] }>('/api/policy/changes')).changes
      expect(last?.undo).toEqual({ ...what, is_banned: true, reason: REASON, until: FAR })
      expect((await ask('POST', path, last?.undo)).status).toBe(200)
      expect((await decisions()).ban_details?.[list][subject]).toMatchObject({ reason: REASON, until: FAR })
    },
  )

  test.each([
    ['a reason without a ban', { is_banned: false, reason: REASON }],
    ['an end without a ban', { until: FAR }],
    ['an end in the past', { is_banned: true, until: '2020-01-01T00:00:00Z' }],
    ['an end that is no time', { is_banned: true, until: 'tomorrow' }],
    ['an end after the year 9999', { is_banned: true, until: '9999-12-31T23:59:59-01:00' }],
    ['a reason of 201 characters', { is_banned: true, reason: 'x'.repeat(201) }],
  ])('protocol §20.2.9: %s is refused, and changes nothing', async (_what, update) => {
    const answer = await ask('POST', '/api/policy/leases', { identity_key: KEY, ...update })
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'invalid_request' } } })
    expect((await decisions()).banned).toEqual([])
  })

  test('protocol §20.2.9: a ban that ended while the relay was stopped is ended by nobody', async () => {
    await ask('POST', '/api/policy/ips', { ip: '192.0.2.7', is_banned: true, reason: REASON, until: FAR })
    await relay.stop()
    const file = await fileOf()
    file.ban_details.banned_ips['192.0.2.7'].until = '2026-01-01T00:00:00.000Z'
    await writeFile(join(directory, 'policy.json'), JSON.stringify(file))
    relay = await startTestRelay({ ADMIN_TOKEN }, { directory })
    await expect.poll(async () => (await decisions()).banned_ips).toEqual([])
    await expect
      .poll(async () => (await get<AuditResponse>('/api/policy/audit')).entries[0])
      .toEqual({
        at: expect.any(String),
        kind: 'ip',
        made: { ip: '192.0.2.7', is_banned: false },
        undo: { ip: '192.0.2.7', is_banned: true, reason: REASON, until: '2026-01-01T00:00:00.000Z' },
      })
    const [change] = (await get<{ changes: PolicyChange[] }>('/api/policy/changes')).changes
    expect(change).toMatchObject({ kind: 'ip', made: { is_banned: false } })
    expect(change?.by).toBeUndefined()
  })
})

describe('POST /api/policy/leases/bulk', () => {
  let relay: TestRelay
  beforeEach(async () => {
    relay = await startTestRelay({ ADMIN_TOKEN }, { directory })
  })
  afterEach(() => relay.stop())
  const ask = async (method: string, path: string, body?: unknown) =>
    await relay.call(method, path, body, { Authorization: `Bearer ${ADMIN_TOKEN}` })
  const get = async <T>(path: string) => (await ask('GET', path)).json.data as unknown as T
  const keyOf = (number: number) => `site-${number}:0x${String(number).padStart(40, '0')}`
  const approvals = (count: number) =>
    Array.from({ length: count }, (_, number) => ({ identity_key: keyOf(number), is_approved: true }))

  test('protocol §20.2.10: decides about a hundred identities in one change, with a line for each in the audit log', async () => {
    await ask('POST', '/api/policy/leases', { identity_key: keyOf(3), is_denied: true })
    const decisions = approvals(100).map((one) => ({ ...one, is_denied: false }))
    expect((await ask('POST', '/api/policy/leases/bulk', { decisions })).status).toBe(200)
    const made = await get<PolicyDecisionsResponse>('/api/policy/decisions')
    expect(made).toMatchObject({ denied: [] })
    expect(made.approved).toHaveLength(100)
    const { changes } = await get<{ changes: PolicyChange[] }>('/api/policy/changes')
    expect(changes).toHaveLength(2)
    expect(changes[0]).toMatchObject({ kind: 'leases', by: 'ADMIN_TOKEN' })
    const { entries } = await get<AuditResponse>('/api/policy/audit')
    expect(entries).toHaveLength(101)
    expect(entries[0]).toMatchObject({ kind: 'lease', by: 'ADMIN_TOKEN', made: decisions[99] })
    expect((await ask('POST', '/api/policy/leases/bulk', changes[0]?.undo)).status).toBe(200)
    const undone = await get<PolicyDecisionsResponse>('/api/policy/decisions')
    expect(undone).toMatchObject({ approved: [], denied: [keyOf(3)] })
  })

  test('protocol §20.2.10: bans many with one reason and one end, and its undo gives each back what it had', async () => {
    await ask('POST', '/api/policy/leases', { identity_key: keyOf(1), is_banned: true, reason: 'older' })
    const terms = { is_banned: true, reason: 'spam', until: '2999-01-01T00:00:00.000Z' }
    const decisions = [0, 1, 2].map((number) => ({ identity_key: keyOf(number), ...terms }))
    expect((await ask('POST', '/api/policy/leases/bulk', { decisions })).status).toBe(200)
    const { banned, ban_details } = await get<PolicyDecisionsResponse>('/api/policy/decisions')
    expect(banned.toSorted()).toEqual([keyOf(0), keyOf(1), keyOf(2)])
    expect(ban_details?.banned[keyOf(1)]).toMatchObject({
      reason: 'spam',
      until: terms.until,
      by: 'ADMIN_TOKEN',
    })
    const [change] = (await get<{ changes: PolicyChange[] }>('/api/policy/changes')).changes
    expect((await ask('POST', '/api/policy/leases/bulk', change?.undo)).status).toBe(200)
    const undone = await get<PolicyDecisionsResponse>('/api/policy/decisions')
    expect(undone.banned).toEqual([keyOf(1)])
    expect(undone.ban_details?.banned).toEqual({ [keyOf(1)]: expect.objectContaining({ reason: 'older' }) })
  })

  test.each([
    ['a reason without a ban', { is_denied: true, reason: 'spam' }],
    ['an end in the past', { is_banned: true, until: '2020-01-01T00:00:00Z' }],
  ])('protocol §20.2.10: %s of one is refused as a whole', async (_what, wrong) => {
    const decisions = [...approvals(2), { identity_key: keyOf(3), ...wrong }]
    expect(await ask('POST', '/api/policy/leases/bulk', { decisions })).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request' } },
    })
    const { approved, banned } = await get<PolicyDecisionsResponse>('/api/policy/decisions')
    expect([approved, banned]).toEqual([[], []])
  })

  test.each([
    ['none', []],
    ['more than a hundred', approvals(101)],
    ['one that is malformed', [...approvals(2), { identity_key: 'nobody', is_approved: true }]],
  ])('protocol §20.2.10: %s is refused as a whole', async (_what, decisions) => {
    const answer = await ask('POST', '/api/policy/leases/bulk', { decisions })
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'invalid_request' } } })
    expect((await get<PolicyDecisionsResponse>('/api/policy/decisions')).approved).toEqual([])
  })

  test('protocol §20.2.11: the audit log is for administrators, and takes no cursor of another make', async () => {
    expect((await relay.call('GET', '/api/policy/audit')).status).toBe(401)
    expect(await ask('GET', '/api/policy/audit?after=..')).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request' } },
    })
    const { token } = (await ask('POST', '/api/admin/administrators', { name: 'ana' })).json
      .data as unknown as { token: string }
    const text = (await ask('GET', '/api/policy/audit')).text
    expect(text).toContain('"ana"')
    expect(text).not.toContain(token)
  })
})
