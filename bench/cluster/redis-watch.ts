// Counts the commands that machines send to their redis, and those that scripts run inside, by what Redis's MONITOR prints.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import type { Redis } from '../../tools/programs/redis.ts'

/** Milliseconds in which what was done is printed. */
const SETTLE_MS = 200
/** Commands of heartbeats, of the sweep that each causes, and of reads of the feed: they go by the clock, whatever the relay does. */
const BY_THE_CLOCK: readonly RegExp[] = [
  /^"xread"/i,
  /^"evalsha" .*:machines"/i,
  /^"evalsha" "\S+" "1" "\S+:leases"/i,
]
const LINE = /^\+[\d.]+ \[\d+ (\S+)\] (.*)$/

export interface Operations {
  /** Commands that machines sent. */
  sent: number
  /** Commands that scripts ran for them. */
  inside: number
}

/** @returns what `work` caused, without what goes by the clock */
export async function watchRedis(redis: Redis, work: () => Promise<unknown>): Promise<Operations> {
  const seen: Operations = { sent: 0, inside: 0 }
  // MONITOR lists a script first, and then the commands that the script runs.
  let counts = true
  const socket = await monitor(redis, (client, command) => {
    if (client !== 'lua') counts = !BY_THE_CLOCK.some((kind) => kind.test(command))
    if (counts) seen[client === 'lua' ? 'inside' : 'sent'] += 1
  })
  await work()
  await pause(SETTLE_MS)
  socket.destroy()
  return seen
}

async function monitor(
  { port, password }: Redis,
  onCommand: (client: string, command: string) => void,
): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`AUTH ${password}\r\nMONITOR\r\n`)
  let replies = 0
  const ready = Promise.withResolvers<void>()
  createInterface(socket).on('line', (line) => {
    const [, client, command] = LINE.exec(line) ?? []
    if (client !== undefined && command !== undefined) onCommand(client, command)
    else if (++replies === 2) ready.resolve()
  })
  await Promise.race([
    ready.promise,
    once(socket, 'close').then(() => ready.reject(new Error('Redis closed'))),
  ])
  return socket
}
