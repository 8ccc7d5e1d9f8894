// Publishes many sites in one process when its parent says how many, tells how long it took, and ends with its parent.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { publish } from '@svc/sdk-node'
import { cpuSeconds, wallSeconds } from '../lib/clock.ts'

const AT_ONCE = 16

export interface Published {
  seconds: number
  cpuSeconds: number
}

const [, , url, ca] = process.argv
process.on('disconnect', () => process.exit())
const [count] = (await once(process, 'message')) as [number]
const identity = new Uint8Array(randomBytes(32))
let next = 0

async function publishOneByOne(): Promise<void> {
  while (next < count) {
    const name = `site-${process.pid}-${next++}`
    await publish({ relay: url!, name, ca, identity, fetch: () => new Response('hello') })
  }
}

let seconds = 0
const processor = await cpuSeconds(async () => {
  seconds = await wallSeconds(() => Promise.all(Array.from({ length: AT_ONCE }, publishOneByOne)))
})
process.send!({ seconds, cpuSeconds: processor } satisfies Published)
