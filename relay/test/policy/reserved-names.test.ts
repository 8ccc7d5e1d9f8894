// Friendly names: those that the operator keeps from everybody, and those that wait for whom they belonged to.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PolicyChangesResponse, PolicySettings } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { newAccount, startTestRelay, type TestRelay } from '../support/relay.ts'

const ADMIN_TOKEN = 'a-token-of-32-characters-or-more'
const BEARER = { Authorization: `Bearer ${ADMIN_TOKEN}` }

let relay: TestRelay
let usual: PolicySettings
beforeAll(async () => {
  relay = await startTestRelay({ ADMIN_TOKEN })
  usual = await settings()
})
afterAll(() => relay.close())

async function settings(): Promise<PolicySettings> {
  const { data } = (await relay.call('GET', '/api/policy', undefined, BEARER)).json
  return data as unknown as PolicySettings
}

describe('reserved names', () => {
  afterEach(() => change(usual))
  const change = (fields: Partial<PolicySettings>, policy: Partial<PolicySettings> = {}) =>
    relay.call('POST', '/api/policy', { ...policy, ...fields }, BEARER)

  test("the usual ones are nobody's, and the refusal says why (protocol §4.4.4)", async () => {
    for (const name of ['www', 'admin', 'api', 'mail', 'ns', 'WWW'])
      await expect(relay.register(name)).rejects.toThrow(
        `"code":"hostname_conflict","message":"the name ${name.toLowerCase()} is reserved on this relay`,
      )
  })

  test('a client that allows it gets its canonical hostname alone', async () => {
    const lease = await relay.register('www', { allow_canonical_fallback: true })
    expect(lease.hostname).toBe('')
    expect(lease.canonical_hostname).toMatch(/^www-[0-9a-f]{40}\.relay\.localhost$/)
  })

  test('are in the policy file, and an edit of it holds at once', async () => {
    const path = join(relay.directory, 'policy.json')
    const policy = JSON.parse(await readFile(path, 'utf8'))
    expect(policy.reserved_names).toEqual(expect.arrayContaining(['www', 'admin', 'api', 'mail', 'ns']))
    await writeFile(path, JSON.stringify({ ...policy, reserved_names: ['Brand'] }))
    await vi.waitUntil(async () => (await settings()).reserved_names?.[0] === 'brand')
    await expect(relay.register('brand')).rejects.toThrow('reserved')
    expect(await relay.register('www')).toMatchObject({ hostname: 'www.relay.localhost' })
  })

  test('a policy file from before they were there has the usual ones', async () => {
    const path = join(relay.directory, 'policy.json')
    const { reserved_names, ...older } = JSON.parse(await readFile(path, 'utf8'))
    await relay.stop()
    await writeFile(path, JSON.stringify(older))
    relay = await startTestRelay({ ADMIN_TOKEN }, { directory: relay.directory })
    expect((await settings()).reserved_names).toEqual(reserved_names)
    await expect(relay.register('www')).rejects.toThrow('reserved')
  })

  test('can be changed by the API; who does not mention them changes nothing', async () => {
    const before = await settings()
    const { reserved_names, ...others } = before
    expect((await change(others)).status).toBe(200)
    expect(await settings()).toEqual(before)
    expect((await change({ reserved_names: ['Shop', 'shop', 'bank'] }, before)).json).toMatchObject({
      data: { reserved_names: ['shop', 'bank'] },
    })
    await expect(relay.register('bank')).rejects.toThrow('reserved')
    const changes = (await relay.call('GET', '/api/policy/changes', undefined, BEARER)).json
    expect((changes.data as unknown as PolicyChangesResponse).changes[0]).toMatchObject({
      undo: { reserved_names },
    })
  })

  test.each([
    ['no name', ['two words']],
    ['more than there is room for', Array.from({ length: 1001 }, (_, n) => `name-${n}`)],
  ])('%s is refused', async (_what, reserved_names) => {
    const before = await settings()
    expect(await change({ reserved_names }, before)).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request' } },
    })
    expect(await settings()).toEqual(before)
  })

  test('who has a name keeps it when it becomes reserved, until the lease ends', async () => {
    const account = newAccount()
    const lease = await relay.register('shop', { account })
    await change({ reserved_names: ['shop'] }, await settings())
    expect((await relay.call('POST', '/sdk/renew', { access_token: lease.access_token })).status).toBe(200)
    await expect(relay.register('shop', { account })).rejects.toThrow('reserved')
  })
})

describe('a name whose lease is over', () => {
  const leave = ({ access_token }: { access_token: string }) =>
    relay.call('POST', '/sdk/unregister', { access_token })

  test('waits for its identity, which gets it back at once; a restart changes nothing (protocol §4.4.5)', async () => {
    const account = newAccount()
    await leave(await relay.register('studio', { account }))
    await expect(relay.register('studio')).rejects.toThrow('hostname_conflict')
    expect(await relay.register('studio', { allow_canonical_fallback: true })).toMatchObject({ hostname: '' })
    await leave(await relay.register('studio', { account }))

    await relay.stop()
    relay = await startTestRelay({ ADMIN_TOKEN }, { directory: relay.directory })
    await expect(relay.register('studio')).rejects.toThrow('hostname_conflict')
    expect(await relay.register('studio', { account })).toMatchObject({ hostname: 'studio.relay.localhost' })
  })

  test('the same when it expired by itself', async () => {
    const account = newAccount()
    await relay.register('atelier', { account, ttl: 1 })
    const isListed = async () => (await relay.call('GET', '/api/state')).text.includes('"atelier"')
    await vi.waitUntil(async () => !(await isListed()), { interval: 100 })
    await expect(relay.register('atelier')).rejects.toThrow('hostname_conflict')
    expect(await relay.register('atelier', { account })).toMatchObject({
      hostname: 'atelier.relay.localhost',
    })
  })
})
