// A relay that lets nobody register without an invitation, and attacks on that.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Invitation, InvitationRequest, NewInvitation } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { atDepth } from '../../../tools/test-depth.ts'
import { checkPolicy } from '../../src/core/check/state.ts'
import { readSettings } from '../../src/index.ts'
import { openCarrier } from '../support/carrier.ts'
import { newAccount, startTestRelay, type TestRelay } from '../support/relay.ts'
import { svcRelay } from '../support/svc-relay.ts'

const ADMIN_TOKEN = 'a-token-of-32-characters-or-more'
const BEARER = { Authorization: `Bearer ${ADMIN_TOKEN}` }
const ENV = { ADMIN_TOKEN, REGISTRATION: 'token', TRUSTED_PROXIES: '127.0.0.1' }
const PATH = '/api/policy/invitations'
/** From which strangers guess. */
const NETWORKS: number = atDepth(500, 50)
/** Registrations at once. */
const CROWD: number = atDepth(100, 30)

let relay: TestRelay
beforeAll(async () => {
  relay = await startTestRelay(ENV)
})
afterAll(() => relay.close())

const post = (path: string, body: unknown) => relay.call('POST', path, body, BEARER)
const get = async (path: string) => (await relay.call('GET', path, undefined, BEARER)).json.data
const invite = async (request: Partial<InvitationRequest> = {}): Promise<NewInvitation> =>
  (await post(PATH, { names: 1, ...request })).json.data as NewInvitation
const invitations = async () => ((await get(PATH)) as { invitations: Invitation[] }).invitations
const withdraw = (id: string) => post(`${PATH}/withdraw`, { id })
const renew = (lease: { access_token: string }) =>
  relay.call('POST', '/sdk/renew', { access_token: lease.access_token })
const stateFile = (name: string) => readFile(join(relay.directory, name), 'utf8')

describe('an invitation', () => {
  test('lets as many names in as it has, each once, and nobody comes in without (protocol §4.7.1, §4.7.2)', async () => {
    await expect(relay.register('first')).rejects.toThrow('"code":"invitation_required"')
    const { token, invitation } = await invite({ names: 2, note: 'for the team' })
    expect(token).toMatch(/^svc-invitation-[\w-]{43}$/)
    const account = newAccount()
    const lease = await relay.register('first', { account, invitation: token })
    expect(lease.reverse_endpoint.routing).toBe('allowed')
    // The same name again costs nothing, with the token or without.
    await relay.register('first', { account, invitation: token })
    await relay.register('first', { account })
    await relay.register('second', { invitation: token })
    await expect(relay.register('third', { account, invitation: token })).rejects.toThrow('is used up')
    await expect(relay.register('third', { invitation: `${token}x` })).rejects.toThrow('is not known')
    const [used] = (await invitations()).filter(({ id }) => id === invitation.id)
    expect(used).toMatchObject({ names: 2, note: 'for the team' })
    expect(used!.identity_keys[0]).toBe(`first:${account.address.toLowerCase()}`)
    expect(used!.identity_keys).toHaveLength(2)
  })

  test('is shown once, and stored as a hash (protocol §20.2.8)', async () => {
    const { token, invitation } = await invite({ note: 'secret' })
    for (const file of ['policy.json', 'audit.jsonl'])
      expect(await stateFile(file)).not.toContain(token.slice(15))
    expect(JSON.stringify(await invitations())).not.toContain('sha256')
    const lines = (await stateFile('audit.jsonl')).trim().split('\n')
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({
      kind: 'invitation',
      by: 'ADMIN_TOKEN',
      made: { id: invitation.id, names: 1, note: 'secret', is_valid: true },
    })
  })

  test('that has expired lets nobody in, and who is in stays, also over a restart (protocol §4.7.3)', async () => {
    const { token, invitation } = await invite({ names: 5, ttl: 3600 })
    const account = newAccount()
    await relay.register('guest', { account, invitation: token })
    await relay.stop()
    const path = join(relay.directory, 'policy.json')
    const expires_at = new Date(Date.now() - 1000).toISOString()
    await writeFile(path, (await readFile(path, 'utf8')).replace(invitation.expires_at!, expires_at))
    relay = await startTestRelay(ENV, { directory: relay.directory })
    await expect(relay.register('late', { invitation: token })).rejects.toThrow('has expired')
    const lease = await relay.register('guest', { account })
    expect((await renew(lease)).status).toBe(200)
  })

  test('that is withdrawn ends what came in with it at once, and with the next renewal the lease (protocol §4.7.3)', async () => {
    const { token, invitation } = await invite()
    const account = newAccount()
    const lease = await relay.register('leaver', { account, invitation: token })
    const carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
    const { stream, read } = await carrier.open(lease.reverse_endpoint.capability)
    await read(1)
    expect((await withdraw(invitation.id)).status).toBe(200)
    await stream.read().catch(() => {})
    await stream.closed
    expect((await relay.call('GET', '/api/state')).text).not.toContain('"name":"leaver"')
    expect((await renew(lease)).json).toMatchObject({ error: { code: 'lease_not_found' } })
    await expect(relay.register('leaver', { account })).rejects.toThrow('invitation_required')
    await expect(relay.register('leaver', { account, invitation: token })).rejects.toThrow('was withdrawn')
    expect((await withdraw(invitation.id)).json).toMatchObject({ error: { code: 'invalid_request' } })
  })

  test('that is withdrawn between challenge and registration lets nobody in', async () => {
    const { token, invitation } = await invite()
    const account = newAccount()
    const identity = { name: 'between', address: account.address }
    const { data } = (await relay.call('POST', '/sdk/register/challenge', { identity, invitation: token }))
      .json
    const { challenge_id, siwe_message } = data as unknown as { challenge_id: string; siwe_message: string }
    await withdraw(invitation.id)
    const siwe_signature = await account.signMessage({ message: siwe_message })
    const answer = await relay.call('POST', '/sdk/register', { challenge_id, siwe_message, siwe_signature })
    expect(answer.json).toMatchObject({ error: { code: 'invitation_rejected' } })
  })

  test('is not used up by a registration that fails', async () => {
    const { token, invitation } = await invite()
    await relay.register('held', { invitation: (await invite()).token })
    await expect(relay.register('held', { invitation: token })).rejects.toThrow('hostname_conflict')
    expect((await invitations()).find(({ id }) => id === invitation.id)!.identity_keys).toEqual([])
    await relay.register('free', { invitation: token })
  })

  test('is not needed by an identity that an administrator has approved, and does not help a denied one', async () => {
    const account = newAccount()
    const identity_key = `chosen:${account.address.toLowerCase()}`
    await post('/api/policy/leases', { identity_key, is_approved: true })
    const lease = await relay.register('chosen', { account })
    expect(lease.reverse_endpoint.routing).toBe('allowed')
    await post('/api/policy/leases', { identity_key, is_denied: true })
    const again = await relay.register('chosen', { account, invitation: (await invite()).token })
    expect(again.reverse_endpoint.routing).toBe('rejected')
  })

  test.each([{ names: 0 }, { names: 10_001 }, { names: 1.5 }, { ttl: 0 }, { note: 'x'.repeat(201) }])(
    'is not made of %j',
    async (request) => {
      expect((await post(PATH, { names: 1, ...request })).json).toMatchObject({
        error: { code: 'invalid_request' },
      })
    },
  )
})

