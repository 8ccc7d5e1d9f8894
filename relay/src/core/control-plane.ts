// The root host: the API with its endpoints for SDKs, administrators and the public, the carriers, and the relay's pages.

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { DomainResponse } from '@svc/protocol'
import type { Running } from '../feature.ts'
import type { ApiParts } from './api/endpoint-handler.ts'
import { AdminApi } from './api/handlers/admin.ts'
import { AdminAuth } from './api/handlers/admin-auth.ts'
import { createPages } from './api/handlers/built-in-pages.ts'
import { PublicApi } from './api/handlers/public.ts'
import { SdkApi, type SdkApiParts } from './api/handlers/sdk.ts'
import { BodyWriter } from './api/http/body-writer.ts'
import { RequestLog } from './api/http/request-log.ts'
import { createApiServer, type Handler } from './api/http/server.ts'
import { createRouter, type Router } from './api/router.ts'
import { Challenges } from './auth/challenges.ts'
import { SignerRecovery } from './auth/signer-recovery.ts'
import { networkOf } from './client-address/ip-address.ts'
import type { Core } from './core.ts'
import { createGo, type SitesElsewhere } from './go/go.ts'
import { SitesHere } from './go/sites-here.ts'
import { KeylessSigner } from './keyless/keyless-signer.ts'
import type { Lease } from './lease/lease.ts'
import { NO_PORT_CLAIMS } from './lease/lease-draft.ts'
import { LeaseHistory } from './lease/lease-history.ts'
import { Administrators } from './policy/administrators.ts'
import { BanEnds } from './policy/ban-ends.ts'
import { Invitations } from './policy/invitations.ts'
import { PolicyRecord } from './policy/policy-record.ts'
import { RecentPolicyChanges } from './policy/recent-changes.ts'
import { raisedBy } from './rate-limit/budgets.ts'
import { RateLimits } from './rate-limit/client-rate-limits.ts'
import { FailedAttempts } from './rate-limit/failed-attempts.ts'
import { unauthenticatedMemory } from './rate-limit/request-memory.ts'
import { ConnectEndpoint } from './reverse/connect-endpoint.ts'
import { SiteHistoryFile } from './traffic/site-history-file.ts'
import { RELEASE_VERSION } from './version.ts'

export interface ControlPlane {
  connect: ConnectEndpoint
  /** Serves a connection to the root host, as it came. */
  serve: (socket: Socket) => void
  /** Serves a connection to the root host whose TLS a worker has ended. */
  serveDecrypted: (connection: Duplex) => void
  close(): Promise<void>
}

/** @param running the features that run, each of which may add to it */
export async function createControlPlane(core: Core, running: Iterable<Running>): Promise<ControlPlane> {
  const { settings, state, clientAddresses, counters, isClosing, log } = core
  const features = [...running]
  const recovery = new SignerRecovery()
  const gateways = only(features, 'gateways')
  const connect = new ConnectEndpoint(
    state.credentials,
    state.policy,
    counters,
    clientAddresses,
    core.readBuffer,
    gateways?.gateway,
  )
  gateways?.serve(connect)
  const writer = new BodyWriter((request) => networkOf(clientAddresses.ofRequest(request)))
  const { history, historyFile } = await openHistory(core)
  const changes = core.peers.machines?.policyChanges ?? new RecentPolicyChanges()
  const record = new PolicyRecord(state.audit, changes, history)
  const banEnds = new BanEnds({
    policy: state.policy,
    ended: (step) => record.add(step, undefined),
    isShared: () => core.peers.machines !== undefined,
  })
  const { routing, api } = createRouting(core, { features, recovery, writer, record })
  const domain = await domainOf(features)
  const server = createApiServer({
    rootHost: settings.rootHost,
    ownPorts: settings.ownPorts,
    certificates: state.certificates,
    clientAddresses,
    routing,
    connect,
    neighbours: features.find((feature) => feature.neighbours !== undefined)?.neighbours?.(api),
    pages: features.reduce(
      (next, feature) => feature.pages?.(next, api) ?? next,
      createGoPages(
        core,
        api,
        only(features, 'sitesElsewhere'),
        createRelayPages(core, writer, domain.discovery === true),
      ),
    ),
    observer: new RequestLog(counters, log),
    isClosing,
  })
  return {
    connect,
    serve: (socket) => server.emit('connection', socket),
    serveDecrypted: (connection) => server.emit('secureConnection', connection),
    close: async () => {
      server.close()
      banEnds.close()
      history.close()
      core.traffic.close()
      await historyFile.close()
      await recovery.close()
    },
  }
}

