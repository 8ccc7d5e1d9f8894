// Relays that WireGuard links, each on a host of its own of a network of namespaces, at port 443 of that host.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCa, createLeaf } from '../../relay/src/core/certificates/development-ca.ts'
import { readLinkState } from '../../relay/src/features/overlay/wireguard/link-state.ts'
import type { NetworkHost, TestNetwork } from '../network/namespaces.ts'
import {
  BUDGETS_OF_MANY,
  type LogLine,
  parseLogLine,
  type RelayProcess,
  startRelay,
  WITHOUT_OVERLOAD,
} from './process.ts'

/** A relay on a host. It may be started again after its end. */
export interface LinkedRelay {
  readonly host: NetworkHost
  /** Its URL, which the hosts of the network resolve. */
  readonly url: string
  /** State directory. */
  readonly directory: string
  /** The CAs of all relays, as PEM. */
  readonly caFile: string
  /** The lines that it logged, each parsed from JSON. */
  readonly log: readonly LogLine[]
  /** The process number; undefined while it does not run. */
  readonly pid: number | undefined
  /** Resolves when it listens, and its overlay is up or cannot be. @param env settings beside those of the others */
  start(env?: Record<string, string>): Promise<void>
  stop(): Promise<void>
  /** Ends it without a chance to clean up. */
  kill(): Promise<void>
}

export interface LinkedRelays {
  readonly relays: readonly LinkedRelay[]
  /** Resolves when all of them know each other, and have sessions. */
  connected(): Promise<void>
  /** Ends all of them, and removes their state. */
  close(): Promise<void>
}

/** Milliseconds for all sessions, and between two looks. */
const CONNECTED_TIMEOUT_MS = 60_000
const LOOK_MS = 200
export const WIREGUARD_PORT = 51_820
/** The address at which each relay serves metrics on its own host. */
export const METRICS_PORT = 9_100

/**
 * Starts a relay on each host, one after the other. They know each other soon.
 * @param env settings of all of them
 * @param hosts those that get a relay
 */
export async function startLinkedRelays(
  network: TestNetwork,
  env: Record<string, string> = {},
  hosts: readonly NetworkHost[] = network.hosts,
): Promise<LinkedRelays> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-linked-relays-'))
  const caFile = path.join(directory, 'all.pem')
  const members = hosts.map((host) => ({
    host,
    url: `https://${host.hostname}`,
    state: path.join(directory, host.namespace),
  }))
  const authorities = await Promise.all(members.map(({ host, state }) => certify(host, state)))
  await writeFile(caFile, authorities.join(''))
  const relays = members.map(({ host, url, state }) => {
    const others = members.filter((other) => other.host !== host)
    return linkedRelay(host, url, state, caFile, {
      ...network.env,
      SVC_URL: url,
      IDENTITY_PATH: state,
      LOG_LEVEL: 'info',
      METRICS_ADDR: `[::]:${METRICS_PORT}`,
      DISCOVERY: 'true',
      DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true',
      BOOTSTRAPS: others.map((other) => other.url).join(),
      WIREGUARD_PORT: `${WIREGUARD_PORT}`,
      NODE_EXTRA_CA_CERTS: caFile,
      ...BUDGETS_OF_MANY,
      ...env,
    })
  })
  const close = async (): Promise<void> => {
    await Promise.all(relays.map((relay) => relay.stop()))
    await rm(directory, { recursive: true, force: true })
  }
  try {
    for (const relay of relays) await relay.start()
    return { relays, connected: () => connected(relays), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** @throws Error when it takes too long */
async function connected(relays: readonly LinkedRelay[]): Promise<void> {
  const until = performance.now() + CONNECTED_TIMEOUT_MS
  for (const { host, directory } of relays) {
    const { interfaceName } = (await readLinkState(directory))!
    const sessions = (): number => {
      try {
        const handshakes = host.run('wg', 'show', interfaceName, 'latest-handshakes').split('\n')
        return handshakes.filter((line) => Number(line.split('\t')[1] ?? 0) > 0).length
      } catch {
        // A busy machine may need longer for the interface than a relay waits for it at its start.
        return 0
      }
    }
    while (sessions() < relays.length - 1) {
      if (performance.now() > until) throw new Error('the relays did not link')
      await sleep(LOOK_MS)
    }
  }
}

/** Writes the certificate of a relay, as an operator would. @returns the CA that issued it, as PEM */
async function certify({ hostname }: NetworkHost, state: string): Promise<string> {
  const authority = createCa(hostname)
  const { chain, key } = createLeaf(authority, hostname)
  await mkdir(state, { mode: 0o700 })
  await writeFile(path.join(state, 'fullchain.pem'), chain)
  await writeFile(path.join(state, 'privatekey.pem'), key, { mode: 0o600 })
  return authority.certificate
}

function linkedRelay(
  host: NetworkHost,
  url: string,
  directory: string,
  caFile: string,
  env: Record<string, string>,
): LinkedRelay {
  const log: LogLine[] = []
  let running: RelayProcess | undefined
  return {
    host,
    url,
    directory,
    caFile,
    log,
    get pid() {
      return running?.pid
    },
    start: async (more) => {
      running = await startRelay({
        env: { ...env, ...more },
        execArgv: [...WITHOUT_OVERLOAD],
        through: [...host.through],
        onLog: (line) => void log.push(parseLogLine(line)),
      })
    },
    stop: async () => {
      await running?.stop()
      running = undefined
    },
    kill: async () => {
      if (running === undefined) return
      process.kill(running.pid, 'SIGKILL')
      await running.ended
      running = undefined
    },
  }
}
