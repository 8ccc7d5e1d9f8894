// The router: it gives each endpoint of the table its handler.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { HEADER, NEIGHBOUR_UPGRADE, PATH, type SignFailure, type SignRequest } from '@svc/protocol'
import type { Running } from '../../feature.ts'
import type { LeaseCredentials } from '../auth/lease-authorizer.ts'
import type { CertificateRotation } from '../certificates/certificate-rotation.ts'
import { LeaseCertificates, requireWildcard } from '../certificates/lease-certificate.ts'
import type { ClientAddresses } from '../client-address/client-addresses.ts'
import { parseWith } from '../config/schema.ts'
import { RelayError } from '../errors.ts'
import type { KeylessSigner } from '../keyless/keyless-signer.ts'
import { SignError } from '../keyless/sign-error.ts'
import type { Auditor } from '../policy/audit-log.ts'
import type { RateLimits } from '../rate-limit/client-rate-limits.ts'
import type { RequestMemory } from '../rate-limit/request-memory.ts'
import { noCapability, requireHttp11 } from '../reverse/connect-endpoint.ts'
import { type AnswerEndpoint, type ApiParts, createAnswer, routingOf } from './endpoint-handler.ts'
import { RequestBodies } from './endpoints/body-limits.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { ENDPOINTS, type EndpointName, SIGN_BODY } from './endpoints/endpoints.ts'
import { identityKeyQuery, signRequest } from './endpoints/request-schemas.ts'
import type { AdminApi } from './handlers/admin.ts'
import type { AdminAuth } from './handlers/admin-auth.ts'
import { createDisabledFeatures } from './handlers/disabled-features.ts'
import type { PublicApi } from './handlers/public.ts'
import type { SdkApi } from './handlers/sdk.ts'
import { createSdkFiles } from './handlers/sdk-files.ts'
import { type BodyWriter, piecesOf } from './http/body-writer.ts'
import { sendJson } from './http/envelope.ts'
import { ListCache } from './http/list-cache.ts'
import { sendList } from './http/list-response.ts'
import { cursorOf } from './http/pagination.ts'
import { type BodyLimits, readJson } from './http/read-body.ts'
import { headerOf } from './http/request.ts'
import type { Handler, Routing } from './http/server.ts'

const UNSUPPORTED_MEDIA_TYPE = 415

export interface Parts {
  /** Origin of the relay's URL. */
  origin: string
  releaseVersion: string
  writer: BodyWriter
  clientAddresses: ClientAddresses
  rateLimits: RateLimits
  /** Memory of requests without a credential. */
  unauthenticated: RequestMemory
  public: PublicApi
  adminAuth: AdminAuth
  admin: AdminApi
  sdk: SdkApi
  credentials: LeaseCredentials
  signer: KeylessSigner
  certificates: CertificateRotation
  rootHost: string
  /** What features add to the API. */
  features: Iterable<Running>
}

/** The routes of the API, and what features make their handlers with. */
export interface Router {
  routing: Routing
  api: ApiParts
}

