// A network that falls silent without closing anything: how long a site believes in it, in Node and in a hidden page.
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { publish, type Site } from '@svc/sdk-node'
import { type Entry, limited, missing } from '../lib/entry.ts'
import { type BenchPage, INSTALL_CHROMIUM, openPage } from '../lib/page.ts'
import { throttleTimers } from './hidden-page.ts'
import { BenchRelay } from './relay.ts'
import { StallProxy } from './stall-proxy.ts'

const VISIBLE_MAX_S = 20
const HIDDEN_MAX_S = 40
/** A site that has not noticed by then counts with this. */
const GIVE_UP_S = 70
/** Between two sites, so that their timers do not agree. */
const STAGGER_MS = 700
const QUESTION = { unit: 's, worst', better: 'less' } as const
const VISIBLE = { ...QUESTION, name: 'silent network noticed, timers on time' }
const HIDDEN = { ...QUESTION, name: 'silent network noticed, page hidden for long' }

/** All sites wait at the same time, for the same silence. */
export async function* silence(sites: number): AsyncGenerator<Entry> {
  const proxy = await StallProxy.listen()
  const relay = await BenchRelay.start({ publicPort: proxy.port })
  proxy.target = relay.port
  const ca = await relay.ca()
  const opened = await openPage(path.join(import.meta.dirname, 'hidden-page.ts'), {
    caFile: relay.caFile,
    init: throttleTimers,
  })
  const inNode: Site[] = []
  for (let i = 0; i < sites; i++) {
    const identity = new Uint8Array(randomBytes(32))
    inNode.push(
      await publish({ relay: relay.url, name: `node-${i}`, ca, identity, fetch: () => new Response() }),
    )
    await opened?.page.evaluate(([url, name]) => globalThis.publishHidden(url, name), [
      relay.url,
      `page-${i}`,
    ] as const)
    await pause(STAGGER_MS)
  }
  const noticed = inNode.map(leftOnline)
  const stalledAt = Date.now()
  proxy.stall()
  const giveUp = pause(GIVE_UP_S * 1000).then(() => Date.now())
  const visible = await Promise.all(noticed.map((one) => Promise.race([one, giveUp])))
  yield limited(VISIBLE, Math.max(...visible.map((at) => (at - stalledAt) / 1000)), VISIBLE_MAX_S)
  if (opened === undefined) yield missing({ ...HIDDEN, peer: 'limit' }, null, INSTALL_CHROMIUM)
  else yield limited(HIDDEN, await hiddenSeconds(opened, stalledAt), HIDDEN_MAX_S)

  await relay.stop()
  proxy.close()
  await opened?.close()
  await Promise.all(inNode.map((site) => site.close()))
}

/** @returns when, in milliseconds of the clock */
function leftOnline(site: Site): Promise<number> {
  return new Promise((resolve) => {
    site.addEventListener('statechange', () => {
      if (site.state !== 'online') resolve(Date.now())
    })
  })
}

async function hiddenSeconds({ page }: BenchPage, stalledAt: number): Promise<number> {
  for (;;) {
    const times = await page.evaluate(() => globalThis.hiddenSites.map(({ noticedAt }) => noticedAt))
    const seconds = times.map((at) => ((at ?? Date.now()) - stalledAt) / 1000)
    if (!times.includes(null) || Math.max(...seconds) > GIVE_UP_S) return Math.max(...seconds)
    await pause(500)
  }
}
