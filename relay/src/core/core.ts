// The core of a relay: what its control plane, its listeners and its features share in the primary process.

import { createPipe, type Pipe } from './bridge/pipe.ts'
import { Visitors } from './bridge/visitors.ts'
import { ClientAddresses } from './client-address/client-addresses.ts'
import type { RelayCapacity } from './config/capacity.ts'
import type { Settings } from './config/settings.ts'
import { DataPlane } from './data-plane.ts'
import type { SpendBinding } from './keyless/keyless-signer.ts'
import type { Logger } from './log/log.ts'
import { RelayCounters } from './metrics/relay-counters.ts'
import type { SharedReadBuffer } from './node-internals/shared-read-buffer.ts'
import { Peers } from './peers.ts'
import type { RelayState } from './storage/stored-state.ts'
import { LeaseTraffic } from './traffic/lease-traffic.ts'

interface CoreParts {
  settings: Settings
  capacity: RelayCapacity
  state: RelayState
  /** Makes sockets cheaper to read; undefined if this Node does not support it. */
  readBuffer: SharedReadBuffer | undefined
  /** The first bytes of the bindings of this machine; undefined if the relay is one machine. */
  machineMark?: Uint8Array | undefined
  /** Aborted as soon as the relay begins to close. */
  closing: AbortSignal
  log: Logger
}

export interface Core extends CoreParts {
  pipe: Pipe
  clientAddresses: ClientAddresses
  /** The traffic of each lease's visitors. */
  traffic: LeaseTraffic
  visitors: Visitors
  counters: RelayCounters
  dataPlane: DataPlane
  peers: Peers
  /** Makes the first bytes of the bindings of a process of this machine. */
  markOf: (processIndex: number) => Uint8Array
  /** Uses up a binding that a process of this machine issued. */
  spendHere: SpendBinding
  /** Resolves when every process of this machine knows what has changed. */
  settled: () => Promise<void>
  isClosing: () => boolean
}

export function createCore(parts: CoreParts): Core {
  const { settings, state, readBuffer, machineMark, closing, log } = parts
  const { routes, policy, leases, certificates } = state
  const pipe = createPipe(readBuffer)
  const clientAddresses = new ClientAddresses(settings.trustedProxies)
  const traffic = new LeaseTraffic()
  const visitors = new Visitors(log, traffic)
  traffic.onSample(() => visitors.sample())
  const counters = new RelayCounters()
  const peers = new Peers()
  const markOf = (processIndex: number): Uint8Array => Uint8Array.of(processIndex, ...(machineMark ?? []))
  const dataPlane = new DataPlane({
    processes: () => peers.size,
    bindingMark: settings.workers > 1 || machineMark !== undefined ? markOf(0) : undefined,
    clientAddresses,
    routes,
    policy,
    visitors,
    counters,
    pipe,
    isReady: () => certificates.hasCertificate,
    makeRoomElsewhere: (lease) => peers.processes?.makeRoom(lease),
    log,
  })
  policy.onChange(() => {
    for (const lease of leases) lease.setRouted(policy.routes(lease))
  })
  return {
    ...parts,
    pipe,
    clientAddresses,
    traffic,
    visitors,
    counters,
    dataPlane,
    peers,
    markOf,
    spendHere: (...claim) =>
      dataPlane.bindings.spend(...claim) || (peers.processes?.spend(...claim) ?? false),
    settled: async () => await peers.processes?.settled(),
    isClosing: () => closing.aborted,
  }
}
