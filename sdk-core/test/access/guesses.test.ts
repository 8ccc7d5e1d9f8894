// Guessing passwords: what it costs, how many guesses are checked, and who is locked out by it.

import { scryptSync } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'
import { atDepth } from '../../../tools/test-depth.ts'
import { Credentials } from '../../src/access/credentials.ts'
import { GuessLimiter } from '../../src/access/guess-limiter.ts'
import { NETWORK_GUESSES_BURST, TOTAL_GUESSES_BURST } from '../../src/access/limits.ts'
import { checkAccess } from '../../src/access/options.ts'
import { type DeriveKey, SCRYPT, storedPassword } from '../../src/access/password-hash.ts'
import * as comparison from '../../src/handlers/constant-time-equal.ts'
import { AccessSite, basic, from } from './access-site.ts'

const TOKEN = 'a-token-that-is-long'
/** From which strangers guess. */
const ADDRESSES: number = atDepth(500, 60)
/** A hash that costs nothing, for tests that count. */
const derive = vi.fn(async (password: Uint8Array, salt: Uint8Array) =>
  Uint8Array.from({ length: 32 }, (_, at) => (password[at % password.length] ?? 0) ^ salt[at % salt.length]!),
)
let site: AccessSite | undefined
afterEach(() => {
  site?.close()
  site = undefined
  vi.restoreAllMocks()
  vi.useRealTimers()
  derive.mockClear()
})

const open = (): Response => new Response('inside')

test('a check does the same work for every user and every wrong password', async () => {
  const users = { alice: await storedPassword('her own', derive), bob: 'plain' }
  const credentials = new Credentials(checkAccess({ users, password: 'of all' }, true), derive)
  const compare = vi.spyOn(comparison, 'constantTimeEqual')
  for (const [user, password] of [
    ['alice', 'her own'],
    ['alice', 'her own, nearly'],
    ['alice', 'x'],
    ['bob', 'plain'],
    ['bob', 'x'],
    ['carol', 'x'],
    ['', 'of all'],
    ['', ''],
  ] as const) {
    derive.mockClear()
    compare.mockClear()
    await credentials.subjectOf(user, password)
    expect([user, password, derive.mock.calls.length, compare.mock.calls.length]).toEqual([
      user,
      password,
      1,
      1,
    ])
  }
})

test('hashes run one after the other', async () => {
  let running = 0
  let most = 0
  const slow = async (...given: Parameters<typeof derive>): Promise<Uint8Array> => {
    running += 1
    most = Math.max(most, running)
    await new Promise(setImmediate)
    running -= 1
    return derive(...given)
  }
  const credentials = new Credentials(
    checkAccess({ password: await storedPassword('x', derive) }, true),
    slow,
  )
  const results = await Promise.all(['x', 'y', 'x', 'z'].map((given) => credentials.subjectOf('', given)))
  expect(results).toEqual(['password', undefined, 'password', undefined])
  expect(most).toBe(1)
})

test('a stored password is scrypt with a salt of its own', async () => {
  const real: DeriveKey = async (password, salt) => scryptSync(password, salt, SCRYPT.dkLen, SCRYPT)
  const [one, other] = [await storedPassword('pass', real), await storedPassword('pass', real)]
  expect(one).toMatch(/^scrypt:[\w-]{22}:[\w-]{43}$/)
  expect(one).not.toBe(other)
  const credentials = new Credentials(checkAccess({ password: one }, true), real)
  expect(await credentials.subjectOf('', 'pass')).toBe('password')
  expect(await credentials.subjectOf('', 'Pass')).toBeUndefined()
})

test(`guesses from ${ADDRESSES} addresses are checked no more often than those from few`, async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const password = await storedPassword('the right one', derive)
  site = await AccessSite.start(open, { password }, derive)
  const owner = await site.signIn({ password: 'the right one' }, from('198.51.100.1'))
  const program = { ...basic('', 'the right one'), ...from('198.51.100.2') }
  expect((await site.ask('/', { headers: program })).status).toBe(200)
  derive.mockClear()
  const statuses: number[] = []
  for (let address = 0; address < ADDRESSES; address += 1) {
    const headers = from(`10.0.${address >> 8}.${address & 255}`)
    statuses.push((await site.post('sign-in', { password: `guess ${address}` }, headers)).status)
  }
  expect(statuses.filter((status) => status === 401).length).toBe(TOTAL_GUESSES_BURST)
  expect(derive.mock.calls.length).toBe(TOTAL_GUESSES_BURST)
  const refused = await site.post('sign-in', { password: 'the right one' }, from('10.9.9.9'))
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
  // Who is in stays in, and comes in again from where somebody came in before.
  expect((await site.ask('/', { headers: { Cookie: owner } })).status).toBe(200)
  expect((await site.ask('/', { headers: program })).status).toBe(200)
  await site.signIn({ password: 'the right one' }, from('198.51.100.1'))
})

test('one network guesses a few times, by form, Basic and token together, and others go on', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  site = await AccessSite.start(open, { password: 'the right one', bearer: TOKEN })
  const mine = from('2001:db8::1')
  const neighbour = from('2001:db8::2')
  for (let at = 0; at < NETWORK_GUESSES_BURST; at += 1) {
    const headers = at % 2 ? basic('', `guess ${at}`) : { Authorization: `Bearer ${TOKEN}${at}` }
    expect((await site.ask('/', { headers: { ...headers, ...(at % 3 ? mine : neighbour) } })).status).toBe(
      401,
    )
  }
  for (const headers of [basic('', 'the right one'), { Authorization: `Bearer ${TOKEN}` }])
    expect((await site.ask('/', { headers: { ...headers, ...mine } })).status).toBe(429)
  await site.signIn({ password: 'the right one' }, from('2001:db8:0:1::1'))
})

test('right passwords do not count', () => {
  const limiter = new GuessLimiter()
  for (let at = 0; at < 100; at += 1) limiter.take('10.0.0.1')!.right()
  expect(limiter.take('10.0.0.1')).toBeDefined()
})

test('without an address, all share the total alone', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const limiter = new GuessLimiter()
  const taken = Array.from({ length: TOTAL_GUESSES_BURST + 5 }, () => limiter.take(undefined))
  expect(taken.filter((guess) => guess).length).toBe(TOTAL_GUESSES_BURST)
})
