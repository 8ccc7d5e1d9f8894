// Tests when a relay is taken, replaced and given up: the class on fake timers, with sites that do what these tests say.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type OwnErrorCode, SvcError, type SvcErrorCode } from '../../src/errors.ts'
import {
  ATTEMPTS_SPARE,
  CERTIFICATE_PATIENCE_MS,
  FAILED_PAUSE_FIRST_MS,
  LISTS_FIRST_MAX,
  LISTS_MAX,
  REPLACE_AFTER_MS,
  SEARCH_INTERVAL_MS,
  TAKE_DEADLINE_MS,
  TAKE_PATIENCE_MS,
} from '../../src/relays/limits.ts'
import type { Candidate } from '../../src/relays/ranking.ts'
import { RelaySites } from '../../src/relays/relay-sites.ts'
import { searchRelays } from '../../src/relays/search.ts'
import { type Site, SiteErrorEvent, type SiteState } from '../../src/site/site.ts'
import type { Waiting } from '../../src/site/waiting-reason.ts'

vi.mock('../../src/relays/search.ts')

/** The treatment of a new site by a relay. */
type Behaviour = 'online' | 'silent' | 'approval' | SvcErrorCode

class TestSite extends EventTarget {
  state: SiteState = 'connecting'
  waiting: Waiting | undefined
  readonly host: string

  constructor(host: string) {
    super()
    this.host = host
  }

  become(state: SiteState, waiting?: Waiting): void {
    if (this.state === 'closed') return
    this.state = state
    this.waiting = waiting
    this.dispatchEvent(new Event('statechange'))
  }

  fail(code: OwnErrorCode | 'lease_rejected'): void {
    this.dispatchEvent(new SiteErrorEvent(new SvcError(code, code)))
  }

  async close(): Promise<void> {
    this.become('closed')
  }
}

const origin = (host: string): URL => new URL(`https://${host}.example`)
let behaviours: Record<string, Behaviour>
let listed: string[]
let begun: TestSite[]
let most: number
let sites: RelaySites<Site>

beforeEach(() => {
  vi.useFakeTimers()
  behaviours = {}
  listed = ['a', 'b', 'c', 'd']
  begun = []
  most = 0
  vi.mocked(searchRelays).mockReset()
  vi.mocked(searchRelays).mockImplementation(async ({ isExcluded }) => {
    const free = listed.filter((host) => !isExcluded(origin(host).origin))
    const found: Candidate[] = free.map((host, at) => ({ url: origin(host), costMs: at }))
    return { found, failures: [] }
  })
})
afterEach(async () => {
  await sites.close()
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

function keep(named: readonly string[], discover: number): RelaySites<Site> {
  sites = new RelaySites<Site>({
    relays: named.map(origin),
    discover,
    wanted: { tcp: false, udp: false },
    fetch: () => Promise.reject(new Error('the search is replaced')),
    signerOf: () => undefined,
    publish: async (relay, _isExplicit, onSite, signal) => {
      const host = relay.hostname.split('.')[0]!
      const site = new TestSite(host)
      begun.push(site)
      onSite(site as unknown as Site)
      most = Math.max(most, live().length)
      const closed = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => {
          site.become('closed')
          reject(new SvcError('aborted', 'closed'))
        })
      })
      closed.catch(() => {})
      await Promise.resolve()
      const behaviour = behaviours[host] ?? 'online'
      if (behaviour === 'approval') site.become('waiting', { reason: 'approval', until: undefined })
      else if (behaviour === 'online') {
        site.become('online')
        return site as unknown as Site
      } else if (behaviour !== 'silent') {
        site.become('closed')
        throw new SvcError(behaviour, behaviour)
      }
      return await closed
    },
  })
  return sites
}

const live = (): TestSite[] => begun.filter(({ state }) => state !== 'closed')
const hosts = (): string[] => live().map(({ host }) => host)
const online = (): string[] => live().flatMap(({ host, state }) => (state === 'online' ? [host] : []))
const at = (host: string): TestSite => live().find((site) => site.host === host)!
const after = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

async function started(named: readonly string[], discover: number): Promise<void> {
  const starting = keep(named, discover).start()
  await after(0)
  await starting
  await sites.settled
}

