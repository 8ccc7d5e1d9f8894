// Files of a folder at a real relay with a static cache: stored, followed, kept when the site closes, and removed.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { curl } from '../../../tools/programs/curl.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { type CacheOptions, openFolder, publish, type Site, type SvcError } from '../../src/index.ts'
import { startTestRelay } from '../support/relay.ts'

const MB = 1_000_000
const WAIT = { timeout: 60_000 }
let folder: string
let sites: Site[]
let errors: SvcError[]
let number = 0

const relay = useStarted(() => startTestRelay({ STATIC_CACHE_ENABLED: 'true' }))
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'svc-cached-'))
  await writeFile(path.join(folder, 'index.html'), '<h1>hello</h1>')
  sites = []
  errors = []
  number += 1
})
afterEach(async () => {
  await Promise.all(sites.map((site) => site.close()))
  await rm(folder, { recursive: true })
})

async function publishFolder(options: Partial<CacheOptions> = {}, origin = relay): Promise<Site> {
  const files = await openFolder(folder)
  return publish({
    relay: origin.origin,
    ca: origin.ca,
    name: `site-${number}`,
    identity: new Uint8Array(32).fill(number),
    fetch: () => new Response('live'),
    cache: { files, ttl: 600, ...options },
    onSite: (site) => {
      sites.push(site)
      site.addEventListener('error', ({ error }) => errors.push(error))
    },
  })
}

async function stored(site: Site): Promise<void> {
  await vi.waitFor(() => expect(site.cache?.present).toBe(true), WAIT)
}

const get = (url: string, ...args: string[]): Promise<Buffer> => curl(relay.caFile, ...args, url)
const status = async (url: string): Promise<string> =>
  String(await get(url, '-o', '/dev/null', '-w', '%{http_code}'))
const text = async (url: string): Promise<string> => String(await get(url))

it('are there after the site closed, without what is hidden or outside', async () => {
  await mkdir(path.join(folder, 'assets'))
  await mkdir(path.join(folder, '.git'))
  await writeFile(path.join(folder, 'assets/main.js'), 'run()')
  await writeFile(path.join(folder, '.git/config.js'), 'secret')
  await symlink('/etc/hostname', path.join(folder, 'outside.txt'))
  await symlink('.git', path.join(folder, 'repository'))
  const site = await publishFolder()
  await stored(site)
  expect(Date.parse(site.cache!.expires_at!)).toBeGreaterThan(Date.now())
  expect(site.cacheLimits).toEqual({ maxExposureBytes: 64 * 1024 * 1024, maxObjectBytes: 10 * 1024 * 1024 })
  expect(await text(`${site.url}/`)).toBe('live')
  await site.close()
  expect(await text(`${site.canonicalUrl}/`)).toBe('<h1>hello</h1>')
  expect(await text(`${site.canonicalUrl}/assets/main.js`)).toBe('run()')
  for (const hidden of ['.git/config.js', 'outside.txt', 'repository/config.js'])
    expect(await status(`${site.canonicalUrl}/${hidden}`)).toMatch(/^(404|503)$/)
  expect(errors).toEqual([])
})

wholeOnly(it, 'depth')('are those of the last look, up to the largest that the relay takes', async () => {
  const large = randomBytes(10 * 1024 * 1024)
  for (const name of ['a', 'b', 'c', 'd', 'e']) await writeFile(path.join(folder, `${name}.bin`), large)
  const site = await publishFolder()
  await stored(site)
  expect((await get(`${site.canonicalUrl}/e.bin`)).equals(large)).toBe(true)
  await rm(path.join(folder, 'b.bin'))
  await writeFile(path.join(folder, 'e.bin'), 'small')
  await site.cache?.refresh()
  expect(site.cache?.present).toBe(true)
  expect(await text(`${site.canonicalUrl}/e.bin`)).toBe('small')
  // The live site answers a request for a file that is not stored any more.
  expect(await text(`${site.canonicalUrl}/b.bin`)).toBe('live')
  expect(errors).toEqual([])
})

it('leave unknown paths to the live site with `fallback: false`, and to nobody while it is away', async () => {
  const before = await publishFolder()
  await stored(before)
  expect(await text(`${before.canonicalUrl}/api/users`)).toBe('<h1>hello</h1>')
  await before.close()
  const site = await publishFolder({ fallback: false })
  await stored(site)
  expect(await text(`${site.canonicalUrl}/api/users`)).toBe('live')
  expect(await text(`${site.canonicalUrl}/`)).toBe('<h1>hello</h1>')
  // The snapshot is the one that was stored, and is not uploaded again and again.
  await site.cache?.refresh()
  expect(site.cache?.present).toBe(true)
  await site.close()
  expect(await status(`${site.canonicalUrl}/api/users`)).toBe('404')
  expect(await text(`${site.canonicalUrl}/`)).toBe('<h1>hello</h1>')
  expect(errors).toEqual([])
})

it('of which one is too large are told of by name, before any is uploaded', async () => {
  await writeFile(path.join(folder, 'large.bin'), Buffer.alloc(11 * MB))
  const site = await publishFolder()
  await vi.waitFor(() => expect(errors).toHaveLength(1), WAIT)
  expect(errors[0]).toMatchObject({
    code: 'cache_files_invalid',
    message: /^"large\.bin" has 11000000 bytes/,
  })
  expect(await text(`${site.canonicalUrl}/`)).toBe('live')
})

it('go when the site removes them, and when it is published without them', async () => {
  const site = await publishFolder()
  await stored(site)
  await site.cache?.remove()
  expect(site.cache).toMatchObject({ present: false, expires_at: undefined })
  expect(await text(`${site.canonicalUrl}/`)).toBe('live')
  await site.cache?.refresh()
  expect(await text(`${site.canonicalUrl}/`)).toBe('<h1>hello</h1>')
  await site.close()
  const next = await publish({
    relay: relay.origin,
    ca: relay.ca,
    name: `site-${number}`,
    identity: new Uint8Array(32).fill(number),
    fetch: () => new Response('without'),
  })
  sites.push(next)
  expect(await text(`${next.canonicalUrl}/`)).toBe('without')
})

wholeOnly(it, 'faults')('are stored again at a relay that was killed and lost the lease', async () => {
  const site = await publishFolder()
  await stored(site)
  await relay.kill()
  await vi.waitFor(() => expect(site.state).toBe('reconnecting'), WAIT)
  await relay.start()
  await vi.waitFor(() => expect(site.state).toBe('online'), WAIT)
  await vi.waitFor(async () => expect(await text(`${site.canonicalUrl}/`)).toBe('<h1>hello</h1>'), WAIT)
  await site.cache?.refresh()
  expect(site.cache?.present).toBe(true)
})

wholeOnly(it, 'clock')(
  'are not stored at a relay without a static cache, and the site is there',
  async () => {
    const other = await startTestRelay()
    const site = await publishFolder({}, other)
    const [event] = await once(site, 'error')
    expect(event.error).toMatchObject({ code: 'cache_unavailable', message: /has no static cache/ })
    expect(site).toMatchObject({ state: 'online', cacheLimits: undefined })
    expect(String(await curl(other.caFile, `${site.canonicalUrl}/`))).toBe('live')
    await site.close()
    await other.close()
  },
)
