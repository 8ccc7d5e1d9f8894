// Tokens that need not be checked again: bounded, and never a way around what is checked each time.

import { describe, expect, test } from 'vitest'
import { VERIFIED_TOKENS_MAX, VerifiedTokenCache } from '../../src/core/auth/verified-token-cache.ts'

const verified = (jti: number) => ({ claims: { jti: String(jti) } }) as never

describe('verified tokens', () => {
  test('are known by the whole token', () => {
    const tokens = new VerifiedTokenCache()
    tokens.add('a.b.c', verified(1))
    expect([tokens.get('a.b.c'), tokens.get('a.b.d'), tokens.get('a.b.c ')]).toEqual([
      verified(1),
      undefined,
      undefined,
    ])
  })

  test('beyond VERIFIED_TOKENS_MAX the oldest is forgotten', () => {
    const tokens = new VerifiedTokenCache()
    for (let number = 0; number <= VERIFIED_TOKENS_MAX; number++) tokens.add(`${number}`, verified(number))
    expect(tokens.size).toBe(VERIFIED_TOKENS_MAX)
    expect([tokens.get('0'), tokens.get('1')]).toEqual([undefined, verified(1)])
  })
})
