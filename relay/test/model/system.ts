// The parts of a relay's control plane, joined as the relay joins them, without the network.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DomainResponse } from '@svc/protocol'
import { AdminApi } from '../../src/core/api/handlers/admin.ts'
import { PublicApi } from '../../src/core/api/handlers/public.ts'
import { SdkApi } from '../../src/core/api/handlers/sdk.ts'
import { Challenges } from '../../src/core/auth/challenges.ts'
import { LeaseCredentials } from '../../src/core/auth/lease-authorizer.ts'
import { loadIdentity } from '../../src/core/auth/relay-identity.ts'
import { SignerRecovery } from '../../src/core/auth/signer-recovery.ts'
import { TokenIssuer } from '../../src/core/auth/token-issuer.ts'
import { Visitors } from '../../src/core/bridge/visitors.ts'
import { LeaseRegistry } from '../../src/core/lease/lease-registry.ts'
import { ReservationJournal } from '../../src/core/lease/reservation-journal.ts'
import { ROOT_ROUTE, type Route } from '../../src/core/lease/route.ts'
import { createLog } from '../../src/core/log/log.ts'
import { RelayCounters } from '../../src/core/metrics/relay-counters.ts'
import { Administrators } from '../../src/core/policy/administrators.ts'
import { AuditLog } from '../../src/core/policy/audit-log.ts'
import { Invitations } from '../../src/core/policy/invitations.ts'
import { Policy } from '../../src/core/policy/policy.ts'
import { PolicyRecord } from '../../src/core/policy/policy-record.ts'
import { RecentPolicyChanges } from '../../src/core/policy/recent-changes.ts'
import { Bandwidth } from '../../src/core/rate-limit/bandwidth.ts'
import { RateLimits } from '../../src/core/rate-limit/client-rate-limits.ts'
import { FailedAttempts } from '../../src/core/rate-limit/failed-attempts.ts'
import { unauthenticatedMemory } from '../../src/core/rate-limit/request-memory.ts'
import { RoutingTable } from '../../src/core/routing/routing-table.ts'
import { WriteHealth } from '../../src/core/storage/write-health.ts'
import { LeaseTraffic } from '../../src/core/traffic/lease-traffic.ts'
import { DatagramForwarder } from '../../src/features/datagrams/datagram-forwarder.ts'
import { createDedicatedPorts } from '../../src/features/ports/port-listeners.ts'
import { readSettings } from '../../src/settings.ts'

export interface System {
  sdk: SdkApi
  admin: AdminApi
  open: PublicApi
  routes: RoutingTable<Route>
  policy: Policy
  credentials: LeaseCredentials
  leases: LeaseRegistry
  close(): Promise<void>
}

/** @param featuresOfDomain what features add to `GET /sdk/domain` */
export async function createSystem(
  featuresOfDomain: () => Promise<Partial<DomainResponse>> = async () => ({}),
): Promise<System> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-model-'))
  const log = createLog('silent')
  const settings = readSettings({ SVC_URL: 'https://relay.localhost', IDENTITY_PATH: directory })
  const identity = await loadIdentity(directory)
  const state = new WriteHealth(log)
  const policy = await Policy.load(directory, settings.portGates, { health: state })
  const routes = new RoutingTable<Route>(settings.rootHost, ROOT_ROUTE)
  const journal = await ReservationJournal.open(directory, state, log)
  const leases = new LeaseRegistry(routes, journal.reservations)
  const credentials = new LeaseCredentials(new TokenIssuer(identity, settings.url.origin), leases)
  const recovery = new SignerRecovery()
  const counters = new RelayCounters()
  const traffic = new LeaseTraffic()
  const datagrams = new DatagramForwarder({
    traffic,
    listenAddress: undefined,
    tunnelOf: () => undefined,
    routes: () => true,
    bandwidthOf: () => new Bandwidth(() => 0),
    counters,
  })
  const invitations = new Invitations(policy, new FailedAttempts(), log)
  const sdk = new SdkApi({
    invitations,
    leases,
    durable: () => journal.durable(),
    settled: async () => {},
    challenges: new Challenges(settings.host, unauthenticatedMemory(), {
      networkPerMinute: 1e9,
      relayPerMinute: 1e9,
    }),
    recovery,
    rateLimits: new RateLimits({ networkPerMinute: 1e9, relayPerMinute: 1e9 }),
    extensions: [],
    gateways: undefined,
    customDomains: undefined,
    credentials,
    policy,
    ports: createDedicatedPorts({
      settings,
      policy,
      reservations: journal.reservations,
      visitors: { accept: async () => {} },
      connectionsMax: 0,
      listenersMax: 1_000,
      tunnels: { bind: (port, served) => datagrams.open(port, served), hasNoTunnels: () => false },
      log,
    }),
    host: settings.host,
    relayAddress: identity.address,
    featuresOfDomain,
    releaseVersion: '0.0.0',
  })
  return {
    sdk,
    admin: new AdminApi(
      policy,
      { administrators: new Administrators(policy, undefined), invitations },
      new PolicyRecord(new AuditLog(directory, state), new RecentPolicyChanges(), {
        of: () => [],
        decided: () => {},
      }),
      {
        counters,
        visitors: new Visitors(log),
        traffic,
        leases,
        certificateStatuses: { all: () => [] },
        customDomains: undefined,
      },
    ),
    open: new PublicApi(
      leases,
      policy,
      () => state.problems,
      () => false,
    ),
    routes,
    policy,
    credentials,
    leases,
    close: async () => {
      traffic.close()
      for (const lease of [...leases]) leases.end(lease, 'shutdown')
      await Promise.all([recovery.close(), journal.close(), policy.settled()])
      await rm(directory, { recursive: true })
    },
  }
}
