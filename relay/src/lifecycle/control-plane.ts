// The root host: the API with its endpoints for SDKs, administrators and the public, the carriers, and the relay's pages.

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { AdminApi } from '../core/api/handlers/admin.ts'
import { AdminAuth } from '../core/api/handlers/admin-auth.ts'
import { createPages } from '../core/api/handlers/built-in-pages.ts'
import { createNeighbourEndpoint } from '../core/api/handlers/hop-routes.ts'
import { noOptionalFeatures, type OptionalFeatures } from '../core/api/handlers/optional-features.ts'
import { PublicApi } from '../core/api/handlers/public.ts'
import { SdkApi, type SdkApiParts } from '../core/api/handlers/sdk.ts'
import { SiteCertificates } from '../core/api/handlers/site-certificates.ts'
import { BodyWriter } from '../core/api/http/body-writer.ts'
import { RequestLog } from '../core/api/http/request-log.ts'
import { createApiServer, type Handler, type Routing } from '../core/api/http/server.ts'
import { createRouter } from '../core/api/router.ts'
import { Challenges } from '../core/auth/challenges.ts'
import { SignerRecovery } from '../core/auth/signer-recovery.ts'
import { networkOf } from '../core/client-address/ip-address.ts'
import { authorityOf } from '../core/config/cluster-settings.ts'
import { KeylessSigner } from '../core/keyless/keyless-signer.ts'
import type { Lease } from '../core/lease/lease.ts'
import type { LeaseSharing } from '../core/lease/lease-sharing.ts'
import type { SharedReadBuffer } from '../core/node-internals/shared-read-buffer.ts'
import { raisedBy } from '../core/rate-limit/budgets.ts'
import { RateLimits } from '../core/rate-limit/client-rate-limits.ts'
import { unauthenticatedMemory } from '../core/rate-limit/request-memory.ts'
import { ConnectEndpoint } from '../core/reverse/connect-endpoint.ts'
import { RELEASE_VERSION } from '../core/version.ts'
import { hasDownloads } from '../features/installer/directory.ts'
import { createSiteCertificateIssuer } from '../features/site-certificates/issuer.ts'
import type { SiteCertificateIssuer } from '../features/site-certificates/site-certificate-issuer.ts'
import type { Discovery } from './discovery.ts'
import type { Dns } from './dns.ts'
import type { Gateways } from './gateways.ts'
import { createGoParts, type GoHandlers } from './go.ts'
import type { Hops } from './hops.ts'
import type { RelayParts } from './parts.ts'
import type { Payment } from './payment.ts'
import type { StaticCache } from './static-cache.ts'

interface ControlPlaneParts extends RelayParts {
  /** Makes carriers cheaper to read; undefined where this Node does not support it. */
  readBuffer: SharedReadBuffer | undefined
  dns: Pick<Dns, 'ens'>
  /** Undefined where discovery is off. */
  discovery?: Discovery | undefined
  /** Undefined where the relay has no gateways. */
  gateways?: Pick<Gateways, 'choice' | 'gateway' | 'serve'> | undefined
  /** Undefined where the relay is on no overlay. */
  hops?: Hops | undefined
  /** Undefined where payments are off. */
  payment?: Payment | undefined
  /** Undefined where it is off. */
  staticCache?: Pick<StaticCache, 'limits' | 'sites' | 'createHandlers'> | undefined
  /** The other machines; undefined where the relay is one machine. */
  sharing?: LeaseSharing | undefined
  /** Whether the relay is closing. */
  isClosing: () => boolean
}

export interface ControlPlane {
  connect: ConnectEndpoint
  /** Serves a connection to the root host, as it came. */
  serve: (socket: Socket) => void
  /** Serves a connection to the root host whose TLS a worker has ended. */
  serveDecrypted: (connection: Duplex) => void
  /** Returns whether the relay has issued this certificate for a lease. @param leaf DER */
  hasIssued: (lease: Lease, leaf: Buffer) => Promise<boolean>
  close(): Promise<void>
}

export async function createControlPlane(parts: ControlPlaneParts): Promise<ControlPlane> {
  const { settings, state, clientAddresses, counters, isClosing, log } = parts
  const { certificates, credentials, policy } = state
  const recovery = new SignerRecovery()
  const authority = parts.acme?.authority
  const issuer = await createSiteCertificateIssuer({
    ...state,
    settings,
    authority,
    sharing: parts.acme?.sharing,
    log,
  })
  const { gateways, readBuffer } = parts
  const connect = new ConnectEndpoint(
    credentials,
    policy,
    counters,
    clientAddresses,
    readBuffer,
    gateways?.gateway,
  )
  gateways?.serve(connect)
  const writer = new BodyWriter((request) => networkOf(clientAddresses.ofRequest(request)))
  const rateLimits = new RateLimits(settings.rateLimits, (clientIp) => parts.hops?.isPeer(clientIp) === true)
  const go = await createGoParts(parts, { writer, rateLimits })
  const pages = createRelayPages(parts, writer)
  const server = createApiServer({
    rootHost: settings.rootHost,
    ownPorts: settings.ownPorts,
    certificates,
    clientAddresses,
    routing: createRouting(parts, { recovery, writer, rateLimits, issuer, go }),
    connect,
    neighbours: createNeighbourEndpoint(parts.hops, { credentials, clientAddresses }),
    pages: go?.before(pages) ?? pages,
    observer: new RequestLog(counters, log),
    isClosing,
  })
  return {
    connect,
    serve: (socket) => server.emit('connection', socket),
    serveDecrypted: (connection) => server.emit('secureConnection', connection),
    hasIssued: async (lease, leaf) => (await issuer?.hasIssued(lease, leaf)) === true,
    close: async () => {
      server.close()
      await Promise.all([recovery.close(), issuer?.close()])
    },
  }
}

