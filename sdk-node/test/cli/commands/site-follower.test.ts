// The tunnel tells and shows its relays: of their copies of its files, and of relays that come and go.

import { type PlatformSite, SvcError } from '@svc/sdk-core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { COPY_CHANGE_MS, SiteFollower } from '../../../src/cli/commands/site-follower.ts'
import type { Report } from '../../../src/cli/report/report.ts'
import { StatusStore } from '../../../src/cli/report/status-store.ts'

const RELAY = 'https://relay.example'
const UNTIL = '2030-01-02T03:04:05Z'

class CachedSite extends EventTarget {
  state = 'online'
  url = 'https://demo.relay.example'
  canonicalUrl = 'https://demo-0.relay.example'
  cache: { present: boolean; expires_at: string | undefined } = { present: false, expires_at: undefined }

  stored(expires_at: string | undefined): void {
    this.cache = { present: expires_at !== undefined, expires_at }
    this.dispatchEvent(new Event('cachechange'))
  }

  stats(): object {
    return {}
  }

  become(state: string): void {
    this.state = state
    this.dispatchEvent(new Event('statechange'))
  }

  async close(): Promise<void> {
    if (this.state === 'closed') return
    this.state = 'closed'
    this.dispatchEvent(new Event('statechange'))
  }
}

let site: CachedSite
let told: Report[]
let asked: AbortController
let store: StatusStore
let follower: SiteFollower
beforeEach(() => {
  vi.useFakeTimers()
  told = []
  asked = new AbortController()
  store = new StatusStore()
  const context = {
    tell: (report: Report) => void told.push(report),
    store,
    begun: async () => {},
    inspector: { url: undefined },
    signal: asked.signal,
  }
  site = new CachedSite()
  follower = new SiteFollower(context, {
    tunnel: undefined,
    position: 0,
    hasWeb: true,
    named: new Set([RELAY]),
  })
  follower.follow(site as unknown as PlatformSite, RELAY)
  site.dispatchEvent(new Event('statechange'))
})
afterEach(() => vi.useRealTimers())

async function toldAfter(ms: number): Promise<unknown[]> {
  await vi.advanceTimersByTimeAsync(ms)
  return told.splice(0).filter(({ event }) => event !== 'online')
}

const PRESENT = { event: 'cache', relay: RELAY, present: true, canonical_url: 'https://demo-0.relay.example' }

describe('a copy', () => {
  it('is told once, however often its end moves on', async () => {
    site.stored(UNTIL)
    site.stored('2030-01-02T03:05:05Z')
    expect(await toldAfter(COPY_CHANGE_MS)).toMatchObject([{ ...PRESENT, expires_at: expect.any(String) }])
  })

  it('that is replaced is not told to be gone', async () => {
    site.stored(UNTIL)
    await toldAfter(0)
    site.stored(undefined)
    await toldAfter(COPY_CHANGE_MS - 1)
    site.stored(UNTIL)
    expect(await toldAfter(2 * COPY_CHANGE_MS)).toEqual([])
  })

  it('that stays away is told to be gone, and told again when it is back', async () => {
    site.stored(UNTIL)
    await toldAfter(0)
    site.stored(undefined)
    expect(await toldAfter(COPY_CHANGE_MS - 1)).toEqual([])
    expect(await toldAfter(1)).toMatchObject([{ event: 'cache', present: false }])
    site.stored(UNTIL)
    expect(await toldAfter(0)).toMatchObject([PRESENT])
  })

  it('is told to stay when svc is asked to end', async () => {
    site.stored(UNTIL)
    await toldAfter(0)
    asked.abort()
    await site.close()
    expect(await toldAfter(0)).toMatchObject([
      { event: 'closed', cache: { present: true, expires_at: UNTIL } },
    ])
  })

  it('is not told to stay when the relay ended the site', async () => {
    site.stored(UNTIL)
    await toldAfter(0)
    await site.close()
    expect(await toldAfter(0)).toEqual([{ event: 'closed', tunnel: undefined, relay: RELAY }])
  })

  it('is told nothing of after the end', async () => {
    site.stored(UNTIL)
    site.stored(undefined)
    await toldAfter(0)
    asked.abort()
    await site.close()
    expect(await toldAfter(COPY_CHANGE_MS)).toEqual([{ event: 'closed', tunnel: undefined, relay: RELAY }])
  })
})

describe('a relay', () => {
  const FOUND = 'https://found.example'
  const shown = (): string[] => store.snapshot().map(({ relay, state }) => `${relay} ${state}`)
  const follow = (relay: string): CachedSite => {
    const other = new CachedSite()
    other.state = 'connecting'
    follower.follow(other as unknown as PlatformSite, relay)
    return other
  }

  it('that was discovered is shown while it has the tunnel', async () => {
    const found = follow(FOUND)
    found.become('online')
    expect(shown()).toEqual([`${RELAY} online`, `${FOUND} online`])
    await found.close()
    found.dispatchEvent(Object.assign(new Event('error'), { error: new SvcError('ip_banned', 'banned') }))
    expect(await toldAfter(0)).toMatchObject([
      { event: 'closed', relay: FOUND },
      { event: 'error', relay: FOUND },
    ])
    expect(shown()).toEqual([`${RELAY} online`])
  })

  it('that was discovered and did not take the tunnel leaves nothing', async () => {
    await follow(FOUND).close()
    follower.failed(FOUND, new SvcError('relay_unreachable', 'gone'))
    expect(await toldAfter(0)).toEqual([])
    expect(shown()).toEqual([`${RELAY} online`])
  })

  it('that was named and is tried again has one row, with its last failure', async () => {
    await site.close()
    await toldAfter(0)
    await follow(RELAY).close()
    follower.failed(RELAY, new SvcError('relay_unreachable', 'gone'))
    expect(shown()).toEqual([`${RELAY} failed`])
    const again = follow(RELAY)
    expect(shown()).toEqual([`${RELAY} connecting`])
    await again.close()
    expect(shown()).toEqual([`${RELAY} failed`])
    follow(RELAY).become('online')
    expect(shown()).toEqual([`${RELAY} online`])
  })

  it('that goes while another one may come does not end the command', async () => {
    const over = vi.fn()
    follower.over.then(over)
    await site.close()
    await toldAfter(0)
    expect(over).not.toHaveBeenCalled()
    const found = follow(FOUND)
    found.become('online')
    await found.close()
    follower.ended()
    await toldAfter(0)
    expect(over).toHaveBeenCalledWith(0)
  })
})