describe('attacks on invitations', () => {
  test(`${CROWD} registrations at once with one token bring in no more names than it has`, async () => {
    const { token, invitation } = await invite({ names: 7 })
    const results = await Promise.allSettled(
      Array.from({ length: CROWD }, (_, number) => relay.register(`crowd-${number}`, { invitation: token })),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(7)
    for (const result of results)
      if (result.status === 'rejected') expect(`${result.reason}`).toContain('is used up')
    expect((await invitations()).find(({ id }) => id === invitation.id)!.identity_keys).toHaveLength(7)
  })

  test(`guesses are counted for each network, ${NETWORKS} networks find nothing, and the right token works meanwhile (protocol §2.4.8)`, async () => {
    const { token } = await invite()
    const guess = (from: string, number: number) =>
      relay.call(
        'POST',
        '/sdk/register/challenge',
        {
          identity: { name: 'guess', address: newAccount().address },
          invitation: `svc-invitation-${number}`,
        },
        { Forwarded: `for="${from}"` },
      )
    for (let number = 0; number < 5; number++)
      expect((await guess('192.0.2.1', number)).json).toMatchObject({
        error: { code: 'invitation_rejected' },
      })
    const sixth = await guess('192.0.2.1', 6)
    expect(sixth.json).toMatchObject({ error: { code: 'rate_limited' } })
    expect(Number(sixth.headers['retry-after'])).toBeGreaterThan(0)
    // A neighbour in the same /64 of IPv6 is the same network; another network is not.
    for (let number = 0; number < 5; number++) await guess(`[2001:db8::${number + 1}]`, number)
    expect((await guess('[2001:db8::99]', 6)).json).toMatchObject({ error: { code: 'rate_limited' } })
    for (let number = 0; number < NETWORKS; number++)
      expect((await guess(`203.0.${number >> 8}.${number & 255}`, number)).status).toBe(403)
    const account = newAccount()
    const identity = { name: 'honest', address: account.address }
    const fromThere = await relay.call(
      'POST',
      '/sdk/register/challenge',
      { identity, invitation: token },
      { Forwarded: 'for="192.0.2.1"' },
    )
    expect(fromThere.status).toBe(201)
  })
})

describe('REGISTRATION', () => {
  let other: TestRelay | undefined
  afterEach(() => other?.close())
  beforeEach(() => {
    other = undefined
  })
  const mode = async () =>
    (
      (await other!.call('GET', '/api/policy', undefined, BEARER)).json.data as unknown as {
        approval_mode: string
      }
    ).approval_mode

  test.each([
    ['open', 'auto'],
    ['approval', 'manual'],
    ['token', 'token'],
  ])('%s is the mode %s of the policy, which nothing else changes', async (REGISTRATION, expected) => {
    other = await startTestRelay({ ADMIN_TOKEN, REGISTRATION })
    expect(await mode()).toBe(expected)
    const settings = (await other.call('GET', '/api/policy', undefined, BEARER)).json
      .data as unknown as object
    const approval_mode = expected === 'auto' ? 'manual' : 'auto'
    const answer = await other.call('POST', '/api/policy', { ...settings, approval_mode }, BEARER)
    expect(answer.json).toMatchObject({
      error: { code: 'invalid_request', message: expect.stringContaining('REGISTRATION') },
    })
    const path = join(other.directory, 'policy.json')
    const file = JSON.parse(await readFile(path, 'utf8'))
    expect(file.approval_mode).toBe(expected)
    await writeFile(path, JSON.stringify({ ...file, approval_mode, banned_ips: ['192.0.2.9'] }))
    await vi.waitUntil(async () => {
      const { text } = await other!.call('GET', '/api/policy/decisions', undefined, BEARER)
      return text.includes('192.0.2.9')
    })
    expect(await mode()).toBe(expected)
  })

  test('closes an open relay, which says so: a site that is there is turned away, and comes back with an invitation', async () => {
    other = await startTestRelay({ ADMIN_TOKEN })
    const ask = (path: string, body: unknown) => other!.call('POST', path, body, BEARER)
    const account = newAccount()
    const lease = await other.register('early', { account, invitation: 'ignored-while-open' })
    const says = async (): Promise<unknown> => (await other!.call('GET', '/sdk/domain')).json.data
    expect(await says()).not.toHaveProperty('invitation')
    const settings = (await other.call('GET', '/api/policy', undefined, BEARER)).json
      .data as unknown as object
    await ask('/api/policy', { ...settings, approval_mode: 'token' })
    expect(await says()).toMatchObject({ invitation: true })
    expect((await other.call('GET', '/api/state')).text).not.toContain('"name":"early"')
    const { token } = (await ask(PATH, { names: 1 })).json.data as NewInvitation
    expect((await other.register('early', { account, invitation: token })).hostname).toBe(lease.hostname)
    expect((await other.call('GET', '/api/state')).text).toContain('"name":"early"')
  })

  test('is what svc-relay check says, whatever the file has', async () => {
    other = await startTestRelay({ ADMIN_TOKEN })
    const settings = readSettings({
      SVC_URL: other.origin,
      IDENTITY_PATH: other.directory,
      REGISTRATION: 'token',
    })
    expect((await checkPolicy(settings))[0]!.message).toMatch(/^Approval is token, /)
    const fresh = { ...settings, identityPath: join(other.directory, 'none') }
    expect((await checkPolicy(fresh))[0]!.message).toContain('nobody may register without an invitation')
  })

  test('approval: an invitation approves at once (protocol §4.7.4)', async () => {
    other = await startTestRelay({ ADMIN_TOKEN, REGISTRATION: 'approval' })
    expect((await other.register('waits')).reverse_endpoint.routing).toBe('approval')
    const { data } = (await other.call('POST', PATH, { names: 1 }, BEARER)).json
    const { token } = data as unknown as NewInvitation
    expect((await other.register('invited', { invitation: token })).reverse_endpoint.routing).toBe('allowed')
  })
})

describe('svc-relay token', () => {
  const run = (...args: string[]) =>
    svcRelay(['token', ...args], {
      SVC_URL: relay.origin,
      IDENTITY_PATH: relay.directory,
      ADMIN_TOKEN,
      REGISTRATION: 'token',
    })

  test('prints a token alone, lists invitations and removes one', async () => {
    const made = await run('add', '--names', '3', '--expires', '2h', '--note', 'by hand')
    expect(made.code).toBe(0)
    const invitation = made.stdout.trimEnd()
    await relay.register('by-command', { invitation })
    const [listed] = (await invitations()).filter(({ note }) => note === 'by hand')
    expect(Date.parse(listed!.expires_at!) - Date.parse(listed!.created_at)).toBe(7_200_000)
    const list = (await run('list')).stdout
    expect(list).toMatch(
      new RegExp(`^ID +USED +EXPIRES +NOTE\\n(.*\\n)*${listed!.id} +1 of 3 +\\S+ +by hand\\n`),
    )
    expect(list).not.toContain(invitation)
    expect(await run('remove', listed!.id)).toMatchObject({ code: 0 })
    await expect(relay.register('by-command-2', { invitation })).rejects.toThrow('was withdrawn')
    expect(await run('remove', listed!.id)).toMatchObject({ code: 1 })
    expect(await run('add', '--expires', 'soon')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--expires'),
    })
    expect(await run('add', '--names', 'many')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--names'),
    })
  })
})
