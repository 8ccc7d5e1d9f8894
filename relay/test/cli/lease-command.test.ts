// `svc-relay lease`: what an operator sees of leases on the command line, and decides there.

import type { PolicyDecisionsResponse } from '@svc/protocol'
import { expect, test } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { newAccount, startTestRelay } from '../support/relay.ts'
import { svcRelay } from '../support/svc-relay.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const relay = useStarted(() => startTestRelay({ ADMIN_TOKEN }))
const run = (...args: string[]) =>
  svcRelay(['lease', ...args], { SVC_URL: relay.origin, IDENTITY_PATH: relay.directory, ADMIN_TOKEN })
const decisions = async () => {
  const answer = await relay.call('GET', '/api/policy/decisions', undefined, {
    Authorization: `Bearer ${ADMIN_TOKEN}`,
  })
  return answer.json.data as unknown as PolicyDecisionsResponse
}

test('lists leases with their traffic, and bans one with a reason and an end', async () => {
  const account = newAccount()
  await relay.register('demo', { account })
  const key = `demo:${account.address.toLowerCase()}`
  const listed = await run('list')
  expect(listed.stdout).toMatch(/^KEY +STATE +OPEN +IN +OUT +IN 24H +OUT 24H +VISITORS 24H\n/)
  expect(listed.stdout).toMatch(new RegExp(`\\n${key} +busy +0 +0 B/s +0 B/s +0 B +0 B +0\\n`))
  expect(await run('ban', key, '--reason', 'spam', '--until', '30d')).toMatchObject({
    code: 0,
    stdout: `${key} is banned.\n`,
  })
  const { reason, until = '', at = '' } = (await decisions()).ban_details?.banned[key] ?? {}
  expect(reason).toBe('spam')
  expect(Math.abs(Date.parse(until) - Date.parse(at) - 30 * 86_400_000)).toBeLessThan(120_000)
  expect((await run('list')).stdout).toMatch(new RegExp(`\\n${key} +banned`))
  expect((await run('ban', key, '--until', '2999-01-01')).code).toBe(0)
  expect((await decisions()).ban_details?.banned[key]).toMatchObject({ until: '2999-01-01T00:00:00.000Z' })
  expect((await run('unban', key)).code).toBe(0)
  expect((await decisions()).banned).toEqual([])
})

wholeOnly(test, 'variant')('approves, denies and bans several at once', async () => {
  const keys = Array.from(
    { length: 3 },
    (_, number) => `site-${number}:${newAccount().address.toLowerCase()}`,
  )
  const approved = await run('approve', ...keys)
  expect(approved.stdout).toBe(keys.map((key) => `${key} is approved.\n`).join(''))
  expect((await decisions()).approved).toEqual(keys.toSorted())
  expect((await run('deny', ...keys.slice(1))).code).toBe(0)
  expect(await decisions()).toMatchObject({ approved: [keys[0]], denied: keys.slice(1).toSorted() })
  expect(await run('approve', keys[0]!, 'nobody')).toMatchObject({ code: 1 })
  const banned = await run('ban', ...keys, '--reason', 'spam')
  expect(banned.stdout).toBe(keys.map((key) => `${key} is banned.\n`).join(''))
  expect((await decisions()).ban_details?.banned[keys[2]!]).toMatchObject({ reason: 'spam' })
  expect((await run('unban', ...keys)).code).toBe(0)
  expect((await decisions()).banned).toEqual([])
})

test.each([
  [['ban'], 'needs KEY…'],
  [['approve'], 'needs KEY…'],
  [['ban', 'demo:0x1', '--until', 'soon'], '--until'],
  [['approve', 'demo:0x1', '--reason', 'spam'], 'of a ban'],
  [['remove', 'demo:0x1'], 'one of list, approve'],
])('%j is refused', async (args, fault) => {
  expect(await run(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(fault) })
})
