// Administrators beside ADMIN_TOKEN: each has a token that is shown once, and that ends at once when it is taken back.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADMINISTRATORS_MAX } from '../../src/core/policy/administrators.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'
import { svcRelay } from '../support/svc-relay.ts'

const ADMIN_TOKEN = 'a-token-of-32-characters-or-more'
const PATH = '/api/admin/administrators'

let relay: TestRelay
beforeAll(async () => {
  relay = await startTestRelay({ ADMIN_TOKEN })
})
afterAll(() => relay.close())

const as = (token: string) => ({ Authorization: `Bearer ${token}` })
const post = (path: string, body: unknown, token = ADMIN_TOKEN) => relay.call('POST', path, body, as(token))
const get = (path: string, token = ADMIN_TOKEN) => relay.call('GET', path, undefined, as(token))
const add = async (name: string) => ((await post(PATH, { name })).json.data as { token: string }).token
const stateFile = (name: string) => readFile(join(relay.directory, name), 'utf8')
const audited = async () =>
  (await stateFile('audit.jsonl'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('an administrator', () => {
  test('has a token that the relay shows once, and stores as a hash (protocol §20.2.7)', async () => {
    const answer = await post(PATH, { name: 'alice' })
    const { token } = answer.json.data as { token: string }
    expect(answer.json.data).toEqual({ name: 'alice', token: expect.stringMatching(/^svc-admin-[\w-]{43}$/) })
    const created_at = expect.any(String)
    expect((await get(PATH, token)).json.data).toEqual({ administrators: [{ name: 'alice', created_at }] })
    expect((await get('/api/admin/auth/status', token)).json.data).toEqual({
      authenticated: true,
      administrator: 'alice',
    })
    expect((await post('/api/admin/auth/login', { token })).json.data).toEqual({ access_token: token })
    for (const file of ['policy.json', 'audit.jsonl'])
      expect(await stateFile(file)).not.toContain(token.slice(10))
    expect((await post(PATH, { name: 'alice' })).json).toMatchObject({ error: { code: 'invalid_request' } })
  })

  test('may do what the holder of ADMIN_TOKEN may, and each change says who made it', async () => {
    const token = await add('bob')
    const address = expect.any(String)
    expect(await audited()).toContainEqual(
      expect.objectContaining({
        kind: 'administrator',
        made: { name: 'bob', is_allowed: true },
        by: 'ADMIN_TOKEN',
        address,
      }),
    )
    expect((await post('/api/policy/ips', { ip: '192.0.2.1', is_banned: true }, token)).status).toBe(200)
    expect((await audited()).at(-1)).toMatchObject({ kind: 'ip', by: 'bob', address })
    expect((await get('/api/policy/changes', token)).json.data).toMatchObject({
      changes: [{ kind: 'ip', by: 'bob' }],
    })
  })

  test('whose token is taken back is none with the next request, and the other tokens stay', async () => {
    const [carol, dave] = [await add('carol'), await add('dave')]
    expect((await get('/api/policy', carol)).status).toBe(200)
    expect((await post(`${PATH}/remove`, { name: 'carol' }, dave)).status).toBe(200)
    for (const path of ['/api/policy', '/api/policy/state']) expect((await get(path, carol)).status).toBe(401)
    expect((await get('/api/admin/auth/status', carol)).json.data).toEqual({ authenticated: false })
    expect((await get('/api/policy', dave)).status).toBe(200)
    expect((await audited()).at(-1)).toMatchObject({ made: { name: 'carol', is_allowed: false }, by: 'dave' })
    expect((await post(`${PATH}/remove`, { name: 'carol' })).json).toMatchObject({
      error: { code: 'invalid_request' },
    })
    // The name is free for another token.
    expect((await get('/api/policy', await add('carol'))).status).toBe(200)
    expect((await get('/api/policy', carol)).status).toBe(401)
  })

  test('stays one over a restart, and is none while the relay has no ADMIN_TOKEN', async () => {
    const token = await add('erin')
    await relay.stop()
    relay = await startTestRelay({}, { directory: relay.directory })
    expect((await get('/api/policy', token)).status).toBe(401)
    await relay.stop()
    relay = await startTestRelay({ ADMIN_TOKEN }, { directory: relay.directory })
    expect((await get('/api/policy', token)).status).toBe(200)
  })

  test.each(['', 'ADMIN_TOKEN', 'two words', 'a'.repeat(64), '__proto__', '.hidden'])(
    'is not called %j',
    async (name) => {
      expect((await post(PATH, { name })).json).toMatchObject({ error: { code: 'invalid_request' } })
    },
  )

  test('is one of a bounded number, also when many are made at once', async () => {
    const before = ((await get(PATH)).json.data as { administrators: unknown[] }).administrators.length
    const names = Array.from({ length: ADMINISTRATORS_MAX }, (_, number) => `many-${number}`)
    const answers = await Promise.all(names.map((name) => post(PATH, { name })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(ADMINISTRATORS_MAX - before)
    const { administrators } = (await get(PATH)).json.data as { administrators: { name: string }[] }
    expect(administrators).toHaveLength(ADMINISTRATORS_MAX)
    await Promise.all(names.map((name) => post(`${PATH}/remove`, { name })))
  })
})

describe('svc-relay admin', () => {
  const run = (args: string[], token = ADMIN_TOKEN) =>
    svcRelay(['admin', ...args], {
      SVC_URL: relay.origin,
      IDENTITY_PATH: relay.directory,
      ADMIN_TOKEN: token,
    })

  test('prints a token alone, lists names, and takes a token back', async () => {
    const { code, stdout } = await run(['add', 'frank'])
    expect(code).toBe(0)
    const token = stdout.trimEnd()
    expect((await get('/api/policy', token)).status).toBe(200)
    // An administrator may use the command as well.
    const list = await run(['list'], token)
    expect(list.stdout).toMatch(/^NAME +SINCE\n(.*\n)*frank +\d{4}-/)
    expect(list.stdout).not.toContain(token)
    expect(await run(['remove', 'frank'])).toMatchObject({ code: 0 })
    expect((await get('/api/policy', token)).status).toBe(401)
    expect(await run(['list'], token)).toMatchObject({ code: 1, stderr: expect.stringContaining('token') })
  })
})
