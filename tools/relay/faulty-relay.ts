// A relay that sites reach only through a proxy that fails on demand, and that can be killed and started again.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { FaultProxy } from '../network/fault-proxy.ts'
import { freePort } from '../network/free-port.ts'
import { BUDGETS_OF_MANY, type RelayProcess, startRelay, WITHOUT_OVERLOAD } from './process.ts'

export interface FaultyRelay {
  /** The relay's address through the proxy. */
  url: string
  ca: string
  /** The port at which visitors find the relay without any fault. */
  port: number
  proxy: FaultProxy
  /** @returns its resident memory in bytes */
  rss(): Promise<number>
  /** Kills the relay, which closes nothing in order. */
  kill(): Promise<void>
  /** Starts the relay again on the same port, with the same identity and certificates, and no leases. */
  start(): Promise<void>
  stop(): Promise<void>
}

export async function startFaultyRelay(execArgv: string[] = []): Promise<FaultyRelay> {
  const port = await freePort()
  const proxy = await FaultProxy.start(() => port)
  const url = `https://relay.localhost:${proxy.port}`
  const state = await mkdtemp(path.join(tmpdir(), 'svc-e2e-faulty-'))
  const env = {
    SVC_URL: url,
    SNI_PORT: String(port),
    IDENTITY_PATH: state,
    LOG_LEVEL: 'info',
    ...BUDGETS_OF_MANY,
  }
  let relay: RelayProcess | undefined
  const start = async (): Promise<void> => {
    relay = await startRelay({ env, execArgv: [...WITHOUT_OVERLOAD, ...execArgv] })
  }
  await start()
  return {
    url,
    ca: await readFile(path.join(state, 'ca.pem'), 'utf8'),
    port,
    proxy,
    rss: async () => {
      const status = await readFile(`/proc/${relay!.pid}/status`, 'utf8')
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024
    },
    kill: async () => {
      process.kill(relay!.pid, 'SIGKILL')
      await relay!.ended
    },
    start,
    stop: async () => {
      await relay?.stop()
      await proxy.close()
      await rm(state, { recursive: true })
    },
  }
}
