// The parts of a relay's control plane, joined as the relay joins them, without the network.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AdminApi } from '../../src/api/handlers/admin.ts'
import { PublicApi } from '../../src/api/handlers/public.ts'
import { SdkApi } from '../../src/api/handlers/sdk.ts'
import { Challenges } from '../../src/auth/challenges.ts'
import { Credentials } from '../../src/auth/lease-authorizer.ts'
import { loadIdentity } from '../../src/auth/relay-identity.ts'
import { Recovery } from '../../src/auth/signer-recovery.ts'
import { Tokens } from '../../src/auth/token-issuer.ts'
import { Visitors } from '../../src/bridge/visitors.ts'
import { readSettings } from '../../src/config/settings.ts'
import { DatagramPlane } from '../../src/datagram/datagram-forwarder.ts'
import { LeaseRegistry } from '../../src/lease/lease-registry.ts'
import { ReservationJournal } from '../../src/lease/reservation-journal.ts'
import { createLog } from '../../src/log/log.ts'
import { Tally } from '../../src/metrics/relay-counters.ts'
import { AuditLog } from '../../src/policy/audit-log.ts'
import { Policy } from '../../src/policy/policy.ts'
import { createDedicatedPorts } from '../../src/ports/port-listeners.ts'
import { Bandwidth } from '../../src/rate-limit/bandwidth.ts'
import { Budgets } from '../../src/rate-limit/rate-limits.ts'
import { unprovenMemory } from '../../src/rate-limit/request-memory.ts'
import { Routes } from '../../src/routing/routing-table.ts'
import { StateHealth } from '../../src/storage/write-health.ts'

export interface System {
  sdk: SdkApi
  admin: AdminApi
  open: PublicApi
  routes: Routes
  policy: Policy
  credentials: Credentials
  leases: LeaseRegistry
  close(): Promise<void>
}

export async function createSystem(): Promise<System> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-model-'))
  const log = createLog('silent')
  const settings = readSettings({ SVC_URL: 'https://relay.localhost', IDENTITY_PATH: directory })
  const identity = await loadIdentity(directory)
  const state = new StateHealth(log)
  const policy = await Policy.load(directory, settings.portGates, state)
  const routes = new Routes(settings.rootHost)
  const journal = await ReservationJournal.open(directory, state, log)
  const leases = new LeaseRegistry(routes, journal.reservations)
  const credentials = new Credentials(new Tokens(identity, settings.url.origin), leases)
  const recovery = new Recovery()
  const tally = new Tally()
  const sdk = new SdkApi({
    leases,
    durable: () => journal.durable(),
    settled: async () => {},
    challenges: new Challenges(settings.host, unprovenMemory()),
    recovery,
    budgets: new Budgets({ sourcePerMinute: 1e9, relayPerMinute: 1e9 }),
    credentials,
    policy,
    ports: createDedicatedPorts({
      settings,
      policy,
      reservations: journal.reservations,
      serve: async () => {},
      connectionsMax: 0,
      listenersMax: 1_000,
      datagrams: new DatagramPlane({
        tunnelOf: () => undefined,
        routes: () => true,
        bandwidthOf: () => new Bandwidth(() => 0),
        tally,
      }),
      hasNoTunnels: () => false,
      log,
    }),
    host: settings.host,
    relayAddress: identity.address,
    releaseVersion: '0.0.0',
  })
  return {
    sdk,
    admin: new AdminApi(policy, new AuditLog(directory, state), {
      tally,
      visitors: new Visitors(log),
      leases,
    }),
    open: new PublicApi(
      leases,
      policy,
      () => state.troubles,
      () => false,
    ),
    routes,
    policy,
    credentials,
    leases,
    close: async () => {
      for (const lease of [...leases]) leases.end(lease, 'shutdown')
      await Promise.all([recovery.close(), journal.close(), policy.settled()])
      await rm(directory, { recursive: true })
    },
  }
}
