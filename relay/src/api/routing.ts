// Every endpoint: its path, its method and what answers it.

import type { IncomingMessage } from 'node:http'
import {
  ADMIN_BODY_MAX_BYTES,
  AUDIENCE,
  BODY_MAX_BYTES,
  HEADER,
  PATH,
  PEM_MEDIA_TYPE,
  SIGN_BODY_MAX_BYTES,
  type SignFailure,
  type SignRequest,
} from '@svc/protocol'
import type { Certificates } from '../certificates/store.ts'
import { RelayError } from '../errors.ts'
import { normalizeIp } from '../ip.ts'
import { SignError } from '../keyless/sign-error.ts'
import type { KeylessSigner } from '../keyless/signer.ts'
import type { Credentials } from '../lease/credentials.ts'
import { parseWith } from '../schema.ts'
import type { AdminApi } from './admin.ts'
import { readJson } from './body.ts'
import { sendData, sendJson } from './envelope.ts'
import type { PublicApi } from './public.ts'
import {
  adminLoginRequest,
  ipPolicyUpdate,
  leasePolicyUpdate,
  parseSignRequest,
  policySettings,
  registerChallengeRequest,
  registerRequest,
  renewRequest,
  reverseEndpointRequest,
  unregisterRequest,
} from './schemas.ts'
import type { SdkApi } from './sdk.ts'
import type { Handler, Routing } from './server.ts'

const CREATED = 201
const UNSUPPORTED_MEDIA_TYPE = 415

export interface Endpoints {
  public: PublicApi
  admin: AdminApi
  sdk: SdkApi
  credentials: Credentials
  signer: KeylessSigner
  certificates: Certificates
}

export function createRouting({
  public: open,
  admin,
  sdk,
  credentials,
  signer,
  certificates,
}: Endpoints): Routing {
  const asAdmin = (handler: Handler): Handler => {
    return (request, response) => {
      admin.require(request.headers.authorization)
      return handler(request, response)
    }
  }
  const adminBody = <T>(schema: Schema<T>, produce: (value: T) => unknown): Handler =>
    asAdmin(body(schema, produce, { maxBytes: ADMIN_BODY_MAX_BYTES }))
  return {
    [PATH.health]: { GET: data(() => open.health()) },
    [PATH.state]: { GET: data(() => open.state()) },
    [PATH.adminLogin]: {
      POST: body(adminLoginRequest, ({ token }, source) => admin.login(token, source), {
        maxBytes: ADMIN_BODY_MAX_BYTES,
      }),
    },
    [PATH.adminStatus]: { GET: data((request) => admin.status(request.headers.authorization)) },
    [PATH.adminLogout]: { POST: asAdmin(data(() => ({}))) },
    [PATH.policy]: {
      GET: asAdmin(data(() => admin.settings())),
      POST: adminBody(policySettings, (value) => admin.updateSettings(value)),
    },
    [PATH.policyState]: { GET: asAdmin(data(() => admin.state())) },
    [PATH.policyLeases]: { POST: adminBody(leasePolicyUpdate, (value) => admin.updateLease(value)) },
    [PATH.policyIps]: { POST: adminBody(ipPolicyUpdate, (value) => admin.updateIp(value)) },
    [PATH.domain]: { GET: data(() => sdk.domain()) },
    [PATH.registerChallenge]: {
      POST: body(registerChallengeRequest, (value, source) => sdk.challenge(value, source), {
        status: CREATED,
      }),
    },
    [PATH.register]: {
      POST: body(registerRequest, (value, source) => sdk.register(value, source), { status: CREATED }),
    },
    [PATH.renew]: { POST: body(renewRequest, (value, source) => sdk.renew(value, source)) },
    [PATH.reverse]: { POST: body(reverseEndpointRequest, (value) => sdk.reverse(value)) },
    [PATH.unregister]: { POST: body(unregisterRequest, (value) => sdk.unregister(value)) },
    [PATH.connect]: { GET: refuseWithoutUpgrade },
    [PATH.certificateChain]: { GET: pem(certificates.chainPem) },
    [PATH.sign]: { POST: sign(credentials, signer) },
  }
}

type Schema<T> = Parameters<typeof parseWith<T>>[0]

function data(produce: (request: IncomingMessage) => unknown): Handler {
  return (request, response) => sendData(response, produce(request))
}

function body<T>(
  schema: Schema<T>,
  produce: (value: T, source: string) => unknown,
  { status = 200, maxBytes = BODY_MAX_BYTES } = {},
): Handler {
  return async (request, response) => {
    const value = parseWith(schema, await readJson(request, maxBytes))
    sendData(response, await produce(value, sourceOf(request)), status)
  }
}

function pem(text: string): Handler {
  return (_request, response) => {
    response.writeHead(200, { 'Content-Type': PEM_MEDIA_TYPE, 'Content-Length': Buffer.byteLength(text) })
    response.end(text)
  }
}

const refuseWithoutUpgrade: Handler = () => {
  throw new RelayError('invalid_request', 'an upgrade to websocket is needed')
}

/** Outside the envelope, but for a bad lease token. */
function sign(credentials: Credentials, signer: KeylessSigner): Handler {
  return async (request, response) => {
    const lease = credentials.leaseOf(headerOf(request, HEADER.accessToken), AUDIENCE.lease)
    try {
      if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
        throw new SignError(UNSUPPORTED_MEDIA_TYPE, 'the body must be application/json')
      sendJson(response, 200, signer.sign(await readSignRequest(request), lease))
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

function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name.toLowerCase()]
  return typeof value === 'string' ? value : ''
}

function sourceOf(request: IncomingMessage): string {
  const address = request.socket.remoteAddress ?? ''
  return normalizeIp(address) ?? address
}
