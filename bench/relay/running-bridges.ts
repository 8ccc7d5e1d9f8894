// Bridges as they run: started each with its forwards, found by what they speak and where they lead, weighed, and ended.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '../../tools/network/free-port.ts'
import { Programs, processorSeconds } from '../node/processes.ts'
import { createIdentity } from '../tls/identity.ts'
import { type Bridge, OURS, PEERS } from './bridges.ts'
import type { Forward, Kind } from './forward.ts'

export interface RunningBridge {
  name: string
  /** The port at which clients enter. */
  port(kind: Kind, to: number): number
  processorSeconds(): number
}

export interface Bridges {
  ours: RunningBridge
  /** The bridges that are installed, by their names. */
  peers: ReadonlyMap<string, RunningBridge>
  /** PEM. */
  certificate: string
  stop(): Promise<void>
}

/** @param leads what is spoken where a forward listens, and the port that it leads to */
export async function startBridges(leads: readonly Omit<Forward, 'from'>[]): Promise<Bridges> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-bench-bridges-'))
  const all: Programs[] = []
  const stop = async (): Promise<void> => {
    for (const programs of all) await programs.stop()
    await rm(directory, { recursive: true })
  }
  const { certificate, key } = createIdentity()
  const identity = path.join(directory, 'identity.pem')
  await writeFile(identity, key + certificate)
  const startOne = async (bridge: Bridge): Promise<RunningBridge> => {
    const programs = new Programs()
    all.push(programs)
    const mine = leads.filter(({ kind }) => bridge.kinds.includes(kind))
    const forwards = await Promise.all(mine.map(async (lead) => ({ ...lead, from: await freePort() })))
    bridge.start(programs, { forwards, identity, directory })
    for (const { from } of forwards) await programs.listening(from)
    return {
      name: bridge.name,
      port: (kind, to) => forwards.find((forward) => forward.kind === kind && forward.to === to)!.from,
      processorSeconds: () => processorSeconds(programs.pids),
    }
  }
  try {
    const ours = await startOne(OURS)
    const peers = new Map<string, RunningBridge>()
    for (const peer of PEERS) if (peer.isInstalled()) peers.set(peer.name, await startOne(peer))
    return { ours, peers, certificate, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
