// The policy of three machines is one: whatever is decided at one of them holds at all, and no decision is lost.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type {
  NewInvitation,
  PolicyChange,
  PolicyChangesResponse,
  PolicyDecisionsResponse,
  PolicyLeaseResponse,
  PolicySettings,
} from '@svc/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { openCarrier } from '../support/carrier.ts'
import {
  ADMIN,
  type ClusterRelay,
  type ClusterRelays,
  startClusterRelays,
  whyNoRedis,
} from '../support/cluster-relays.ts'
import { contentOf } from '../support/redis-monitor.ts'
import { type Answer, newAccount, type TestClient } from '../support/relay.ts'

let cluster: ClusterRelays
let a: ClusterRelay
let b: ClusterRelay
let c: ClusterRelay

const decide = (relay: TestClient, kind: 'leases' | 'ips' | 'relays', update: object): Promise<Answer> =>
  relay.call('POST', `/api/policy/${kind}`, update, ADMIN)
const decisions = async (relay: TestClient): Promise<PolicyDecisionsResponse> =>
  (await relay.call('GET', '/api/policy/decisions', undefined, ADMIN)).json
    .data as unknown as PolicyDecisionsResponse
const changesOf = async (relay: TestClient): Promise<PolicyChange[]> => {
  const { data } = (await relay.call('GET', '/api/policy/changes', undefined, ADMIN)).json
  return (data as unknown as PolicyChangesResponse).changes
}
const fileOf = async ({ directory }: ClusterRelay) =>
  JSON.parse(await readFile(join(directory, 'policy.json'), 'utf8'))

