// The family `distance`: what users have who are far from the relay, through a proxy that delays and loses.
import path from 'node:path'
import { BenchRelay, visit } from '../carrier/relay.ts'
import { galleryMs } from '../http/gallery.ts'
import { alternate, median } from '../lib/alternate.ts'
import { Chromium } from '../lib/chromium.ts'
import { compared, type Entry, limited, missing } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { INSTALL_CHROMIUM, servePage } from '../lib/page.ts'
import { DelayProxy } from './delay-proxy.ts'

/** The distance at which round trips are counted: far enough that the work between them is little. */
const COUNTED = { roundTripMs: 100, loss: 0 }
/** Round trips from a cold page to its first answer. */
const ROUND_TRIPS_MAX = 6
const NEAR = { roundTripMs: 20, loss: 0 }
/** The factor by which HTTP/2 must show a page of images sooner at 20 ms. */
const GALLERY_GAIN = 2
const VISIT_TIMEOUT_MS = 60_000

export async function* distance({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  let port = 0
  const proxy = await DelayProxy.start(() => port)
  const relay = await BenchRelay.start({ publicPort: proxy.port })
  port = relay.port
  const browser = await Chromium.launch(relay.caFile)
  if (browser === undefined) {
    yield missing(
      { name: 'a page far from its relay', unit: 'round trips', better: 'less', peer: 'limit' },
      null,
      INSTALL_CHROMIUM,
    )
  } else {
    const server = await servePage(path.join(import.meta.dirname, 'page.ts'))
    const far = { proxy, relay, browser, pageUrl: server.url, runs }
    yield* coldPage(far)
    yield* gallery(far)
    server.close()
    await browser.close()
  }
  await relay.stop()
  proxy.close()
}

interface Far {
  proxy: DelayProxy
  relay: BenchRelay
  browser: Chromium
  pageUrl: string
  runs: number
}

/** Counts round trips: each is as much more time as the distance adds to it. */
async function* coldPage({ proxy, relay, browser, pageUrl, runs }: Far): AsyncGenerator<Entry> {
  const ca = await relay.ca()
  const times = { online: [] as number[], answer: [] as number[] }
  for (let run = 0; run <= runs; run++) {
    const near = await once({ roundTripMs: 0, loss: 0 }, `near-${run}`)
    const far = await once(COUNTED, `far-${run}`)
    if (run === 0) continue
    times.online.push((far.online - near.online) / COUNTED.roundTripMs)
    times.answer.push((far.answer - near.answer) / COUNTED.roundTripMs)
  }
  const question = { unit: 'round trips', better: 'less' } as const
  yield limited(
    { ...question, name: 'publish() in a cold page, to online' },
    median(times.online),
    ROUND_TRIPS_MAX,
  )
  yield limited(
    { ...question, name: 'publish() in a cold page, to the first answer' },
    median(times.answer),
    ROUND_TRIPS_MAX,
  )

  async function once(distance: typeof COUNTED, name: string): Promise<{ online: number; answer: number }> {
    const tab = await browser.open(pageUrl)
    proxy.distance = distance
    const start = performance.now()
    const { url } = await tab.evaluate(
      ([relay, name]) => globalThis.distanceBench.online(relay, name, true),
      [relay.url, name] as const,
    )
    const online = performance.now() - start
    await visit(url, ca, VISIT_TIMEOUT_MS)
    const answer = performance.now() - start
    proxy.distance = { roundTripMs: 0, loss: 0 }
    await tab.evaluate(() => globalThis.distanceBench.close(), undefined)
    await tab.close()
    return { online, answer }
  }
}

async function* gallery({ proxy, relay, browser, pageUrl, runs }: Far): AsyncGenerator<Entry> {
  const tabs = await Promise.all([browser.open(pageUrl), browser.open(pageUrl)])
  const urls = await Promise.all(
    tabs.map((tab, at) =>
      tab.evaluate(([relay, name, http2]) => globalThis.distanceBench.online(relay, name, http2), [
        relay.url,
        `gallery-${at}`,
        at === 0,
      ] as const),
    ),
  )
  proxy.distance = NEAR
  const { ours, theirs } = await alternate(runs, {
    ours: () => galleryMs(browser, urls[0]!.url),
    theirs: () => galleryMs(browser, urls[1]!.url),
  })
  yield compared(
    {
      name: `a page with 100 images over HTTP/2, ${NEAR.roundTripMs} ms away`,
      unit: 'ms',
      better: 'less',
      peer: 'the same over HTTP/1.1',
      target: GALLERY_GAIN,
    },
    ours,
    theirs,
  )
}