/** What is known of sites, with what was known before a restart. */
async function openHistory({ settings, state, peers, traffic, log }: Core) {
  const history = new LeaseHistory({
    leases: state.leases,
    routing: (lease) => state.policy.routing(lease),
    isShared: () => peers.machines !== undefined,
  })
  const { identityPath: directory } = settings
  const historyFile = await SiteHistoryFile.open({
    directory,
    traffic,
    history,
    health: state.writeHealth,
    log,
  })
  return { history, historyFile }
}

/** @returns the member of the one feature that has it */
function only<Name extends keyof Running>(
  features: readonly Running[],
  name: Name,
): Running[Name] | undefined {
  return features.find((feature) => feature[name] !== undefined)?.[name]
}

interface RoutingParts {
  features: readonly Running[]
  recovery: SignerRecovery
  writer: BodyWriter
  record: PolicyRecord
}

function createRouting(core: Core, { features, recovery, writer, record }: RoutingParts): Router {
  const { settings, state, clientAddresses, visitors, traffic, counters, peers, log } = core
  const { leases, policy, certificates, certificateStatuses, credentials, writeHealth } = state
  const { machines } = peers
  const administrators = new Administrators(policy, settings.adminToken)
  const invitations = new Invitations(
    policy,
    machines?.failedAttempts('invitation') ?? new FailedAttempts(),
    log,
  )
  const rateLimits = new RateLimits(settings.rateLimits, (clientIp) =>
    features.some((feature) => feature.isPeer?.(clientIp) === true),
  )
  const unauthenticated = unauthenticatedMemory(raisedBy(settings.rateLimits))
  const problems = (): string[] => [
    ...writeHealth.problems,
    ...features.flatMap((feature) => feature.problems?.() ?? []),
  ]
  return createRouter({
    origin: settings.url.origin,
    releaseVersion: RELEASE_VERSION,
    writer,
    clientAddresses,
    rateLimits,
    unauthenticated,
    public: new PublicApi(leases, policy, problems, core.isClosing),
    adminAuth: new AdminAuth(administrators, log),
    admin: new AdminApi(policy, { administrators, invitations }, record, {
      counters,
      visitors,
      traffic,
      leases,
      certificateStatuses,
      cluster: machines?.readings,
      customDomains: only(features, 'customDomains'),
    }),
    sdk: createSdkApi(core, {
      invitations,
      recovery,
      rateLimits,
      challenges:
        machines?.challenges(unauthenticated) ??
        new Challenges(settings.host, unauthenticated, settings.rateLimits),
      ports: only(features, 'ports') ?? NO_PORT_CLAIMS,
      tunnelAddress: only(features, 'tunnelAddress'),
      featuresOfDomain: () => domainOf(features),
      gateways: only(features, 'gateways')?.choice,
      customDomains: only(features, 'customDomains'),
      extensions: features.flatMap(({ extensions = [] }) => extensions),
    }),
    credentials,
    signer: new KeylessSigner(settings.rootHost, certificates, machines?.spend ?? core.spendHere),
    certificates,
    rootHost: settings.rootHost,
    features,
  })
}

/** What the features add to `GET /sdk/domain` at this moment. */
async function domainOf(features: readonly Running[]): Promise<Partial<DomainResponse>> {
  return Object.assign({}, ...(await Promise.all(features.map((feature) => feature.domain?.()))))
}

function createSdkApi(
  { settings, state, peers, settled }: Core,
  parts: Pick<
    SdkApiParts,
    | 'recovery'
    | 'invitations'
    | 'rateLimits'
    | 'challenges'
    | 'ports'
    | 'tunnelAddress'
    | 'extensions'
    | 'featuresOfDomain'
    | 'gateways'
    | 'customDomains'
  >,
): SdkApi {
  const { leases, journal, credentials, policy, identity } = state
  return new SdkApi({
    ...parts,
    leases,
    durable: () => journal.durable(),
    // An SDK must not present a token to a process that does not know its lease yet.
    settled,
    sharing: peers.machines?.leases,
    credentials,
    policy,
    host: settings.host,
    relayAddress: identity.address,
    releaseVersion: RELEASE_VERSION,
  })
}

/** @param next handles every other path */
function createGoPages(
  core: Core,
  api: ApiParts,
  elsewhere: SitesElsewhere | undefined,
  next: Handler,
): Handler {
  const { settings, state } = core
  const isReachedByRelay = (lease: Lease): boolean => elsewhere?.isReachedByRelay(lease) === true
  const sites = new SitesHere({ ...core, ...state, isReachedByRelay })
  return createGo({ ...core, ...api, origin: settings.url.origin, sites, elsewhere }, next)
}

function createRelayPages({ settings, state }: Core, writer: BodyWriter, hasDiscovery: boolean): Handler {
  const { policy, certificates } = state
  return createPages({
    directory: settings.siteDir,
    hasLandingPage: () => policy.settings.landing_page_enabled,
    hasDiscovery,
    authority: () => certificates.current.authority?.certificate,
    writer,
    origin: settings.url.origin,
  })
}