export function createRouter({
  public: open,
  adminAuth,
  admin,
  sdk,
  credentials,
  signer,
  certificates,
  rootHost,
  features,
  origin,
  releaseVersion,
  writer,
  clientAddresses,
  rateLimits,
  unauthenticated,
}: Parts): Router {
  const bodies = new RequestBodies(credentials, unauthenticated)
  const answer = createAnswer({ clientAddresses, adminAuth, rateLimits, bodies })
  const pages = <Data>(endpoint: Endpoint<undefined, Data>, produce: (after: string) => Data): Handler => {
    const cache = new ListCache(produce)
    return async (request, response) => {
      const source = clientAddresses.ofRequest(request)
      if (endpoint.auth === 'admin') adminAuth.require(request.headers.authorization, source)
      await sendList(writer, request, response, cache.take(cursorOf(request)), endpoint.isKept === true)
    }
  }
  const parts: ApiParts = { answer, bodies, writer, clientAddresses, credentials, rateLimits }
  const added = [...features]
  const described = Object.assign({}, ENDPOINTS, ...added.map(({ endpoints }) => endpoints))
  const handlers: Record<EndpointName, Handler> = {
    openapi: description(writer, origin, described),
    health: answer(ENDPOINTS.health, () => open.health()),
    state: pages(ENDPOINTS.state, (after) => open.state(after)),
    ...adminHandlers(answer, pages, { adminAuth, admin }),
    ...sdkHandlers(answer, sdk),
    connect: refuseWithoutUpgrade,
    certificateChain: certificateChain(rootHost, certificates, credentials),
    neighbour: refuseNeighbour,
    sign: sign(credentials, signer, bodies),
    ...createDisabledFeatures({ answer, credentials }),
  }
  Object.assign(handlers, ...added.map((feature) => feature.handlers?.(parts)))
  const routing: Routing = {
    ...createSdkFiles({ origin, release: releaseVersion, writer }),
    ...routingOf(ENDPOINTS, handlers),
  }
  return { api: parts, routing: Object.assign(routing, ...added.map((feature) => feature.routes?.(parts))) }
}

type AnswerPages = <Data>(endpoint: Endpoint<undefined, Data>, produce: (after: string) => Data) => Handler

function adminHandlers(
  answer: AnswerEndpoint,
  pages: AnswerPages,
  { adminAuth, admin }: Pick<Parts, 'adminAuth' | 'admin'>,
) {
  const api = ENDPOINTS
  return {
    adminLogin: answer(api.adminLogin, ({ body, source }) => adminAuth.login(body.token, source)),
    adminStatus: answer(api.adminStatus, ({ authorization, source }) =>
      adminAuth.status(authorization, source),
    ),
    adminLogout: answer(api.adminLogout, () => ({})),
    adminLoad: answer(api.adminLoad, () => admin.load()),
    adminCertificates: answer(api.adminCertificates, () => admin.certificates()),
    policy: answer(api.policy, () => admin.settings()),
    updatePolicy: answer(api.updatePolicy, ({ body, ...who }) => admin.updateSettings(body, auditorOf(who))),
    policyState: pages(api.policyState, (after) => admin.state(after)),
    updateLease: answer(api.updateLease, ({ body, ...who }) => admin.updateLease(body, auditorOf(who))),
    policyLease: answer(api.policyLease, ({ url }) => admin.lease(identityKeyIn(url))),
    updateLeases: answer(api.updateLeases, ({ body, ...who }) => admin.updateLeases(body, auditorOf(who))),
    updateIp: answer(api.updateIp, ({ body, ...who }) => admin.updateIp(body, auditorOf(who))),
    updateRelay: answer(api.updateRelay, ({ body, ...who }) => admin.updateRelay(body, auditorOf(who))),
    updateDomain: answer(api.updateDomain, ({ body, ...who }) => admin.updateDomain(body, auditorOf(who))),
    policyNames: answer(api.policyNames, () => admin.names()),
    updateName: answer(api.updateName, ({ body, ...who }) => admin.updateName(body, auditorOf(who))),
    administrators: answer(api.administrators, () => admin.administrators()),
    addAdministrator: answer(api.addAdministrator, ({ body, ...who }) =>
      admin.addAdministrator(body, auditorOf(who)),
    ),
    removeAdministrator: answer(api.removeAdministrator, ({ body, ...who }) =>
      admin.removeAdministrator(body, auditorOf(who)),
    ),
    invitations: answer(api.invitations, () => admin.invitations()),
    addInvitation: answer(api.addInvitation, ({ body, ...who }) => admin.addInvitation(body, auditorOf(who))),
    withdrawInvitation: answer(api.withdrawInvitation, ({ body, ...who }) =>
      admin.withdrawInvitation(body, auditorOf(who)),
    ),
    policyDecisions: pages(api.policyDecisions, (after) => admin.decisions(after)),
    policyChanges: answer(api.policyChanges, () => admin.changes()),
    audit: answer(api.audit, ({ url }) => admin.audit(cursorOf({ url }))),
  }
}

function auditorOf({ source, by }: { source: string; by: string }): Auditor {
  return { address: source, by }
}

