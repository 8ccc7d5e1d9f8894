// One site at several relays, against doubles of relays: what the tenant sees of it.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { SvcError } from '../../src/errors.ts'
import type { SuspendableSite } from '../../src/platform.ts'
import { publishOn } from '../../src/publish.ts'
import type { DebugEvent } from '../../src/site/debug-event.ts'
import type { PublishOptions } from '../../src/site/options.ts'
import type { Site, UrlsChange } from '../../src/site/site.ts'
import { CacheDouble } from '../support/cache-double.ts'
import { describeRelay } from '../support/relay-descriptors.ts'
import { type Answer, failing, RelayDouble, testPlatform } from '../support/relay-double.ts'

let relays: RelayDouble[]
let site: Site
let states: string[]
let changes: UrlsChange[]
let errors: SvcError[]
let page: SuspendableSite[]

beforeEach(async () => {
  relays = await Promise.all([RelayDouble.start(), RelayDouble.start(), RelayDouble.start()])
  for (const relay of relays) relay.overrides['/sdk/domain'] = () => data({ release_version: '0.1.0' })
  states = []
  changes = []
  errors = []
  page = []
})
afterEach(async () => {
  await site?.close()
  await Promise.all(relays.map((relay) => relay.crash()))
})

const data = (fields: object): Answer => [200, { ok: true, data: { protocol_version: '10', ...fields } }]
const siteAt = ({ port }: RelayDouble): string => `https://demo.relay.localhost:${port}`

/** Publishes at the first relay, unless `options` say otherwise. */
async function publish(options: Partial<PublishOptions>): Promise<Site> {
  const platform = { ...testPlatform(), followPage: (followed: SuspendableSite) => void page.push(followed) }
  return await publishOn(platform, {
    relay: relays[0]!.url,
    name: 'demo',
    fetch: () => new Response('hello'),
    onSite: (made) => {
      site = made
      made.addEventListener('statechange', () => states.push(made.state))
      made.addEventListener('urlschange', ({ detail }) => changes.push(detail))
      made.addEventListener('error', ({ error }) => errors.push(error))
    },
    ...options,
  })
}

const named = (): Partial<PublishOptions> => ({ relays: relays.slice(1).map(({ url }) => url) })

function knows(...known: RelayDouble[]): void {
  const list = known.map(({ url }) => describeRelay(url))
  relays[0]!.overrides['/discovery'] = () => data({ relays: list })
}

it('has a URL at each relay, and tells when one comes or goes', async () => {
  await publish(named())
  await expect.poll(() => site.urls).toEqual(relays.map(siteAt))
  expect(site.url).toBe(siteAt(relays[0]!))
  expect(changes.flatMap(({ added }) => added).toSorted()).toEqual(relays.map(siteAt).toSorted())
  changes = []
  await relays[1]!.crash()
  await expect.poll(() => changes).toEqual([{ added: [], removed: [siteAt(relays[1]!)] }])
  expect(site.urls).toEqual([relays[0]!, relays[2]!].map(siteAt))
  await relays[1]!.listen(relays[1]!.port)
  await expect.poll(() => changes.at(-1)).toEqual({ added: [siteAt(relays[1]!)], removed: [] })
  expect(states).toEqual(['online'])
})

it('is online while one relay has it, and keeps the URL of the first', async () => {
  await publish(named())
  await expect.poll(() => site.urls).toHaveLength(3)
  await Promise.all(relays.slice(0, 2).map((relay) => relay.crash()))
  await expect.poll(() => site.urls).toEqual([siteAt(relays[2]!)])
  expect([site.state, site.url]).toEqual(['online', siteAt(relays[0]!)])
  await relays[2]!.crash()
  await expect.poll(() => site.state).toBe('reconnecting')
  await Promise.all(relays.map((relay) => relay.listen(relay.port)))
  await expect.poll(() => site.urls).toHaveLength(3)
  await site.close()
  expect(states).toEqual(['online', 'reconnecting', 'online', 'closed'])
  expect(site.urls).toEqual([])
  for (const relay of relays) expect(relay.count('/sdk/unregister')).toBe(1)
})

