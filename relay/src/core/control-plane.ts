// The root host: the API with its endpoints for SDKs, administrators and the public, the carriers, and the relay's pages.

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { DomainResponse } from '@svc/protocol'
import type { Running } from '../feature.ts'
import { createSiteCertificateIssuer } from '../features/site-certificates/issuer.ts'
import type { SiteCertificateIssuer } from '../features/site-certificates/site-certificate-issuer.ts'
import type { Primary } from '../lifecycle/primary.ts'
import { AdminApi } from './api/handlers/admin.ts'
import { AdminAuth } from './api/handlers/admin-auth.ts'
import { createPages } from './api/handlers/built-in-pages.ts'
import { PublicApi } from './api/handlers/public.ts'
import { type GatewayChoice, SdkApi, type SdkApiParts } from './api/handlers/sdk.ts'
import { SiteCertificates } from './api/handlers/site-certificates.ts'
import { BodyWriter } from './api/http/body-writer.ts'
import { RequestLog } from './api/http/request-log.ts'
import { createApiServer, type Handler } from './api/http/server.ts'
import { createRouter, type Router } from './api/router.ts'
import { Challenges } from './auth/challenges.ts'
import { SignerRecovery } from './auth/signer-recovery.ts'
import { networkOf } from './client-address/ip-address.ts'
import { authorityOf } from './config/cluster-settings.ts'
import { KeylessSigner } from './keyless/keyless-signer.ts'
import type { Lease } from './lease/lease.ts'
import type { LeaseSharing } from './lease/lease-sharing.ts'
import type { SharedReadBuffer } from './node-internals/shared-read-buffer.ts'
import { raisedBy } from './rate-limit/budgets.ts'
import { RateLimits } from './rate-limit/client-rate-limits.ts'
import { unauthenticatedMemory } from './rate-limit/request-memory.ts'
import { ConnectEndpoint } from './reverse/connect-endpoint.ts'
import { RELEASE_VERSION } from './version.ts'

interface ControlPlaneParts extends Primary {
  /** Makes carriers cheaper to read; undefined where this Node does not support it. */
  readBuffer: SharedReadBuffer | undefined
  /** The features that run. */
  features: Iterable<Running>
  /** The other machines; undefined where the relay is one machine. */
  sharing?: LeaseSharing | undefined
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
  const features = [...parts.features]
  const gateways = features.find((feature) => feature.gateways !== undefined)?.gateways
  const connect = new ConnectEndpoint(
    credentials,
    policy,
    counters,
    clientAddresses,
    parts.readBuffer,
    gateways?.gateway,
  )
  gateways?.serve(connect)
  const writer = new BodyWriter((request) => networkOf(clientAddresses.ofRequest(request)))
  const rateLimits = new RateLimits(settings.rateLimits, (clientIp) =>
    features.some((feature) => feature.isPeer?.(clientIp) === true),
  )
  const { routing, api } = createRouting(parts, {
    recovery,
    writer,
    rateLimits,
    issuer,
    choice: gateways?.choice,
  })
  const domain = await domainOf(features)
  const neighbours = features.find((feature) => feature.neighbours !== undefined)
  const server = createApiServer({
    rootHost: settings.rootHost,
    ownPorts: settings.ownPorts,
    certificates,
    clientAddresses,
    routing,
    connect,
    neighbours: neighbours?.neighbours?.(api),
    pages: features.reduce(
      (next, feature) => feature.pages?.(next, api) ?? next,
      createRelayPages(parts, writer, domain.discovery === true),
    ),
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
  /** Issues certificates for sites; undefined where the relay issues none. */
  issuer: SiteCertificateIssuer | undefined
  /** Chooses gateways for leases; undefined where the relay uses none. */
  choice: GatewayChoice | undefined
}

function createRouting(
  parts: ControlPlaneParts,
  { recovery, writer, rateLimits, issuer, choice }: RoutingParts,
): Router {
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
  const problems = (): string[] => [...writeHealth.problems, ...datagrams.endpoint.problems]
  const features = [...parts.features]
  return createRouter({
    origin: settings.url.origin,
    releaseVersion: RELEASE_VERSION,
    writer,
    clientAddresses,
    rateLimits,
    unauthenticated,
    public: new PublicApi(leases, policy, problems, parts.isClosing),
    adminAuth: new AdminAuth(settings.adminToken, log),
    admin: new AdminApi(
      policy,
      audit,
      { counters, visitors, leases, certificateStatuses, cluster: parts.cluster?.readings },
      parts.cluster?.policyChanges,
    ),
    sdk: createSdkApi(parts, {
      recovery,
      rateLimits,
      challenges:
        parts.cluster?.challenges(unauthenticated) ??
        new Challenges(settings.host, unauthenticated, settings.rateLimits),
      featuresOfDomain: () => domainOf(features),
      gateways: choice,
      extensions: [
        ...(siteCertificates.isOffered ? (['site_certificate'] as const) : []),
        ...features.flatMap(({ extensions = [] }) => extensions),
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
    features,
  })
}

/** What the features add to `GET /sdk/domain` at this moment. */
async function domainOf(features: readonly Running[]): Promise<Partial<DomainResponse>> {
  return Object.assign({}, ...(await Promise.all(features.map((feature) => feature.domain?.()))))
}

function createSdkApi(
  { settings, state, ports, workers, sharing }: ControlPlaneParts,
  parts: Pick<
    SdkApiParts,
    'recovery' | 'rateLimits' | 'challenges' | 'extensions' | 'featuresOfDomain' | 'gateways'
  >,
): SdkApi {
  const { leases, journal, credentials, policy, identity } = state
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
    relayAddress: identity.address,
    releaseVersion: RELEASE_VERSION,
  })
}

function createRelayPages(
  { settings, state }: ControlPlaneParts,
  writer: BodyWriter,
  hasDiscovery: boolean,
): Handler {
  const { policy, certificates } = state
  return createPages({
    directory: settings.siteDir,
    hasLandingPage: () => policy.settings.landing_page_enabled,
    hasDiscovery,
    authority: () => certificates.current.authority?.certificate,
    writer,
  })
}