function sdkHandlers(answer: AnswerEndpoint, sdk: SdkApi) {
  const api = ENDPOINTS
  return {
    domain: answer(api.domain, () => sdk.domain()),
    registerChallenge: answer(api.registerChallenge, ({ body, source }) => sdk.challenge(body, source)),
    register: answer(api.register, ({ body, source }) => sdk.register(body, source)),
    renew: answer(api.renew, ({ body, source }) => sdk.renew(body, source)),
    reverse: answer(api.reverse, ({ body, source }) => sdk.reverse(body, source)),
    unregister: answer(api.unregister, ({ body, source }) => sdk.unregister(body, source)),
  }
}

/** The query of {@link ENDPOINTS.policyLease}. @throws RelayError `invalid_request` when it is no identity key */
function identityKeyIn(url: string): string {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1))
  return parseWith(identityKeyQuery, { identity_key: query.get('identity_key') }).identity_key
}

/** The document is made for the first request: it takes as much time as a tenth of a start. */
function description(writer: BodyWriter, origin: string, endpoints: typeof ENDPOINTS): Handler {
  let made: Promise<Buffer> | undefined
  const make = async (): Promise<Buffer> => {
    const { describeApi } = await import('./endpoints/openapi.ts')
    return Buffer.from(JSON.stringify(describeApi(origin, endpoints)))
  }
  return async (request, response) => {
    made ??= make()
    const bytes = await made
    const headers = { 'Content-Type': `${ENDPOINTS.openapi.bare}`, 'Content-Length': `${bytes.length}` }
    await writer.send(request, response, {
      status: 200,
      headers,
      size: bytes.length,
      pieces: piecesOf(bytes),
    })
  }
}

function certificateChain(
  rootHost: string,
  certificates: CertificateRotation,
  credentials: LeaseCredentials,
): Handler {
  const ofLeases = new LeaseCertificates(rootHost, certificates)
  return bare(ENDPOINTS.certificateChain, (request) => {
    const token = headerOf(request, HEADER.accessToken)
    if (token !== '') return ofLeases.chainFor(credentials.leaseOf(token, 'lease'))
    requireWildcard(certificates.current)
    return certificates.current.chainPem
  })
}

function bare(
  { bare = '', status }: Endpoint<undefined, undefined>,
  produce: (request: IncomingMessage) => string | Promise<string>,
): Handler {
  return async (request, response) => {
    const text = await produce(request)
    response.writeHead(status, { 'Content-Type': bare, 'Content-Length': Buffer.byteLength(text) })
    response.end(text)
  }
}

export const refuseWithoutUpgrade: Handler = (request) => {
  requireHttp11(request)
  throw noCapability()
}

const refuseNeighbour: Handler = () => {
  throw new RelayError('invalid_request', `${PATH.neighbour} needs an upgrade to ${NEIGHBOUR_UPGRADE}`)
}

/** Responds without the envelope, except to an invalid lease token and to a lease over its memory limit. */
function sign(credentials: LeaseCredentials, signer: KeylessSigner, bodies: RequestBodies): Handler {
  return async (request, response) => {
    const lease = credentials.leaseOf(headerOf(request, HEADER.accessToken), 'lease')
    try {
      if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
        throw new SignError(UNSUPPORTED_MEDIA_TYPE, 'the body must be application/json')
      const bounds = bodies.limitsOfLease(SIGN_BODY, lease)
      sendJson(response, 200, await signer.sign(await readSignRequest(request, response, bounds), lease))
    } catch (error) {
      if (!(error instanceof SignError)) throw error
      sendJson(response, error.status, { error: error.message } satisfies SignFailure)
    }
  }
}

async function readSignRequest(
  request: IncomingMessage,
  response: ServerResponse,
  bounds: BodyLimits,
): Promise<SignRequest> {
  try {
    return parseWith(signRequest, await readJson(request, response, bounds))
  } catch (error) {
    if (error instanceof RelayError && error.code !== 'rate_limited') throw new SignError(400, error.message)
    throw error
  }
}
