// Tunnels to one port of the service: ours as `svc expose` makes it, none at all, and the peers that are there.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { freePort, freeRange } from '../../tools/network/free-port.ts'
import { root } from '../../tools/programs/command.ts'
import { BenchRelay } from '../carrier/relay.ts'
import { findProgram, PEER_TUNNELS, type PeerTunnel } from './peers.ts'
import { Programs } from './processes.ts'

const CLI = path.join(root, 'sdk-node/src/cli/main.ts')
const PORTS = 10

interface Tunnel {
  /** The port at which visitors enter. */
  port: number
  /** The processes of its server and its client. */
  pids: number[]
  stop(): Promise<void>
}

export interface OwnTunnel extends Tunnel {
  /** The hostname of the site, at the relay's own port; empty for one that has a TCP port alone. */
  hostname: string
  /** PEM of the relay's authority. */
  ca: string
  /** The relay's process. */
  relayPid: number
}

/** A relay's settings. */
export async function dedicatedPorts(): Promise<Record<string, string>> {
  const min = await freeRange(PORTS)
  return { TCP_ENABLED: 'true', MIN_PORT: `${min}`, MAX_PORT: `${min + PORTS - 1}` }
}

/**
 * @param target of `svc expose`
 * @param env settings of the relay, beside its ports
 */
export async function startOwn(
  target: readonly string[],
  env: Record<string, string> = {},
): Promise<OwnTunnel> {
  const relay = await BenchRelay.start({ env: { ...(await dedicatedPorts()), ...env } })
  const programs = new Programs()
  const identity = path.join(relay.directory, 'tenant.json')
  const options = ['--relay', relay.url, '--ca', relay.caFile, '--identity-path', identity, '--json']
  const child = programs.start(process.execPath, [CLI, 'expose', ...target, ...options])
  const { url, tcp_address } = await new Promise<{ url?: string; tcp_address?: string }>(
    (resolve, reject) => {
      createInterface(child.stdout!).on('line', (line) => {
        const report = JSON.parse(line)
        if (report.event === 'online') resolve(report)
        else if (report.event === 'failed') reject(new Error(report.message))
      })
      child.once('exit', (code) => reject(new Error(`svc ended with ${code}: ${programs.complaints}`)))
    },
  )
  return {
    port: tcp_address === undefined ? relay.port : Number(tcp_address.split(':').at(-1)),
    pids: [relay.pid, ...programs.pids],
    relayPid: relay.pid,
    hostname: url === undefined ? '' : new URL(url).hostname,
    ca: await relay.ca(),
    stop: async () => {
      await programs.stop()
      await relay.stop()
    },
  }
}

export interface RunningPeer extends Tunnel {
  peer: PeerTunnel
}

/** @returns the tunnels of `wanted` that are on this machine */
export async function startPeers(
  from: number,
  wanted: (peer: PeerTunnel) => boolean = () => true,
): Promise<RunningPeer[]> {
  const running: RunningPeer[] = []
  for (const peer of PEER_TUNNELS)
    if (wanted(peer) && peer.needs.every(findProgram)) running.push(await startPeer(peer, from))
  return running
}

export function missingPeers(): PeerTunnel[] {
  return PEER_TUNNELS.filter(({ needs }) => !needs.every(findProgram))
}

async function startPeer(peer: PeerTunnel, from: number): Promise<RunningPeer> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-bench-peer-'))
  const programs = new Programs()
  const stop = async (): Promise<void> => {
    await programs.stop()
    await rm(directory, { recursive: true })
  }
  const to = await freePort()
  try {
    await peer.start(programs, (program) => findProgram(program)!, { from, to, directory })
    await programs.listening(to)
  } catch (error) {
    await stop()
    throw new Error(`${peer.name} did not start`, { cause: error })
  }
  return { peer, port: to, pids: programs.pids, stop }
}
