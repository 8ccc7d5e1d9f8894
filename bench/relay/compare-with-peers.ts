// Compares ours with every peer that can do the same: several figures each, measured in turn.
import { alternateAll } from '../lib/alternate.ts'
import { compared, type Entry, missing, type Question } from '../lib/entry.ts'
import { INSTALL_PEERS, PEERS } from './bridges.ts'
import type { Kind } from './forward.ts'
import type { Bridges, RunningBridge } from './running-bridges.ts'

/** The least ratio that is wanted against a peer, by its name; against one that is not there it is for comparison only. */
export type Targets = Readonly<Record<string, number>>

interface Figure extends Omit<Question, 'peer' | 'target'> {
  targets: Targets
}

interface Comparison<Name extends string> {
  runs: number
  bridges: Bridges
  kind: Kind
  figures: Record<Name, Figure>
  measure: (bridge: RunningBridge) => Promise<Record<Name, number>>
}

export async function* compareWithPeers<Name extends string>(task: Comparison<Name>): AsyncGenerator<Entry> {
  const { runs, bridges, kind, figures, measure } = task
  const peers = PEERS.filter(({ kinds }) => kinds.includes(kind))
  const running = peers.flatMap(({ name }) => bridges.peers.get(name) ?? [])
  const medians = await alternateAll<string, Name>(
    runs,
    Object.fromEntries([bridges.ours, ...running].map((bridge) => [bridge.name, () => measure(bridge)])),
  )
  const ours = medians[bridges.ours.name]!
  for (const [name, { targets, ...figure }] of Object.entries<Figure>(figures))
    for (const { name: peer } of peers) {
      const question = { ...figure, peer, target: targets[peer] ?? null }
      const theirs = medians[peer]
      const own = ours[name as Name]
      if (theirs === undefined) yield missing(question, own, INSTALL_PEERS)
      else yield compared(question, own, theirs[name as Name])
    }
}
