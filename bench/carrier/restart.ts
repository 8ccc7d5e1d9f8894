// A relay that restarts under a site of sdk-node: how long until a visitor gets an answer again.
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { publish } from '@svc/sdk-node'
import { median } from '../lib/alternate.ts'
import { type Entry, limited } from '../lib/entry.ts'
import { BenchRelay, visit } from './relay.ts'

/** Median, in seconds. */
const ANSWERED_MAX_S = 1.5
const ATTEMPT_TIMEOUT_MS = 2_000
const ATTEMPT_PAUSE_MS = 20
const GIVE_UP_MS = 60_000

export async function* restart(runs: number): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start()
  const ca = await relay.ca()
  const times: { sinceListening: number; sinceStop: number }[] = []
  for (let run = 0; run < runs; run++) {
    // A site that just came online has its shortest pauses between attempts still before it, as one that is stable has.
    const identity = new Uint8Array(randomBytes(32))
    const site = await publish({
      relay: relay.url,
      name: 'restart',
      ca,
      identity,
      fetch: () => new Response('up'),
    })
    await untilAnswered(site.url, ca)
    const stopped = performance.now()
    await relay.halt()
    await relay.run()
    const listening = performance.now()
    await untilAnswered(site.url, ca)
    const answered = performance.now()
    times.push({ sinceListening: (answered - listening) / 1000, sinceStop: (answered - stopped) / 1000 })
    await site.close()
  }
  await relay.stop()
  const question = { unit: 's, p50', better: 'less' } as const
  yield limited(
    { ...question, name: 'relay listens again to first public answer' },
    median(times.map((time) => time.sinceListening)),
    ANSWERED_MAX_S,
  )
  yield limited(
    { ...question, name: 'relay told to restart to first public answer' },
    median(times.map((time) => time.sinceStop)),
    ANSWERED_MAX_S,
  )
}

async function untilAnswered(url: string, ca: string): Promise<void> {
  const start = performance.now()
  for (;;) {
    const status = await visit(url, ca, ATTEMPT_TIMEOUT_MS).catch(() => undefined)
    if (status === 200) return
    if (performance.now() - start > GIVE_UP_MS) throw new Error(`no answer from ${url} after a restart`)
    await pause(ATTEMPT_PAUSE_MS)
  }
}