describe.skipIf(whyNoRedis() !== undefined)(`three machines (skipped: ${whyNoRedis()})`, () => {
  beforeAll(async () => {
    cluster = await startClusterRelays(3, { TRUSTED_PROXIES: '127.0.0.1' })
    ;[a, b, c] = cluster.relays as [ClusterRelay, ClusterRelay, ClusterRelay]
  })
  afterAll(() => cluster?.close())

  test('a ban at one closes at another what the site has open there', async () => {
    const account = newAccount()
    const lease = await a.register('banned', { account })
    const carrier = await openCarrier(b, lease.reverse_endpoint.capability)
    const { stream, read } = await carrier.open(lease.reverse_endpoint.capability)
    await read(1)
    const identity_key = `banned:${account.address.toLowerCase()}`
    expect((await decide(c, 'leases', { identity_key, is_banned: true })).status).toBe(200)
    await stream.read().catch(() => {})
    await stream.closed
    for (const relay of cluster.relays) {
      await expect.poll(async () => (await decisions(relay)).banned).toEqual([identity_key])
      expect((await relay.call('GET', '/api/state')).text).not.toContain('"name":"banned"')
    }
    await decide(a, 'leases', { identity_key, is_banned: false })
    for (const relay of cluster.relays)
      await expect.poll(async () => (await relay.call('GET', '/api/state')).text).toContain('"name":"banned"')
  })

  test('a banned address is refused at all of them', async () => {
    await decide(a, 'ips', { ip: '198.51.100.9', is_banned: true })
    const ask = (relay: TestClient): Promise<Answer> =>
      relay.call(
        'POST',
        '/sdk/register/challenge',
        { identity: { name: 'demo', address: newAccount().address } },
        { Forwarded: 'for=198.51.100.9' },
      )
    for (const relay of [b, c]) await expect.poll(async () => (await ask(relay)).status).toBe(403)
    await decide(b, 'ips', { ip: '198.51.100.9', is_banned: false })
  })

  test('protocol §20.2.9: a ban with an end ends at all of them, and one of them says so', async () => {
    const ip = '198.51.100.77'
    // An end that is over when the request arrives is refused: a slow machine asks for a later one.
    for (let seconds = 1, status = 0; status !== 200; seconds *= 2) {
      const until = new Date(Date.now() + seconds * 1_000).toISOString()
      status = (await decide(a, 'ips', { ip, is_banned: true, reason: 'spam', until })).status
      expect(seconds).toBeLessThan(64)
    }
    const details = async (relay: TestClient) => (await decisions(relay)).ban_details?.banned_ips[ip]?.reason
    const isBanned = async (relay: TestClient) => (await decisions(relay)).banned_ips.includes(ip)
    for (const relay of cluster.relays)
      await expect.poll(async () => (await details(relay)) ?? !(await isBanned(relay))).toBeTruthy()
    for (const relay of cluster.relays)
      await expect.poll(() => isBanned(relay), { timeout: 20_000 }).toBe(false)
    await expect
      .poll(async () => (await changesOf(c)).filter(({ made }) => 'ip' in made && made.ip === ip).length)
      .toBe(2)
    expect((await changesOf(b))[0]).toMatchObject({
      made: { ip, is_banned: false },
      undo: { reason: 'spam' },
    })
  })

  test('protocol §20.2.13: each tells what the others decided about an identity, and who', async () => {
    const account = newAccount()
    await a.register('history', { account })
    const identity_key = `history:${account.address.toLowerCase()}`
    await decide(b, 'leases', { identity_key, is_banned: true, reason: 'spam' })
    await decide(c, 'leases', { identity_key, is_banned: false })
    for (const relay of cluster.relays) {
      const path = `/api/policy/lease?identity_key=${identity_key}`
      const events = async () =>
        (
          (await relay.call('GET', path, undefined, ADMIN)).json.data as unknown as PolicyLeaseResponse
        ).events.map(({ kind, by }) => [kind, by])
      await expect.poll(events).toEqual([
        ['ban_ended', 'ADMIN_TOKEN'],
        ['banned', 'ADMIN_TOKEN'],
        ['registered', undefined],
      ])
    }
  })

  test('of changes at all machines at the same moment none is lost, and each machine has them in its file', async () => {
    const ips = Array.from({ length: 30 }, (_, at) => `203.0.113.${at}`)
    const answers = await Promise.all(
      ips.map((ip, at) => decide(cluster.relays[at % 3]!, 'ips', { ip, is_banned: true })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200))
    for (const relay of cluster.relays) {
      await expect.poll(async () => (await decisions(relay)).banned_ips.toSorted()).toEqual(ips.toSorted())
      await expect.poll(async () => (await fileOf(relay)).banned_ips.toSorted()).toEqual(ips.toSorted())
    }
    await Promise.all(
      ips.map((ip, at) => decide(cluster.relays[(at + 1) % 3]!, 'ips', { ip, is_banned: false })),
    )
    for (const relay of cluster.relays)
      await expect.poll(async () => (await fileOf(relay)).banned_ips).toEqual([])
  })

  test('the settings of one are those of the others', async () => {
    const settingsOf = async (relay: TestClient): Promise<PolicySettings> =>
      (await relay.call('GET', '/api/policy', undefined, ADMIN)).json.data as unknown as PolicySettings
    const settings = await settingsOf(a)
    expect(
      (await b.call('POST', '/api/policy', { ...settings, approval_mode: 'manual' }, ADMIN)).status,
    ).toBe(200)
    for (const relay of cluster.relays)
      await expect.poll(async () => (await settingsOf(relay)).approval_mode).toBe('manual')
    const lease = await c.register('waits')
    expect(lease.reverse_endpoint.routing).toBe('approval')
    await a.call('POST', '/api/policy', { ...settings, approval_mode: 'auto' }, ADMIN)
    for (const relay of cluster.relays)
      await expect.poll(async () => (await settingsOf(relay)).approval_mode).toBe('auto')
  })

  test('the list of changes is the same at all of them', async () => {
    await decide(c, 'ips', { ip: '192.0.2.200', is_banned: true })
    const lists = await Promise.all(cluster.relays.map((relay) => changesOf(relay)))
    expect(lists[0]?.[0]).toMatchObject({ made: { ip: '192.0.2.200' }, undo: { is_banned: false } })
    expect(lists).toEqual([lists[0], lists[0], lists[0]])
    expect(lists[0]?.map(({ id }) => id)).toEqual(lists[0]?.map((_, at) => lists[0]![0]!.id - at))
    // The next test edits the file of another machine: what that machine writes meanwhile would replace the edit.
    await expect.poll(async () => (await fileOf(b)).banned_ips).toEqual(['192.0.2.200'])
    await decide(c, 'ips', { ip: '192.0.2.200', is_banned: false })
    await expect.poll(async () => (await fileOf(b)).banned_ips).toEqual([])
  })

  test('a name that is pinned at one goes to its owner at another, whoever had it at a third until now', async () => {
    const [owner, squatter] = [newAccount(), newAccount()]
    const lease = await c.register('brand', { account: squatter })
    await a.call('POST', '/api/policy/names', { name: 'brand', address: owner.address }, ADMIN)
    const renew = () => c.call('POST', '/sdk/renew', { access_token: lease.access_token })
    await expect.poll(async () => (await renew()).text).toContain('lease_not_found')
    await expect
      .poll(() => b.register('brand', { account: owner }).then(({ hostname }) => hostname, String))
      .toBe(lease.hostname)
    for (const relay of cluster.relays)
      await expect(relay.register('brand', { account: squatter })).rejects.toThrow('hostname_conflict')
  })

  test('an invitation lets in as many names as it has, of registrations at all machines at once (protocol §4.7.2)', async () => {
    const settings = (await a.call('GET', '/api/policy', undefined, ADMIN)).json
      .data as unknown as PolicySettings
    await a.call('POST', '/api/policy', { ...settings, approval_mode: 'token' }, ADMIN)
    const made = await b.call('POST', '/api/policy/invitations', { names: 4 }, ADMIN)
    const { token, invitation } = made.json.data as unknown as NewInvitation
    for (const relay of cluster.relays)
      await expect.poll(() => relay.register('poll').catch(String)).toContain('invitation_required')
    const tries = Array.from({ length: 30 }, (_, number) => {
      const relay = cluster.relays[number % 3]!
      return relay.register(`crowd-${number}`, { invitation: token })
    })
    const results = await Promise.allSettled(tries)
    const leases = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    expect(leases).toHaveLength(4)
    for (const result of results)
      if (result.status === 'rejected') expect(`${result.reason}`).toContain('is used up')
    // Who guesses at all machines has no more attempts than at one, and the right token works meanwhile.
    const guess = async (at: number, given = `svc-invitation-${at}`): Promise<unknown> => {
      const identity = { name: 'crowd-guess', address: newAccount().address }
      const from = { Forwarded: 'for=203.0.113.77' }
      const body = { identity, invitation: given }
      return (await cluster.relays[at % 3]!.call('POST', '/sdk/register/challenge', body, from)).json
    }
    const codes: unknown[] = []
    for (let at = 0; at < 9; at++) codes.push((await guess(at)) as object)
    const refused = (code: string) => ({ error: { code } })
    for (const [at, answer] of codes.entries())
      expect(answer).toMatchObject(refused(at < 5 ? 'invitation_rejected' : 'rate_limited'))
    expect(await guess(0, token)).toMatchObject({
      error: { code: 'invitation_rejected', message: expect.stringContaining('is used up') },
    })
    // It ends everywhere, wherever it is withdrawn.
    await c.call('POST', '/api/policy/invitations/withdraw', { id: invitation.id }, ADMIN)
    for (const relay of cluster.relays)
      await expect
        .poll(async () => (await relay.call('GET', '/api/state')).text)
        .not.toContain('"name":"crowd-')
    await a.call('POST', '/api/policy', settings, ADMIN)
    await expect
      .poll(() => c.register('open-again').then(({ hostname }) => hostname, String))
      .toContain('open-again.')
  })

  test('what the file of one machine says while it runs, its operator says for all of them', async () => {
    const file = await fileOf(b)
    await writeFile(
      join(b.directory, 'policy.json'),
      JSON.stringify({ ...file, banned_relays: ['https://other.example'] }),
    )
    for (const relay of cluster.relays)
      await expect.poll(async () => (await decisions(relay)).banned_relays).toEqual(['https://other.example'])
  })

  wholeOnly(test, 'clock')('Redis has the policy of the last change, with its version, sealed', async () => {
    const content = await contentOf(cluster.redis)
    const [, policy] = Object.entries(content).find(([key]) => key.endsWith(':policy'))!
    const [version = '', sealed = ''] = policy.split(' ')
    const json = cluster.seal.open('policy', '', version, sealed)
    expect(JSON.parse(json!)).toMatchObject({ banned_relays: ['https://other.example'] })
  })

  wholeOnly(test, 'variant')('a machine that joins has the policy of the others', async () => {
    await decide(a, 'ips', { ip: '192.0.2.77', is_banned: true })
    const fourth = await cluster.add()
    expect((await decisions(fourth)).banned_ips).toEqual(['192.0.2.77'])
    expect((await fileOf(fourth)).banned_ips).toEqual(['192.0.2.77'])
  })
})
