// A real relay whose operator approves by hand, or bans: no site says that it is online while its visitors are turned away.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KEEPALIVE_INTERVAL_MS } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { failing, RelayDouble } from '../../../sdk-core/test/support/relay-double.ts'
import { describeVariants } from '../../../tools/describe-variants.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { expose, type NodePublishOptions, publish, type Site } from '../../src/index.ts'
import { text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'
import { type Run, reported, runHere } from '../support/svc.ts'

/** Seconds until a renewal of the lease may show a change, which is longer than a test takes. */
const TTL_S = 600
/** Before the next keepalive: the relay itself has ended the sessions. */
const AT_ONCE = { timeout: KEEPALIVE_INTERVAL_MS - 1_000, interval: 10 }

const relay = useStarted(startTestRelay)

const sites: Site[] = []
afterEach(async () => {
  await Promise.all(sites.splice(0).map((site) => site.close()))
  await approve('auto')
})

async function approve(mode: 'auto' | 'manual'): Promise<void> {
  const { data } = await relay.call('/api/policy')
  await relay.call('/api/policy', { ...(data! as object), approval_mode: mode })
}

async function decide(site: { url: string }, decision: Record<string, boolean>): Promise<void> {
  const { data } = await relay.call('/api/policy/state')
  const { leases } = data! as { leases: { hostname: string; identity_key: string }[] }
  const { hostname } = new URL(site.url)
  const { identity_key } = leases.find((lease) => lease.hostname === hostname)!
  await relay.call('/api/policy/leases', { identity_key, ...decision })
}

interface Begun {
  site: Site
  online: Promise<Site>
}

async function begin(carrier: NodePublishOptions['carrier']): Promise<Begun> {
  const { promise, resolve } = Promise.withResolvers<Site>()
  const online = publish({
    relay: relay.origin,
    ca: relay.ca,
    name: `w${randomBytes(6).toString('hex')}`,
    identity: Uint8Array.from(randomBytes(32)),
    fetch: () => new Response('hello'),
    carrier,
    ttl: TTL_S,
    onSite: resolve,
  })
  online.catch(() => {})
  const site = await promise
  sites.push(site)
  return { site, online }
}

const isLetIn = (site: Site): Promise<boolean> =>
  visit(relay, site.url)
    .then(text, () => 'turned away')
    .then((answer) => answer === 'hello')

describeVariants('by %s', ['native', 'websocket'] as const, (carrier) => {
  it('a site waits for an approval, says so, and is online when it has it', async () => {
    await approve('manual')
    const { site, online } = await begin(carrier)
    await expect.poll(() => site.waiting?.reason).toBe('approval')
    expect(await isLetIn(site)).toBe(false)
    await decide(site, { is_approved: true })
    await online
    expect(site.state).toBe('online')
    expect(await isLetIn(site)).toBe(true)
  })

  it('a site whose approval is lost says so at once', async () => {
    const { site, online } = await begin(carrier)
    await online
    await approve('manual')
    await expect.poll(() => site.state, AT_ONCE).not.toBe('online')
    await expect.poll(() => site.waiting?.reason).toBe('approval')
    expect(await isLetIn(site)).toBe(false)
    await decide(site, { is_approved: true })
    await expect.poll(() => site.state).toBe('online')
    expect(await isLetIn(site)).toBe(true)
  })

  it('a site that is banned is offline at once, says why, and comes back when the ban is lifted', async () => {
    const { site, online } = await begin(carrier)
    await online
    const errors: string[] = []
    site.addEventListener('error', ({ error }) => errors.push(error.code))
    await decide(site, { is_banned: true })
    await expect.poll(() => site.state, AT_ONCE).toBe('reconnecting')
    await expect.poll(() => errors).toContain('lease_rejected')
    expect(site.state).toBe('reconnecting')
    await decide(site, { is_banned: false })
    await expect.poll(() => site.state).toBe('online')
    expect(await isLetIn(site)).toBe(true)
  })
})

wholeOnly(describe, 'clock')('expose at several relays', () => {
  it('resolves when one is online and another makes it wait, and takes that one along', async () => {
    const other = await startTestRelay()
    await approve('manual')
    const begun: string[] = []
    const exposure = await expose({
      relays: [relay.origin, other.origin],
      ca: `${relay.ca}\n${other.ca}`,
      identity: Uint8Array.from(randomBytes(32)),
      name: 'several',
      fetch: () => new Response('hello'),
      onSite: (site, relay) => begun.push(`${site.state} ${relay}`),
    })
    expect(begun).toEqual([`connecting ${relay.origin}`, `connecting ${other.origin}`])
    expect(exposure.failures).toEqual([])
    expect(exposure.sites.map(({ waiting, state }) => waiting?.reason ?? state)).toEqual([
      'approval',
      'online',
    ])
    await decide(exposure.sites[0]!, { is_approved: true })
    await expect.poll(() => exposure.sites[0]!.state).toBe('online')
    await exposure.close()
    await other.close()
  })
})

describe('svc', () => {
  let home: string
  const running: Run[] = []
  const target = createServer((_, response) => response.end('hello'))
  beforeAll(async () => {
    await once(target.listen(0, '127.0.0.1'), 'listening')
    home = await mkdtemp(join(tmpdir(), 'svc-waiting-'))
  })
  afterAll(async () => {
    for (const run of running.splice(0)) await run.stop()
    target.close()
    await rm(home, { recursive: true })
  })
  const svc = (...args: string[]): Run => {
    // Commands of one process would share the socket that bears its id.
    const { port } = target.address() as AddressInfo
    const run = runHere(join(home, `${running.length}`), ['expose', `127.0.0.1:${port}`, ...args])
    running.push(run)
    return run
  }

  it.each([[[]], [['--json']]])(
    'waits for an approval in a line, is online in another: %j',
    async (options) => {
      await approve('manual')
      const name = `j${randomBytes(4).toString('hex')}`
      const run = svc('--name', name, '--relay', relay.origin, '--ca', relay.caFile, ...options)
      const url = `https://${name}.relay.localhost:${relay.port}`
      const isJson = options.length > 0
      await expect
        .poll(() => run.out)
        .toEqual([
          isJson
            ? JSON.stringify({ event: 'waiting', relay: relay.origin, reason: 'approval', tunnel: name })
            : `${relay.origin}: waiting for the approval of the relay's operator`,
        ])
      await decide({ url }, { is_approved: true })
      await expect.poll(() => run.out.length).toBe(2)
      expect(run.out[1]).toContain(url)
      run.interrupt()
      expect(await run.ended).toBe(0)
      expect(run.err).toEqual([])
    },
  )

  it('says until when a relay asked to wait, and what ends that is one line and its exit code', async () => {
    const double = await RelayDouble.start()
    const ca = join(home, 'double.pem')
    await writeFile(ca, CERTIFICATE_PEM)
    const at = ['--relay', double.url, '--ca', ca, '--name', 'demo']
    double.overrides['/sdk/register'] = failing(429, 'rate_limited', { 'Retry-After': '2' })
    const [machine, person] = [svc(...at, '--json'), svc(...at)]
    const { until, ...report } = await reported(machine, 'waiting')
    expect(report).toEqual({ event: 'waiting', tunnel: 'demo', relay: double.url, reason: 'rate_limited' })
    expect(Date.parse(until!) - Date.now()).toBeLessThanOrEqual(2_000)
    await expect.poll(() => person.out).toHaveLength(1)
    expect(person.out[0]).toMatch(/^https:\S+: waiting, as the relay asked, until \d\d:\d\d:\d\d$/)
    double.overrides['/sdk/register'] = failing(409, 'hostname_conflict')
    expect([await machine.ended, await person.ended]).toEqual([4, 4])
    expect(person.err).toEqual([expect.stringContaining('the name belongs to somebody else')])
    await double.crash()
  })
})