describe('a discovered relay', () => {
  it('comes in the order of the search, beside the named ones', async () => {
    await started(['n'], 2)
    expect(online()).toEqual(['n', 'a', 'b'])
  })

  it('that is back in time is not replaced', async () => {
    await started(['n'], 1)
    for (let times = 0; times < 5; times += 1) {
      at('a').become('reconnecting')
      await after(REPLACE_AFTER_MS - 1)
      at('a').become('online')
      await after(REPLACE_AFTER_MS)
    }
    expect(begun.map(({ host }) => host)).toEqual(['n', 'a'])
  })

  it('that is not back is replaced, and left when the next one is online', async () => {
    await started(['n'], 1)
    at('a').become('reconnecting')
    behaviours.b = 'silent'
    await after(REPLACE_AFTER_MS)
    expect(hosts()).toEqual(['n', 'a', 'b'])
    at('b').become('online')
    await after(0)
    expect(hosts()).toEqual(['n', 'b'])
  })

  it('that is back before the next one is online stays, and that one goes', async () => {
    await started(['n'], 1)
    behaviours.b = 'silent'
    at('a').become('reconnecting')
    await after(REPLACE_AFTER_MS)
    at('a').become('online')
    await after(0)
    expect(hosts()).toEqual(['n', 'a'])
  })

  it('that works is never replaced, also when others are nearer', async () => {
    await started(['n'], 2)
    listed = ['d', 'c', 'b', 'a']
    await after(6 * SEARCH_INTERVAL_MS)
    expect(vi.mocked(searchRelays).mock.calls.length).toBeGreaterThan(3)
    expect(begun.map(({ host }) => host)).toEqual(['n', 'a', 'b'])
  })

  it('that bans the site is replaced at once', async () => {
    await started(['n'], 1)
    at('a').become('reconnecting')
    at('a').fail('lease_rejected')
    await after(0)
    expect(online()).toEqual(['n', 'b'])
  })

  it('that ended the site is replaced at once', async () => {
    await started(['n'], 1)
    at('a').become('closed')
    await after(0)
    expect(online()).toEqual(['n', 'b'])
  })

  it('whose operator has to approve the site first is not waited for', async () => {
    behaviours.a = 'approval'
    await started(['n'], 1)
    expect(online()).toEqual(['n', 'b'])
    expect(hosts()).not.toContain('a')
  })

  it('may take its time for the certificate, and no longer', async () => {
    await started(['n'], 1)
    at('a').become('waiting', { reason: 'certificate', until: undefined })
    await after(CERTIFICATE_PATIENCE_MS - 1)
    expect(hosts()).toEqual(['n', 'a'])
    await after(1)
    expect(online()).toEqual(['n', 'b'])
  })

  it('that has no room is not waited for', async () => {
    await started(['n'], 1)
    at('a').become('waiting', { reason: 'relay_full', until: undefined })
    await after(REPLACE_AFTER_MS)
    expect(online()).toEqual(['n', 'b'])
  })

  it('that failed comes again after a pause only', async () => {
    listed = ['a', 'b']
    await started(['n'], 1)
    at('a').become('closed')
    await after(0)
    expect(online()).toEqual(['n', 'b'])
    at('b').become('closed')
    await after(FAILED_PAUSE_FIRST_MS / 2 - 1)
    expect(online()).toEqual(['n'])
    await after(FAILED_PAUSE_FIRST_MS)
    expect(online()).toHaveLength(2)
  })

  it('that says nothing gets company, and is given up', async () => {
    behaviours.a = 'silent'
    const starting = keep(['n'], 1).start()
    await after(TAKE_PATIENCE_MS - 1)
    await starting
    expect(hosts()).toEqual(['n', 'a'])
    await after(1)
    expect(hosts()).toEqual(['n', 'b'])
    expect(online()).toEqual(['n', 'b'])
  })

  it('is left for good when the caller says so', async () => {
    listed = ['a', 'b']
    await started(['n'], 1)
    sites.leave(at('a') as unknown as Site, new SvcError('relay_suspected', 'it reads'))
    await after(0)
    expect(online()).toEqual(['n', 'b'])
    behaviours.b = 'relay_unreachable'
    at('b').become('closed')
    await after(24 * 60 * 60_000)
    expect(begun.filter(({ host }) => host === 'a')).toHaveLength(1)
  })
})

describe('while all relays are dead', () => {
  it('attempts are few, and grow rarer; the sites stay and come back by themselves', async () => {
    await started(['n'], 2)
    for (const host of ['a', 'b', 'c', 'd']) behaviours[host] = 'relay_unreachable'
    for (const site of live()) site.become('reconnecting')
    const hour = 60 * 60_000
    await after(hour)
    const first = begun.length
    expect(first).toBeLessThan(60)
    await after(hour)
    expect(begun.length - first).toBeLessThan(first)
    expect(hosts().toSorted()).toEqual(['a', 'b', 'n'])
    expect(vi.mocked(searchRelays).mock.calls.length).toBeLessThan(40)
    for (const site of live()) site.become('online')
    await after(0)
    expect(online().toSorted()).toEqual(['a', 'b', 'n'])
  })

  it('no more are tried at once than are missing, and a few', async () => {
    listed = Array.from({ length: 16 }, (_, index) => `r${index}`)
    for (const host of listed) behaviours[host] = 'silent'
    const starting = keep(['n'], 2).start()
    await after(10 * TAKE_DEADLINE_MS)
    await starting
    expect(most).toBeLessThanOrEqual(1 + 2 + 2 * ATTEMPTS_SPARE)
    // those that said nothing made room for others
    expect(new Set(begun.map(({ host }) => host)).size).toBe(1 + listed.length)
  })

  it('those that could not be reached are forgiven when the network is back', async () => {
    await started(['n'], 1)
    behaviours.b = behaviours.c = behaviours.d = 'relay_unreachable'
    for (const site of live()) site.become('reconnecting')
    await after(REPLACE_AFTER_MS + 1)
    behaviours = {}
    at('n').become('online')
    await after(0)
    expect(online()).toHaveLength(2)
  })
})

