// What answers each endpoint of the table.

import type { IncomingMessage } from 'node:http'
import { AUDIENCE, HEADER, SIGN_BODY_MAX_BYTES, type SignFailure, type SignRequest } from '@svc/protocol'
import type { Budgets } from '../budget/budgets.ts'
import { OwnCertificates } from '../certificates/own.ts'
import type { CertificateRotation } from '../certificates/rotation.ts'
import { RelayError } from '../errors.ts'
import { SignError } from '../keyless/sign-error.ts'
import type { KeylessSigner } from '../keyless/signer.ts'
import type { Credentials } from '../lease/credentials.ts'
import { noCapability, requireHttp11 } from '../reverse/connect.ts'
import { parseWith } from '../schema.ts'
import type { Sources } from '../source/sources.ts'
import type { AdminApi } from './admin.ts'
import { readJson } from './body.ts'
import { ENDPOINTS, type Endpoint, type EndpointName } from './endpoints.ts'
import { sendData, sendJson, sendKept } from './envelope.ts'
import { createInstaller } from './install.ts'
import { describeApi } from './openapi.ts'
import type { PublicApi } from './public.ts'
import { headerOf } from './request.ts'
import { parseSignRequest } from './schemas.ts'
import type { SdkApi } from './sdk.ts'
import type { Handler, Routing } from './server.ts'
import { createUnavailable } from './unavailable.ts'

const UNSUPPORTED_MEDIA_TYPE = 415

export interface Parts {
  /** Of the relay's URL. */
  origin: string
  releaseVersion: string
  /** What the installer serves, if there is one. */
  installDir: string | undefined
  sources: Sources
  budgets: Budgets
  public: PublicApi
  admin: AdminApi
  sdk: SdkApi
  credentials: Credentials
  signer: KeylessSigner
  certificates: CertificateRotation
}

export function createRouting({
  public: open,
  admin,
  sdk,
  credentials,
  signer,
  certificates,
  origin,
  releaseVersion,
  installDir,
  sources,
  budgets,
}: Parts): Routing {
  const answer = <Body, Data>(
    { auth, cost, body, bodyMaxBytes, status, isKept }: Endpoint<Body, Data>,
    produce: (call: Call<Body>) => Data | Promise<Data>,
  ): Handler => {
    return async (request, response) => {
      const { authorization } = request.headers
      if (auth === 'admin') admin.require(authorization)
      // Before the body is read: a connection that breaks meanwhile has no address any more.
      const source = sources.ofRequest(request)
      if (cost !== undefined) budgets.charge(source, cost)
      const value = body && parseWith(body, await readJson(request, bodyMaxBytes))
      const call = { body: value as Body, source, authorization }
      if (isKept) sendKept(request, response, await produce(call))
      else sendData(response, await produce(call), status)
    }
  }
  const api = ENDPOINTS
  const ownCertificates = new OwnCertificates(certificates)
  const description = JSON.stringify(describeApi(origin))
  const handlers: Record<EndpointName, Handler> = {
    openapi: bare(api.openapi, () => description),
    health: answer(api.health, () => open.health()),
    state: answer(api.state, () => open.state()),
    adminLogin: answer(api.adminLogin, ({ body, source }) => admin.login(body.token, source)),
    adminStatus: answer(api.adminStatus, ({ authorization }) => admin.status(authorization)),
    adminLogout: answer(api.adminLogout, () => ({})),
    adminLoad: answer(api.adminLoad, () => admin.load()),
    policy: answer(api.policy, () => admin.settings()),
    updatePolicy: answer(api.updatePolicy, ({ body }) => admin.updateSettings(body)),
    policyState: answer(api.policyState, () => admin.state()),
    updateLease: answer(api.updateLease, ({ body }) => admin.updateLease(body)),
    updateIp: answer(api.updateIp, ({ body }) => admin.updateIp(body)),
    policyDecisions: answer(api.policyDecisions, () => admin.decisions()),
    policyChanges: answer(api.policyChanges, () => admin.changes()),
    domain: answer(api.domain, () => sdk.domain()),
    registerChallenge: answer(api.registerChallenge, ({ body, source }) => sdk.challenge(body, source)),
    register: answer(api.register, ({ body, source }) => sdk.register(body, source)),
    renew: answer(api.renew, ({ body, source }) => sdk.renew(body, source)),
    reverse: answer(api.reverse, ({ body, source }) => sdk.reverse(body, source)),
    unregister: answer(api.unregister, ({ body, source }) => sdk.unregister(body, source)),
    connect: refuseWithoutUpgrade,
    certificateChain: bare(api.certificateChain, (request) => {
      const token = headerOf(request, HEADER.accessToken)
      if (token === '') return certificates.current.chainPem
      return ownCertificates.chainFor(credentials.leaseOf(token, AUDIENCE.lease))
    }),
    sign: sign(credentials, signer),
  }
  const routing: Routing = {
    ...createInstaller(installDir, releaseVersion),
    ...createUnavailable(credentials),
  }
  for (const name of Object.keys(handlers) as EndpointName[]) {
    const { path, method, isKept } = ENDPOINTS[name]
    // of an answer to HEAD, Node leaves the body out
    const methods = isKept ? [method, 'HEAD'] : [method]
    for (const each of methods) routing[path] = { ...routing[path], [each]: handlers[name] }
  }
  return routing
}

/** What a handler gets to see of a request. */
interface Call<Body> {
  body: Body
  /** Normalized address of the client. */
  source: string
  authorization: string | undefined
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

/** Outside the envelope, but for a bad lease token. */
function sign(credentials: Credentials, signer: KeylessSigner): Handler {
  return async (request, response) => {
    const lease = credentials.leaseOf(headerOf(request, HEADER.accessToken), AUDIENCE.lease)
    try {
      if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
        throw new SignError(UNSUPPORTED_MEDIA_TYPE, 'the body must be application/json')
      sendJson(response, 200, await signer.sign(await readSignRequest(request), lease))
    } catch (error) {
      if (!(error instanceof SignError)) throw error
      sendJson(response, error.status, { error: error.message } satisfies SignFailure)
    }
  }
}

async function readSignRequest(request: IncomingMessage): Promise<SignRequest> {
  try {
    return parseSignRequest(await readJson(request, SIGN_BODY_MAX_BYTES))
  } catch (error) {
    if (error instanceof RelayError) throw new SignError(400, error.message)
    throw error
  }
}
