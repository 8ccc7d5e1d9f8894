// Limits of a gateway before it looks at a signature: what one source may ask, and all of them together.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SourceLimits } from '../../src/features/overlay/gateways/source-limits.ts'
import {
  GATEWAY_OUTBOUND_MAX,
  GATEWAY_SESSIONS_PER_SOURCE_MAX,
  OVERLAY_LIMITS,
} from '../../src/features/overlay/limits.ts'

const A = '192.0.2.1'
const refusal = expect.objectContaining({ code: 'rate_limited', status: 429 })

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Waits until one source has this many requests again. */
function earn(requests: number): void {
  vi.advanceTimersByTime((requests * 60_000) / OVERLAY_LIMITS.gatewaySourceRate.perMinute)
}

describe('limits of a gateway (protocol §17.2.3)', () => {
  test('have the numbers of the specification', () => {
    expect(OVERLAY_LIMITS.gatewaySourceRate).toEqual({ perMinute: 120, burst: 16 })
    expect([GATEWAY_SESSIONS_PER_SOURCE_MAX, GATEWAY_OUTBOUND_MAX]).toEqual([16, 128])
  })

  test('a source has 16 requests at once and 120 a minute, others have theirs', () => {
    const limits = new SourceLimits()
    for (let n = 0; n < 16; n++) limits.take(A)()
    expect(() => limits.take(A)).toThrow(refusal)
    limits.take('192.0.2.2')()
    let taken = 0
    for (let second = 0; second < 60; second++) {
      vi.advanceTimersByTime(1000)
      for (let n = 0; n < 10; n++)
        try {
          limits.take(A)()
          taken += 1
        } catch {}
    }
    expect(taken).toBe(120)
    expect(limits.refused.rate).toBe(1 + 480)
  })

  test('addresses of one IPv6 /64 are one source', () => {
    const limits = new SourceLimits()
    for (let n = 0; n < 16; n++) limits.take(`2001:db8::${n + 1}`)()
    expect(() => limits.take('2001:db8::ffff:1')).toThrow(refusal)
    limits.take('2001:db8:0:1::1')()
  })

  test('a source has 16 pending or bridged requests, and each that ends makes room for one', () => {
    const limits = new SourceLimits()
    const ends = Array.from({ length: 16 }, () => limits.take(A))
    earn(16)
    expect(() => limits.take(A)).toThrow(refusal)
    ends[0]!()
    ends[0]!()
    limits.take(A)
    expect(() => limits.take(A)).toThrow(refusal)
    expect(limits.refused).toEqual({ rate: 0, source_sessions: 2, ingress_sessions: 0, outbound: 0 })
  })

  test('all sources together have 128', () => {
    const limits = new SourceLimits()
    const ends = Array.from({ length: 128 }, (_, n) => limits.take(`10.0.0.${n}`))
    expect(limits.hasRoom).toBe(false)
    expect(() => limits.take('10.0.1.1')).toThrow(refusal)
    expect(limits.refused.outbound).toBe(1)
    for (const end of ends) end()
    expect(limits.outbound).toBe(0)
    limits.take('10.0.1.1')
  })

  test('a refusal says when to come again', () => {
    const limits = new SourceLimits()
    for (let n = 0; n < 16; n++) limits.take(A)()
    expect(() => limits.take(A)).toThrow(expect.objectContaining({ headers: { 'Retry-After': '1' } }))
  })
})
