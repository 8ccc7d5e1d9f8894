// Names that an administrator pins to an identity: nobody else gets them, and that identity always does.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newAccount, startTestRelay, type TestRelay } from '../support/relay.ts'
import { svcRelay } from '../support/svc-relay.ts'

const ADMIN_TOKEN = 'a-token-of-32-characters-or-more'
const BEARER = { Authorization: `Bearer ${ADMIN_TOKEN}` }

let relay: TestRelay
beforeAll(async () => {
  relay = await startTestRelay({ ADMIN_TOKEN })
})
afterAll(() => relay.close())

const pin = (name: string, address: string) =>
  relay.call('POST', '/api/policy/names', { name, address }, BEARER)
const data = async (path: string) => (await relay.call('GET', path, undefined, BEARER)).json.data
const leave = (lease: { access_token: string }) =>
  relay.call('POST', '/sdk/unregister', { access_token: lease.access_token })

describe('a pinned name', () => {
  test('belongs to that identity alone, and free again when it is unpinned (protocol §4.4.4, §20.2.6)', async () => {
    const owner = newAccount()
    expect((await pin('Brand', owner.address)).status).toBe(200)
    expect(await data('/api/policy/names')).toEqual({ pinned: { brand: owner.address.toLowerCase() } })
    await expect(relay.register('brand')).rejects.toThrow('"code":"hostname_conflict"')
    expect((await relay.register('brand', { allow_canonical_fallback: true })).hostname).toBe('')
    await leave(await relay.register('brand', { account: owner }))
    await pin('brand', '')
    expect(await data('/api/policy/names')).toEqual({ pinned: {} })
    // The owner's grace is its own matter.
    await expect(relay.register('brand')).rejects.toThrow('belongs to another identity')
  })

  test('may be one that is reserved for everybody else', async () => {
    const owner = newAccount()
    await pin('status', owner.address)
    await expect(relay.register('status')).rejects.toThrow('reserved')
    expect((await relay.register('status', { account: owner })).hostname).toBe('status.relay.localhost')
  })

  test('that another identity has ends with its next renewal, and waits for it no longer', async () => {
    const [squatter, owner] = [newAccount(), newAccount()]
    const lease = await relay.register('taken', { account: squatter })
    await pin('taken', owner.address)
    await expect(relay.register('taken', { account: owner })).rejects.toThrow('hostname_conflict')
    const renewed = await relay.call('POST', '/sdk/renew', { access_token: lease.access_token })
    expect(renewed.json).toMatchObject({ error: { code: 'lease_not_found' } })
    await expect(relay.register('taken', { account: squatter })).rejects.toThrow('hostname_conflict')
    expect((await relay.register('taken', { account: owner })).hostname).toBe(lease.hostname)
    // The canonical hostname is nobody's to pin.
    const again = await relay.register('taken', { account: squatter, allow_canonical_fallback: true })
    expect((await relay.call('POST', '/sdk/renew', { access_token: again.access_token })).status).toBe(200)
  })

  test('is in the file and the audit log, with what takes it back, and survives a restart', async () => {
    const owner = newAccount()
    const address = owner.address.toLowerCase()
    await pin('kept', owner.address)
    const lines = (await readFile(join(relay.directory, 'audit.jsonl'), 'utf8')).trim().split('\n')
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({
      kind: 'name',
      made: { name: 'kept', address },
      undo: { name: 'kept', address: '' },
    })
    await relay.stop()
    relay = await startTestRelay({ ADMIN_TOKEN }, { directory: relay.directory })
    await expect(relay.register('kept')).rejects.toThrow('reserved')
    const path = join(relay.directory, 'policy.json')
    const policy = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...policy, pinned_names: { Edited: owner.address } }))
    await vi.waitUntil(async () => JSON.stringify(await data('/api/policy/names')).includes('edited'))
    expect((await relay.register('kept')).hostname).toBe('kept.relay.localhost')
    await expect(relay.register('edited')).rejects.toThrow('reserved')
  })

  test.each([
    ['two words', `0x${'1'.repeat(40)}`, 'invalid_request'],
    ['fine', '0x12', 'invalid_address'],
  ])('is a name and an address: %j, %j', async (name, address, code) => {
    expect((await pin(name, address)).json).toMatchObject({ error: { code } })
  })
})

describe('svc-relay name', () => {
  const run = (...args: string[]) =>
    svcRelay(['name', ...args], {
      SVC_URL: relay.origin,
      IDENTITY_PATH: relay.directory,
      ADMIN_TOKEN,
    })

  test('pins, lists and unpins names at the relay that runs', async () => {
    const address = newAccount().address.toLowerCase()
    expect(await run('pin', 'by-hand', address)).toMatchObject({ code: 0, stderr: '' })
    expect((await run('list')).stdout).toMatch(new RegExp(`^NAME +ADDRESS\\n(.*\\n)*by-hand +${address}\\n`))
    await expect(relay.register('by-hand')).rejects.toThrow('reserved')
    expect(await run('unpin', 'by-hand')).toMatchObject({ code: 0 })
    expect((await relay.register('by-hand')).hostname).toBe('by-hand.relay.localhost')
  })

  test('says what is wrong, and ends with another code', async () => {
    expect(await run('pin', 'by-hand', '0x12')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^svc-relay: address: must be an Ethereum address.*\n$/),
    })
    expect(await run('pin', 'by-hand')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('pin needs NAME and ADDRESS'),
    })
    expect(await run('take')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('one of pin, unpin, list'),
    })
    const elsewhere = { SVC_URL: relay.origin, IDENTITY_PATH: relay.directory }
    expect(await svcRelay(['name', 'list'], elsewhere)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ADMIN_TOKEN'),
    })
  })

  test('gives the token to no server but the relay', async () => {
    const other = await startTestRelay({ ADMIN_TOKEN })
    try {
      // Another server at the port has a certificate of another authority.
      const answer = await svcRelay(['name', 'list'], {
        SVC_URL: other.origin,
        IDENTITY_PATH: relay.directory,
        ADMIN_TOKEN,
      })
      expect(answer).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('No relay for relay.localhost answers'),
      })
    } finally {
      await other.close()
    }
  })
})
