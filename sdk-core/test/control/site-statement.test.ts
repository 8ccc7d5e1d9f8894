// The statement that visitors reach a site at a relay: what the SDK signs, when it sends it, and to whom.

import {
  PATH,
  SITE_STATEMENT_MAX_MS,
  SITE_STATEMENT_TOLERANCE_MS,
  type SiteStatement,
  siteStatementText,
} from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LeaseRequest } from '../../src/control/lease.ts'
import { LeaseKeeper } from '../../src/control/lease-keeper.ts'
import { STATEMENT_DELAY_MS } from '../../src/control/limits.ts'
import { RelayClient } from '../../src/control/relay-client.ts'
import { stateSite } from '../../src/control/site-statement.ts'
import { identityFromKey, personalSigner } from '../../src/identity/key.ts'
import { CHALLENGE_ID, goodMessage, grant, RELAY, registration } from '../support/fake-relay.ts'
// Loaded before, so that no time passes while it is.
import '../../src/control/lazy.ts'

const identity = identityFromKey(new Uint8Array(32).fill(1))
const LABEL = `demo-${identity.address.slice(2).toLowerCase()}`
const TTL_S = 120
const NOW = 1e12
/** The clock of a relay that wants a statement for years. */
const RELAY_AHEAD_MS = 3e11

let renewals: { statement?: SiteStatement }[]
let extensions: string[]
let keeper: LeaseKeeper

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
  renewals = []
  extensions = ['site_statement']
})
afterEach(() => {
  keeper.drop()
  vi.useRealTimers()
})

const reduced = vi.fn()
let previousOwner: object | undefined

async function acquire(more: Partial<LeaseRequest>): Promise<void> {
  const expires = (): string => new Date(Date.now() + RELAY_AHEAD_MS + TTL_S * 1000).toISOString()
  const data: Record<string, (body: string) => object> = {
    [PATH.domain]: () => ({ protocol_version: '10', extensions }),
    [PATH.registerChallenge]: () => ({
      challenge_id: CHALLENGE_ID,
      siwe_message: goodMessage(identity.address),
    }),
    [PATH.register]: () => ({
      ...registration(identity.address),
      ...grant('1', expires()),
      previous_owner: previousOwner,
    }),
    [PATH.renew]: (body) => {
      renewals.push(JSON.parse(body))
      return grant('2', expires())
    },
  }
  const client = new RelayClient(RELAY, async (url, { body }) => {
    const answer = data[new URL(url).pathname]!(String(body))
    return new Response(JSON.stringify({ ok: true, data: answer }))
  })
  const request = { name: 'demo', identity, ttlS: TTL_S, allowCanonicalFallback: false, metadata: undefined }
  const ignored = vi.fn()
  keeper = new LeaseKeeper(
    client,
    { ...request, ...more },
    { registered: ignored, renewed: ignored, failed: ignored, gone: ignored, reduced },
  )
  await keeper.acquire(new AbortController().signal)
}

const signerOf = (statement: SiteStatement): string | undefined =>
  personalSigner(siteStatementText(LABEL, RELAY.origin, statement), statement.signature)

describe('a lease of a site', () => {
  it('soon has a statement at a relay that takes one, and a new one with each renewal (protocol §16.1.1)', async () => {
    await acquire({ isStated: true })
    await vi.advanceTimersByTimeAsync(STATEMENT_DELAY_MS)
    expect(renewals).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(TTL_S * 500)
    expect(renewals).toHaveLength(2)
    const statements = renewals.map(({ statement }) => statement!)
    expect(statements.map(signerOf)).toEqual([identity.address, identity.address])
    const issued = statements.map(({ issued_at }) => Date.parse(issued_at) - NOW)
    // By the clock of this machine, whatever the relay's says.
    expect(issued).toEqual([STATEMENT_DELAY_MS, STATEMENT_DELAY_MS + TTL_S * 500])
    for (const { issued_at, expires_at } of statements)
      expect(Date.parse(expires_at) - Date.parse(issued_at)).toBe(TTL_S * 1000 + SITE_STATEMENT_TOLERANCE_MS)
  })

  it('tells its user once of the identity that had its name before', async () => {
    previousOwner = { until: '2026-01-02T03:04:05Z' }
    reduced.mockClear()
    await acquire({ isStated: true })
    await vi.advanceTimersByTimeAsync(STATEMENT_DELAY_MS + TTL_S * 500)
    expect(renewals).toHaveLength(2)
    previousOwner = undefined
    expect(reduced).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'name_had_other_owner' }))
  })

  it.each([
    ['at a relay that takes none', [], true],
    ['that leads to no visitors, as those of a route', ['site_statement'], undefined],
  ])('%s has none', async (_what, listed, isStated) => {
    extensions = listed
    await acquire({ ...(isStated && { isStated }) })
    await vi.advanceTimersByTimeAsync(TTL_S * 500)
    expect(renewals).toHaveLength(1)
    expect(renewals[0]).not.toHaveProperty('statement')
  })
})

describe('the time of a statement', () => {
  const request = { name: 'demo', identity, ttlS: TTL_S, allowCanonicalFallback: false, metadata: undefined }
  const limits = { maxExposureBytes: 1, maxObjectBytes: 1 }
  const lifeMs = (cache: LeaseRequest['cache'], cacheLimits: typeof limits | undefined): number => {
    const { issued_at, expires_at } = stateSite(
      { origin: RELAY.origin },
      { ...request, cache },
      { cacheLimits },
    )
    return Date.parse(expires_at) - Date.parse(issued_at)
  }
  const leaseMs = TTL_S * 1000 + SITE_STATEMENT_TOLERANCE_MS

  it.each([
    ['the lease', undefined, undefined, leaseMs],
    ['the lease, also where the relay stores files of others', undefined, limits, leaseMs],
    ['the lease, where the relay stores no files', { ttlS: 3600 }, undefined, leaseMs],
    ['the stored files', { ttlS: 3600 }, limits, 3_600_000],
    ['the lease, where files are stored for less', { ttlS: 1 }, limits, leaseMs],
    ['a day, where the relay chooses', { ttlS: 0 }, limits, SITE_STATEMENT_MAX_MS],
    ['a day, where the site wants more', { ttlS: 1e6 }, limits, SITE_STATEMENT_MAX_MS],
  ])('is that of %s', (_what, cache, cacheLimits, expected) => {
    expect(lifeMs(cache, cacheLimits)).toBe(expected)
  })
})