interface RoutingParts {
  recovery: SignerRecovery
  writer: BodyWriter
  rateLimits: RateLimits
  /** Undefined where discovery is off. */
  go: GoHandlers | undefined
  /** Issues certificates for sites; undefined where the relay issues none. */
  issuer: SiteCertificateIssuer | undefined
}

function createRouting(
  parts: ControlPlaneParts,
  { recovery, writer, rateLimits, issuer, go }: RoutingParts,
): Routing {
  const { settings, state, clientAddresses, visitors, counters, dataPlane, datagrams, workers, log } = parts
  const { leases, policy, audit, certificates, certificateStatuses, credentials, writeHealth } = state
  const unauthenticated = unauthenticatedMemory(raisedBy(settings.rateLimits))
  const siteCertificates = new SiteCertificates({
    rootHost: settings.rootHost,
    issuer,
    policy,
    rateLimits,
    leases,
    durable: () => state.journal.durable(),
  })
  const { staticCache, payment } = parts
  const settled = (): Promise<void> => workers.settled()
  const cacheParts = { credentials, policy, clientAddresses, rateLimits, settled }
  const problems = (): string[] => [...writeHealth.problems, ...datagrams.endpoint.problems]
  return createRouter({
    origin: settings.url.origin,
    releaseVersion: RELEASE_VERSION,
    installDir: settings.installDir,
    writer,
    clientAddresses,
    rateLimits,
    unauthenticated,
    public: new PublicApi(leases, policy, problems, parts.isClosing),
    adminAuth: new AdminAuth(settings.adminToken, log),
    admin: new AdminApi(
      policy,
      audit,
      {
        counters,
        visitors,
        leases,
        certificateStatuses,
        storedSites: staticCache?.sites,
        payment,
        cluster: parts.cluster?.readings,
      },
      parts.cluster?.policyChanges,
    ),
    sdk: createSdkApi(parts, {
      recovery,
      rateLimits,
      challenges:
        parts.cluster?.challenges(unauthenticated) ??
        new Challenges(settings.host, unauthenticated, settings.rateLimits),
      extensions: [
        ...(siteCertificates.isOffered ? (['site_certificate'] as const) : []),
        ...(parts.hops ? (['hop_routes'] as const) : []),
        ...(parts.discovery ? (['site_statement'] as const) : []),
      ],
    }),
    credentials,
    signer: new KeylessSigner(
      settings.rootHost,
      certificates,
      parts.cluster?.spend ?? ((...claim) => dataPlane.bindings.spend(...claim) || workers.spend(...claim)),
    ),
    certificates,
    siteCertificates,
    rootHost: settings.rootHost,
    discovery: parts.discovery,
    siteQuestion: go?.siteQuestion,
    hops: parts.hops,
    payment,
    staticCache: staticCache && ((bodies) => staticCache.createHandlers({ ...cacheParts, bodies })),
  })
}

function createSdkApi(
  {
    settings,
    state,
    ports,
    workers,
    dns,
    staticCache,
    payment,
    discovery,
    gateways,
    sharing,
  }: ControlPlaneParts,
  parts: Pick<SdkApiParts, 'recovery' | 'rateLimits' | 'challenges' | 'extensions'>,
): SdkApi {
  const { leases, journal, credentials, policy, identity } = state
  const features: OptionalFeatures = {
    ...noOptionalFeatures(identity.address),
    cache: () => staticCache?.limits,
    ...(payment && { x402: () => payment.info }),
    discovery: () => discovery && true,
    downloads: async () => (await hasDownloads(settings.installDir)) || undefined,
  }
  return new SdkApi({
    ...parts,
    leases,
    durable: () => journal.durable(),
    // An SDK must not come with a token to a process that does not know its lease yet.
    settled: () => workers.settled(),
    sharing,
    credentials,
    policy,
    ports,
    host: settings.host,
    tunnelAddress:
      settings.portHost === undefined
        ? undefined
        : authorityOf({ host: settings.portHost, port: settings.sniPort }),
    features: dns.ens === undefined ? features : { ...features, ens: dns.ens },
    gateways: gateways?.choice,
    releaseVersion: RELEASE_VERSION,
  })
}

function createRelayPages({ settings, state, discovery }: ControlPlaneParts, writer: BodyWriter): Handler {
  const { policy, certificates } = state
  return createPages({
    directory: settings.siteDir,
    hasLandingPage: () => policy.settings.landing_page_enabled,
    hasDiscovery: discovery !== undefined,
    authority: () => certificates.current.authority?.certificate,
    writer,
  })
}
