// Every carrier against a real relay: ready sessions, visitors, the relay's end and return, refusals, and a lease that two fight for.

import { createHash, randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { describeVariants } from '../../../tools/describe-variants.ts'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { CARRIERS } from '../../src/carrier/kinds.ts'
import { CONTEST_LOSSES_MAX } from '../../src/carrier/lease-contest.ts'
import { type NodePublishOptions, publish, type Site, type SvcError } from '../../src/index.ts'
import { sha256Of, text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'

/** Many times what the buffers on the way hold, so that some are under way when the first has come. */
const CONTENT_BYTES: number = atDepth(8, 2) * 1024 * 1024
const DOWNLOADS: number = atDepth(12, 8)

const relay = useStarted(startTestRelay)

const sites: Site[] = []
afterEach(() => Promise.all(sites.splice(0).map((site) => site.close())))

/** @returns the number of a site's ready sessions that the relay reports */
async function ready(site: Site): Promise<number | undefined> {
  const { data } = await relay.call('/api/state')
  const { leases } = data! as { leases: { hostname: string; ready: number }[] }
  return leases.find(({ hostname }) => hostname === new URL(site.url).hostname)?.ready
}

/** Bans both addresses at which a site of this machine may come: a connection that is kept may be of another one than the next. */
async function banThisMachine(isBanned: boolean): Promise<void> {
  for (const ip of ['127.0.0.1', '::1']) await relay.call('/api/policy/ips', { ip, is_banned: isBanned })
}

describeVariants('by the carrier %s', CARRIERS, (carrier) => {
  const publishBy = async (options: Partial<NodePublishOptions> = {}): Promise<Site> => {
    const site = await publish({
      relay: relay.origin,
      ca: relay.ca,
      name: `n${randomBytes(6).toString('hex')}`,
      identity: Uint8Array.from(randomBytes(32)),
      fetch: () => new Response('hello'),
      listed: true,
      carrier,
      ...options,
    })
    sites.push(site)
    return site
  }

  describe('the pool', () => {
    it('has two sessions ready, follows demand, and opens the next the moment one is claimed', async () => {
      const finish: (() => void)[] = []
      const site = await publishBy({
        fetch: () => new Promise((resolve) => finish.push(() => resolve(new Response('late')))),
      })
      await expect.poll(() => ready(site)).toBe(2)
      const visits: Promise<string>[] = []
      const come = async (visitors: number): Promise<void> => {
        for (let at = 0; at < visitors; at++) visits.push(visit(relay, site.url).then(text))
        await expect.poll(() => finish.length).toBe(visits.length)
      }
      await come(12)
      expect(site.stats()).toMatchObject({ openStreams: 12, webSockets: carrier === 'websocket' ? 1 : 0 })
      // More are kept ready once a visitor has taken the last one; on a loaded machine visitors may come one by one.
      await expect
        .poll(async () => {
          const count = (await ready(site))!
          if (count <= 2) await come(12)
          return count
        })
        .toBeGreaterThan(2)
      for (const answer of finish) answer()
      expect(new Set(await Promise.all(visits))).toEqual(new Set(['late']))
      await expect.poll(() => site.stats().openStreams).toBe(0)
    })

    it('counts what passes, and knows the round trip', async () => {
      const site = await publishBy({ fetch: () => new Response(new Uint8Array(100_000)) })
      await text(await visit(relay, site.url))
      // What OpenSSL wrote to a session's socket is counted when that is read again, or closes.
      await expect.poll(() => site.stats().bytesOut).toBeGreaterThan(100_000)
      expect(site.stats().bytesIn).toBeGreaterThan(200)
      expect(site.stats().rttMs).toBeGreaterThan(0)
    })

    it('leaves no session behind when the site closes', async () => {
      const site = await publishBy()
      await expect.poll(() => ready(site)).toBe(2)
      await site.close()
      expect(await ready(site)).toBeUndefined()
    })
  })

  wholeOnly(it, 'faults')(
    'a relay that is killed under load is found again, and the same URL lives again: no wrong byte, before and after',
    async () => {
      const content = randomBytes(CONTENT_BYTES)
      const sha256 = createHash('sha256').update(content).digest('hex')
      const site = await publishBy({ fetch: () => new Response(content) })
      const { url } = site
      const download = async (): Promise<string> => (await sha256Of(await visit(relay, url))).sha256
      const downloads = (): Promise<string>[] => Array.from({ length: DOWNLOADS }, () => download())
      const before = downloads()
      const outcomes = Promise.allSettled(before)
      await Promise.race(before)
      await relay.kill()
      // each either came whole, or broke visibly
      for (const outcome of await outcomes)
        if (outcome.status === 'fulfilled') expect(outcome.value).toBe(sha256)
      await expect.poll(() => site.state).toBe('reconnecting')
      await relay.start()
      await expect.poll(() => site.state).toBe('online')
      expect(site.url).toBe(url)
      expect(new Set(await Promise.all(downloads()))).toEqual(new Set([sha256]))
    },
  )

  describe('refusals', () => {
    it('of a banned address end the site', async () => {
      const site = await publishBy()
      const errors: SvcError[] = []
      site.addEventListener('error', ({ error }) => errors.push(error))
      await banThisMachine(true)
      onTestFinished(() => banThisMachine(false))
      await expect.poll(() => site.state).toBe('closed')
      expect(errors.map(({ code }) => code)).toContain('ip_banned')
    })

    it('of an untrusted relay say so (protocol §2.1.2)', async () => {
      await expect(publishBy({ ca: CERTIFICATE_PEM })).rejects.toMatchObject({ code: 'relay_unreachable' })
    })
  })

  it('of two with one identity and one name, the one that came first leaves', async () => {
    const shared = { name: `c-${carrier}`, identity: Uint8Array.from(randomBytes(32)) }
    const first = await publishBy(shared)
    const errors: SvcError[] = []
    first.addEventListener('error', ({ error }) => errors.push(error))
    const second = await publishBy(shared)
    await expect.poll(() => first.state).toBe('closed')
    expect(errors.at(-1)?.code).toBe('lease_replaced')
    expect(errors.filter(({ code }) => code === 'stream_rejected').length).toBeLessThan(CONTEST_LOSSES_MAX)
    await expect.poll(() => second.state).toBe('online')
    expect(await text(await visit(relay, second.url))).toBe('hello')
  })
})
