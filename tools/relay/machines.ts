// One relay on several machines, as far as one machine can show it: processes that share a Redis, with a load balancer in front.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '../network/free-port.ts'
import { type Haproxy, startHaproxy } from '../programs/haproxy.ts'
import { type Redis, startRedis } from '../programs/redis.ts'
import { type Machine, type ProcessOptions, startMachine } from './machine.ts'

export interface MachinesOptions extends ProcessOptions {
  count: number
  /** Settings of each machine, beside those that make it one of the relay's; a function gets its index. */
  env?: Record<string, string> | ((index: number) => Record<string, string>)
  /**
   * Redis that they share, which is not stopped with them.
   * @default a Redis of their own
   */
  redis?: Redis
  /**
   * The port at which clients find the relay.
   * @default a free port
   */
  port?: number
  /** Gives each machine a proxy to Redis, and one to it from other machines, that fail on demand. */
  faults?: boolean
  /** Milliseconds between two health checks of the balancer; see {@link startHaproxy}. */
  checkIntervalMs?: number
}

export interface Machines {
  /** The relay's URL: that of the balancer. */
  readonly url: string
  /** The CA, which all machines have. */
  readonly caFile: string
  /** `CLUSTER_SECRET` of all machines. */
  readonly secret: string
  readonly redis: Redis
  readonly balancer: Haproxy
  readonly machines: readonly Machine[]
  /** Ends everything, and removes its state. */
  stop(): Promise<void>
}

/** The host of the relay. */
const HOST = 'relay.localhost'

/** Starts one machine, which makes what they share, then the others, then the balancer. */
export async function startMachines({
  count,
  env = {},
  redis: given,
  port: asked,
  faults = false,
  checkIntervalMs,
  ...process
}: MachinesOptions): Promise<Machines> {
  const port = asked ?? (await freePort())
  const url = `https://${HOST}:${port}`
  const secret = randomBytes(32).toString('hex')
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-machines-'))
  const redis = given ?? (await startRedis())
  const machines: Machine[] = []
  let balancer: Haproxy | undefined
  const stop = async (): Promise<void> => {
    await balancer?.stop()
    await Promise.all(machines.map((machine) => machine.stop()))
    if (given === undefined) await redis.stop()
    await rm(directory, { recursive: true, force: true })
  }
  const start = async (index: number): Promise<void> => {
    const own = typeof env === 'function' ? env(index) : env
    machines[index] = await startMachine(index, { url, secret, redis, directory, process }, own, faults)
  }
  try {
    await start(0)
    const others = Array.from({ length: count - 1 }, (_, at) => start(at + 1))
    // All have started or failed before any is stopped.
    for (const one of await Promise.allSettled(others)) if (one.status === 'rejected') throw one.reason
    balancer = await startHaproxy({
      port,
      backends: machines,
      host: HOST,
      ...(checkIntervalMs && { checkIntervalMs }),
    })
  } catch (error) {
    await stop()
    throw error
  }
  return { url, caFile: machines[0]!.caFile, secret, redis, balancer, machines, stop }
}