it('is there with one identity, and its figures are those of all', async () => {
  const debug: DebugEvent[] = []
  await publish({ ...named(), debug: (event) => debug.push(event) })
  await expect.poll(() => site.urls).toHaveLength(3)
  expect(site.stats()).toMatchObject({ webSockets: 3, connections: { max: 3 * 1024, open: 0 } })
  const registered = debug.filter((event) => event.type === 'lease').map(({ relay }) => relay)
  expect(registered.toSorted()).toEqual(relays.map(({ url }) => url).toSorted())
  const [, address] = /demo-([\da-f]{40})/.exec(site.canonicalUrl)!
  expect(address).toHaveLength(40)
})

it('goes on without a relay that refuses it, and says so', async () => {
  relays[1]!.overrides['/sdk/register'] = failing(409, 'hostname_conflict')
  await publish(named())
  await expect.poll(() => site.urls).toEqual([relays[0]!, relays[2]!].map(siteAt))
  await expect.poll(() => errors.map(({ code }) => code)).toEqual(['hostname_conflict'])
})

it('has the URL of another relay while the first has given it none', async () => {
  relays[0]!.overrides['/sdk/register'] = failing(409, 'hostname_conflict')
  await publish(named())
  expect(site.url).toBe(site.urls[0])
})

it('says why no relay took it: the reason of the first', async () => {
  relays[0]!.overrides['/sdk/register'] = failing(409, 'hostname_conflict')
  for (const relay of relays.slice(1)) relay.overrides['/sdk/register'] = failing(403, 'ip_banned')
  await expect(publish(named())).rejects.toMatchObject({ code: 'hostname_conflict' })
  expect(site.state).toBe('closed')
})

it('is discovered to a relay of another, with the same identity, and stores no files there', async () => {
  knows(relays[1]!)
  new CacheDouble(relays[0]!)
  await publish({ discover: 2, cache: { files: { 'index.html': 'hello' } } })
  await expect.poll(() => site.urls).toEqual(relays.slice(0, 2).map(siteAt))
  await expect.poll(() => site.cache?.present).toBe(true)
  expect(relays[1]!.calls.filter((path) => path.startsWith('/sdk/cache'))).toEqual([])
  await site.cache!.remove()
  expect(site.cache!.present).toBe(false)
})

it('says that a relay names no others', async () => {
  relays[0]!.overrides['/discovery'] = failing(503, 'feature_unavailable')
  await publish({ discover: 1 })
  expect(site.state).toBe('online')
  await expect.poll(() => errors.map(({ code }) => code)).toEqual(['feature_unavailable'])
})

it('asks nobody for relays unless it is told to', async () => {
  await publish(named())
  await expect.poll(() => site.urls).toHaveLength(3)
  for (const relay of relays) expect(relay.count('/discovery')).toBe(0)
})

it('leaves with its page, and comes back with it', async () => {
  knows(relays[1]!, relays[2]!)
  await publish({ discover: 1 })
  await expect.poll(() => site.urls).toHaveLength(2)
  const before = [...site.urls]
  for (const followed of page) followed.suspend()
  expect([site.urls, site.state]).toEqual([[], 'reconnecting'])
  for (const followed of page) followed.resume()
  await expect.poll(() => site.urls).toEqual(before)
})

it('ends with its signal', async () => {
  const controller = new AbortController()
  await publish({ ...named(), signal: controller.signal })
  controller.abort()
  expect(site.state).toBe('closed')
  await expect(publish({ ...named(), signal: controller.signal })).rejects.toMatchObject({ code: 'aborted' })
})

it('loads its code when it is asked for', async () => {
  const loaded = vi.fn()
  vi.doMock('../../src/relays/publish-at-several.ts', async (original) => {
    loaded()
    return await original<object>()
  })
  vi.resetModules()
  const { publishOn } = await import('../../src/publish.ts')
  site = await publishOn(testPlatform(), { relay: relays[0]!.url, name: 'demo', fetch: () => new Response() })
  expect(loaded).not.toHaveBeenCalled()
})
