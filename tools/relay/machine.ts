// One of the machines of a relay: a process with a state directory and ports of its own, which can be killed and started again.
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { FaultProxy } from '../network/fault-proxy.ts'
import { freePort } from '../network/free-port.ts'
import { BALANCER_ADDRESS } from '../programs/haproxy.ts'
import type { Redis } from '../programs/redis.ts'
import { isFatal } from '../programs/server-process.ts'
import { type DirectCall, directCall } from './direct-client.ts'
import {
  BUDGETS_OF_MANY,
  type LogLine,
  parseLogLine,
  type RelayOptions,
  type RelayProcess,
  startRelay,
  WITHOUT_OVERLOAD,
} from './process.ts'
import { copyAuthority } from './test-relay.ts'

/** How all processes of a relay on several machines are started. */
export type ProcessOptions = Pick<RelayOptions, 'program' | 'cwd' | 'execArgv' | 'startTimeoutMs' | 'through'>

/** What the machines of one relay have in common. */
export interface Shared {
  url: string
  secret: string
  redis: Redis
  /** The directory that holds the state directories. */
  directory: string
  process: ProcessOptions
}

/** Proxies that fail on demand. */
interface MachineFaults {
  /** The machine's way to Redis. */
  redis: FaultProxy
  /** The way of all other machines to this one. */
  link: FaultProxy
}

export interface Machine {
  /** From 0. */
  readonly index: number
  /** The name that the balancer has for it. */
  readonly name: string
  /** The port at which it listens for visitors and sites. */
  readonly port: number
  /** `127.0.0.1:PORT`: its `CLUSTER_ADDR`. */
  readonly addr: string
  /** The process number; undefined while it does not run. */
  readonly pid: number | undefined
  /** State directory. */
  readonly directory: string
  /** The CA, in its state directory. */
  readonly caFile: string
  /** The lines that its processes logged, one after the other. */
  readonly log: readonly LogLine[]
  /** Undefined unless they were asked for. */
  readonly faults: MachineFaults | undefined
  /** Settles when its present process has ended. */
  readonly ended: Promise<void>
  /** The exit code of its last process; null while that runs, and when a signal ended it. */
  exitCode(): number | null
  /** Asks it past the balancer. */
  call: DirectCall
  /** Sends the signal. Resolves when the process has ended, at once when the signal does not end it (`SIGSTOP`, `SIGHUP`). */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Starts it again with its state and ports, after killing the process that still runs. @param env replaces settings from now on */
  restart(env?: Record<string, string>): Promise<void>
  /** Ends it without a wait for its visitors. */
  stop(): Promise<void>
}

/** @param env settings of this machine, beside those that all have */
export async function startMachine(
  index: number,
  shared: Shared,
  env: Record<string, string>,
  withFaults: boolean,
): Promise<Machine> {
  const name = `machine-${index}`
  const [port, linkPort] = [await freePort(), await freePort()]
  const directory = path.join(shared.directory, name)
  const caFile = path.join(directory, 'ca.pem')
  await mkdir(directory, { mode: 0o700 })
  if (index === 0) await copyAuthority(directory)
  const faults = withFaults ? await startFaults(shared.redis.port, linkPort) : undefined
  const addr = `127.0.0.1:${faults?.link.port ?? linkPort}`
  let settings: Record<string, string> = {
    ...settingsOf(shared, faults?.redis.port),
    SNI_PORT: `${port}`,
    IDENTITY_PATH: directory,
    CLUSTER_ADDR: addr,
    ...(faults && { CLUSTER_LISTEN_PORT: `${linkPort}` }),
    ...env,
  }
  const log: LogLine[] = []
  let isRunning = false
  const start = async (): Promise<RelayProcess> => {
    const relay = await startProcess(shared, settings, log)
    isRunning = true
    void relay.ended.then(() => (isRunning = false))
    return relay
  }
  const closeFaults = async (): Promise<void> => {
    await Promise.all([faults?.redis.close(), faults?.link.close()])
  }
  let running = await start().catch(async (error) => {
    await closeFaults()
    throw error
  })
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    if (!isRunning) return
    process.kill(running.pid, signal)
    if (isFatal(signal)) await running.ended
  }
  return {
    index,
    name,
    port,
    addr,
    get pid() {
      return isRunning ? running.pid : undefined
    },
    directory,
    caFile,
    log,
    faults,
    get ended() {
      return running.ended
    },
    exitCode: () => running.exitCode(),
    call: async (...request) => directCall(port, shared.url, await readFile(caFile, 'utf8'))(...request),
    kill,
    restart: async (more = {}) => {
      await kill()
      settings = { ...settings, ...more }
      running = await start()
    },
    stop: async () => {
      // A process that was stopped would not notice that it must end.
      await kill('SIGCONT')
      await running.stop()
      await closeFaults()
    },
  }
}

async function startFaults(
  redisPort: number,
  linkPort: number,
): Promise<Record<'redis' | 'link', FaultProxy>> {
  return { redis: await FaultProxy.start(() => redisPort), link: await FaultProxy.start(() => linkPort) }
}

async function startProcess(
  { process }: Shared,
  env: Record<string, string>,
  log: LogLine[],
): Promise<RelayProcess> {
  return await startRelay({
    ...process,
    env,
    execArgv: [...WITHOUT_OVERLOAD, ...(process.execArgv ?? [])],
    onLog: (line) => void log.push(parseLogLine(line)),
  })
}

/** The settings that all machines have. */
function settingsOf({ url, redis, secret }: Shared, redisPort: number | undefined): Record<string, string> {
  return {
    SVC_URL: url,
    LOG_LEVEL: 'info',
    TRUSTED_PROXIES: BALANCER_ADDRESS,
    CLUSTER_URL: withPort(redis.url, redisPort),
    CLUSTER_SECRET: secret,
    ...BUDGETS_OF_MANY,
  }
}

function withPort(url: string, port: number | undefined): string {
  if (port === undefined) return url
  const changed = new URL(url)
  changed.port = `${port}`
  return changed.href
}
