// A relay that is killed under a TCP service: how long until new visitors are served again.
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { expose } from '@svc/sdk-node'
import { BenchRelay } from '../carrier/relay.ts'
import { median } from '../lib/alternate.ts'
import { type Entry, limited } from '../lib/entry.ts'
import { dedicatedPorts } from './tunnels.ts'
import { crowd } from './visitors.ts'
import type { Service } from './work.ts'

const SERVED_MAX_S = 2
const ATTEMPT_PAUSE_MS = 20

export async function* restart(service: Service, runs: number): AsyncGenerator<Entry> {
  const relay = await BenchRelay.start({ env: await dedicatedPorts() })
  const seconds: number[] = []
  for (let run = 0; run < runs; run++) {
    // one that just came online has its shortest pauses between attempts still before it, as one that is stable has
    const identity = Uint8Array.from(randomBytes(32))
    const options = {
      relay: relay.url,
      ca: await relay.ca(),
      name: `restart-${run}`,
      identity,
      tcp: service.tcp,
    }
    const exposure = await expose(options)
    const port = Number(exposure.sites[0]!.tcpAddress!.split(':').at(-1))
    await relay.kill()
    await relay.run()
    const listening = performance.now()
    await untilServed(port)
    seconds.push((performance.now() - listening) / 1000)
    await exposure.close()
  }
  await relay.stop()
  yield limited(
    { name: 'killed relay listens again to first visitor', unit: 's, p50', better: 'less' },
    median(seconds),
    SERVED_MAX_S,
  )
}

async function untilServed(port: number): Promise<void> {
  for (;;) {
    const leave = await crowd({ port }, 1).catch(() => undefined)
    if (leave) return leave()
    await pause(ATTEMPT_PAUSE_MS)
  }
}
