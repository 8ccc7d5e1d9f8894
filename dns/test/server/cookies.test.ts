import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { Client } from '../../src/server/client.ts'
import { Cookies } from '../../src/server/cookies.ts'
import { sipHash24, sipHashKey } from '../../src/server/siphash.ts'

const hex = (text: string): Buffer => Buffer.from(text, 'hex')

describe('SipHash-2-4', () => {
  const KEY = hex('000102030405060708090a0b0c0d0e0f')
  const MESSAGE = Buffer.from(Array.from({ length: 63 }, (_, index) => index))

  // From the paper's appendix A, and from the vectors of the reference implementation.
  test.each([
    [0, '310e0edd47db6f72'],
    [1, 'fd67dc93c539f874'],
    [2, '5a4fa9d909806c0d'],
    [15, 'e545be4961ca29a1'],
    [63, '724506eb4c328a95'],
  ])('%d bytes', (length, hash) => expect(hashOf(KEY, MESSAGE, length)).toBe(hash))

  test('OpenSSL computes the same', () => {
    for (const length of [20, 32, 41]) {
      const [key, message] = [randomBytes(16), randomBytes(length)]
      const options = ['-macopt', `hexkey:${key.toString('hex')}`, '-macopt', 'size:8']
      const expected = execFileSync('openssl', ['mac', ...options, 'SIPHASH'], {
        input: message,
        encoding: 'utf8',
      })
      expect(hashOf(key, message, length)).toBe(expected.trim().toLowerCase())
    }
  })
})

function hashOf(key: Buffer, message: Buffer, length: number): string {
  const hash = new Uint32Array(2)
  sipHash24(sipHashKey(key), message, length, hash)
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32LE(hash[0]!, 0)
  bytes.writeUInt32LE(hash[1]!, 4)
  return bytes.toString('hex')
}

/** The examples of RFC 9018, appendix A. */
describe('server cookies', () => {
  const SECRET = 'e5e973e5a6b2a43f48e7dc849e37bfcf'
  const V4 = new Client().set('198.51.100.100')
  const OTHER_V4 = new Client().set('203.0.113.203')
  const V6 = new Client().set('2001:db8:220:1:59de:d0f4:8769:82b8')
  const cookiesAt = (time: number, secret = SECRET): Cookies =>
    new Cookies({ now: () => time, secret: () => hex(secret) })

  test('a client learns its cookie', () =>
    expect(cookiesAt(1559731985).answer(hex('2464c4abcf10c957'), false, V4).toString('hex')).toBe(
      '2464c4abcf10c957010000005cf79f111f8130c3eee29480',
    ))

  test('a client gets a new one after half an hour, and its own before', () => {
    const cookie = hex('2464c4abcf10c957010000005cf79f111f8130c3eee29480')
    const later = cookiesAt(1559734385)
    expect(later.isGood(cookie, V4)).toBe(true)
    expect(later.answer(cookie, true, V4).toString('hex')).toBe(
      '2464c4abcf10c957010000005cf7a871d4a564a1442aca77',
    )
    expect(cookiesAt(1559731985 + 60).answer(cookie, true, V4)).toBe(cookie)
  })

  test('the reserved bytes of another server count, and ours are 0', () => {
    const cookie = hex('fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5')
    expect(cookiesAt(1559727985 + 60).isGood(cookie, OTHER_V4)).toBe(true)
    expect(cookiesAt(1559734700).answer(cookie, false, OTHER_V4).toString('hex')).toBe(
      'fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e',
    )
  })

  test('an IPv6 client', () => {
    const cookie = hex('22681ab97d52c298010000005cf7c57926556bd0934c72f8')
    expect(cookiesAt(1559741961, 'dd3bdf9344b678b185a6f5cb60fca715').isGood(cookie, V6)).toBe(true)
    const answer = cookiesAt(1559741961, '445536bcd2513298075a5d379663c962').answer(cookie, false, V6)
    expect(answer.toString('hex')).toBe('22681ab97d52c298010000005cf7c609a6bb79d16625507a')
  })

  test('a cookie of another address, an old one, one of the future, and a changed one are not good', () => {
    const cookie = hex('2464c4abcf10c957010000005cf79f111f8130c3eee29480')
    const time = 1559731985
    expect(cookiesAt(time).isGood(cookie, OTHER_V4)).toBe(false)
    expect(cookiesAt(time + 3601).isGood(cookie, V4)).toBe(false)
    expect(cookiesAt(time - 301).isGood(cookie, V4)).toBe(false)
    for (const at of [0, 8, 9, 12, 15, 16, 23]) {
      const changed = Buffer.from(cookie)
      changed[at]! ^= 1
      expect(cookiesAt(time).isGood(changed, V4), `byte ${at}`).toBe(false)
    }
  })

  test('the secret changes each day, and the one before it counts for an hour more', () => {
    let now = 1_000_000
    const cookies = new Cookies({ now: () => now })
    now += 86_390
    const cookie = cookies.answer(randomBytes(8), false, V4)
    now += 1800
    expect(cookies.isGood(cookie, V4)).toBe(true)
    expect(cookies.answer(cookie, true, V4).subarray(16)).not.toEqual(cookie.subarray(16))
    now += 86_400
    expect(cookies.isGood(cookie, V4)).toBe(false)
    now += 10 * 86_400
    const young = cookies.answer(randomBytes(8), false, V4)
    expect(cookies.isGood(young, V4)).toBe(true)
  })
})