describe('a named relay', () => {
  it('is never replaced while it may come back', async () => {
    await started(['n', 'm'], 0)
    at('m').become('reconnecting')
    await after(SEARCH_INTERVAL_MS)
    expect(hosts()).toEqual(['n', 'm'])
    expect(searchRelays).not.toHaveBeenCalled()
  })

  it('that could not be reached at first is tried again', async () => {
    behaviours.m = 'relay_unreachable'
    await started(['n', 'm'], 0)
    expect(sites.failures.map(({ relay }) => relay)).toEqual([origin('m').origin])
    behaviours = {}
    await after(FAILED_PAUSE_FIRST_MS)
    expect(online()).toEqual(['n', 'm'])
    expect(sites.failures).toEqual([])
  })

  it('that ended the site is not tried again, and another one takes its place', async () => {
    await started(['n'], 1)
    at('n').fail('relay_unreachable')
    at('n').become('closed')
    await after(SEARCH_INTERVAL_MS)
    expect(online()).toEqual(['a', 'b'])
  })

  it('that was taken over, as all that are named, ends the site', async () => {
    await started(['n'], 1)
    const site = at('n')
    site.become('reconnecting')
    site.fail('lease_replaced')
    site.become('closed')
    await expect(sites.ended).resolves.toMatchObject({ code: 'lease_replaced' })
    expect(live()).toEqual([])
  })

  it('that refuses is the reason for which there is no site, when nobody else takes it', async () => {
    behaviours.n = 'ip_banned'
    listed = []
    const starting = keep(['n'], 2).start()
    const refused = expect(starting).rejects.toMatchObject({ code: 'ip_banned' })
    await after(0)
    await refused
    await expect(sites.ended).resolves.toMatchObject({ code: 'ip_banned' })
  })
})

describe('a search', () => {
  const asked = (): string[][] =>
    vi
      .mocked(searchRelays)
      .mock.calls.map(([{ asked }]) => asked.map(({ hostname }) => hostname.split('.')[0]!))

  it('asks a few at first, and later fewer in turn, now and then', async () => {
    listed = []
    const named = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6']
    await started(named, 1)
    expect(asked()).toEqual([named.slice(0, LISTS_FIRST_MAX)])
    await after(2 * 60 * 60_000)
    const later = asked().slice(1)
    // soon at first, then at most every ten minutes
    expect(later.length).toBeGreaterThan(4)
    expect(later.length).toBeLessThan(20)
    expect(new Set(later.map(({ length }) => length))).toEqual(new Set([LISTS_MAX]))
    expect(new Set(later.flat())).toEqual(new Set(named))
  })

  it('whose relays answer late is used before it is over', async () => {
    vi.mocked(searchRelays).mockImplementation(async ({ early }) => {
      early!([{ url: origin('a'), costMs: 1 }])
      return await new Promise(() => {})
    })
    const starting = keep(['n'], 1).start()
    await after(0)
    await starting
    expect(online()).toEqual(['n', 'a'])
  })

  it('that finds nothing leaves what was found before', async () => {
    await started(['n'], 1)
    listed = []
    await after(3 * SEARCH_INTERVAL_MS)
    at('a').become('closed')
    await after(0)
    expect(online()).toEqual(['n', 'b'])
  })
})

describe('the page', () => {
  it('that was away replaces nothing for it', async () => {
    await started(['n'], 1)
    sites.suspend()
    for (const site of live()) site.become('reconnecting')
    await after(SEARCH_INTERVAL_MS)
    sites.resume()
    await after(REPLACE_AFTER_MS - 1)
    expect(begun).toHaveLength(2)
    for (const site of live()) site.become('online')
    await after(REPLACE_AFTER_MS)
    expect(begun).toHaveLength(2)
  })

  it('that comes back with one relay too many keeps the older one', async () => {
    await started(['n'], 1)
    behaviours.b = 'silent'
    at('a').become('reconnecting')
    await after(REPLACE_AFTER_MS)
    sites.suspend()
    at('a').become('online')
    await after(1)
    at('b').become('online')
    sites.resume()
    expect(hosts()).toEqual(['n', 'a'])
  })
})

it('close() ends all, also what is under way', async () => {
  behaviours.a = 'silent'
  const starting = keep(['n'], 2).start()
  await after(0)
  await starting
  await sites.close()
  expect(live()).toEqual([])
  await after(SEARCH_INTERVAL_MS * 3)
  expect(live()).toEqual([])
  await expect(sites.ended).resolves.toBeUndefined()
})
