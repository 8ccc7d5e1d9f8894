// Guessing the admin token: counted and told on every route, and never in the way of who has it.

import type { RegisterResponse } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLog } from '../../../src/core/log/log.ts'
import { ADMIN_ROUTES } from '../../support/admin-routes.ts'
import { type Answer, startTestRelay, type TestRelay } from '../../support/relay.ts'

const ADMIN_TOKEN = 'the-administrators-long-token'
const WARN = 40
const LOGIN = '/api/admin/auth/login'
const STATUS = '/api/admin/auth/status'

let relay: TestRelay
let log: string
beforeEach(async () => {
  log = ''
  relay = await startTestRelay(
    { ADMIN_TOKEN, TRUSTED_PROXIES: '127.0.0.1' },
    { log: createLog('trace', { write: (line) => (log += line) }) },
  )
})
afterEach(() => relay.close())

/** @param from the address that a trusted proxy names */
function ask(method: string, path: string, token: string, from = '192.0.2.1'): Promise<Answer> {
  const body = path === LOGIN ? { token } : method === 'POST' ? {} : undefined
  const bearer: Record<string, string> = path === LOGIN ? {} : { Authorization: `Bearer ${token}` }
  return relay.call(method, path, body, { ...bearer, Forwarded: `for="${from}"` })
}

/** Those that tell of a client: a relay may also have something to say of itself. */
const warnings = () =>
  log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter(({ level, address }) => level === WARN && address !== undefined)
    .map(({ msg, address }) => `${msg} ${address}`)

const limited = {
  status: 429,
  headers: { 'retry-after': expect.stringMatching(/^[1-6]?\d$/), connection: 'close' },
  json: { error: { code: 'rate_limited' } },
}

describe('wrong admin tokens', () => {
  test.each([...ADMIN_ROUTES, ['POST', LOGIN]])('%s %s: five a minute, then 429', async (method, path) => {
    for (let guess = 0; guess < 5; guess++)
      expect(await ask(method, path!, `a-wrong-token-${guess}`)).toMatchObject({ status: 401 })
    expect(await ask(method, path!, 'a-wrong-token')).toMatchObject(limited)
  })

  test('GET /api/admin/auth/status tells five times a minute that one is wrong, then 429', async () => {
    for (let guess = 0; guess < 5; guess++)
      expect(await ask('GET', STATUS, `a-wrong-token-${guess}`)).toMatchObject({
        status: 200,
        json: { data: { authenticated: false } },
      })
    expect(await ask('GET', STATUS, 'a-wrong-token')).toMatchObject(limited)
    expect((await relay.call('GET', STATUS)).status).toBe(200)
  })

  test('count together, whatever the route, by network; a lease token is one', async () => {
    const lease: RegisterResponse = await relay.register('nosy')
    const [from, neighbour, other] = ['[2001:db8::1]', '[2001:db8::2]', '[2001:db8:1::1]']
    for (const [method, path] of [...ADMIN_ROUTES.slice(0, 3), ['POST', LOGIN], ['GET', STATUS]] as const)
      await ask(method, path, lease.access_token, from)
    expect(await ask('GET', '/api/admin/load', 'a-wrong-token', neighbour)).toMatchObject(limited)
    expect(await ask('GET', '/api/admin/load', 'a-wrong-token', other)).toMatchObject({ status: 401 })
  })

  test('do not lock out the right one, from the same address', async () => {
    for (let guess = 0; guess < 50; guess++) await ask('POST', LOGIN, `a-wrong-token-${guess}`)
    expect(await ask('POST', LOGIN, ADMIN_TOKEN)).toMatchObject({
      status: 200,
      json: { data: { access_token: ADMIN_TOKEN } },
    })
    expect(await ask('GET', '/api/policy', ADMIN_TOKEN)).toMatchObject({ status: 200 })
    expect(await ask('GET', STATUS, ADMIN_TOKEN)).toMatchObject({ json: { data: { authenticated: true } } })
    expect(await ask('GET', '/api/policy', 'a-wrong-token')).toMatchObject(limited)
  })

  test('are logged with their address, six times a minute at most, and never themselves', async () => {
    for (let guess = 0; guess < 8; guess++) await ask('GET', '/api/policy', `a-wrong-token-${guess}`)
    await ask('POST', LOGIN, 'a-wrong-token-of-another', '192.0.2.2')
    await ask('GET', '/api/policy', ADMIN_TOKEN)
    await relay.call('GET', '/api/policy')
    expect(warnings()).toEqual([
      ...Array(5).fill('a client sent a wrong admin token 192.0.2.1'),
      'a client sent too many wrong admin tokens 192.0.2.1',
      'a client sent a wrong admin token 192.0.2.2',
    ])
    expect(log).not.toContain('a-wrong-token')
    expect(log).not.toContain(ADMIN_TOKEN)
  })
})
