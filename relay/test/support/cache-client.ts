// A client of `/sdk/cache`: whole uploads, uploads that stop in the middle, and visitors of stored files.

import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { RegisterResponse, StaticCacheManifest, StaticCacheStatus } from '@svc/protocol'
import { bodyOf, CONTENT_TYPE, type TestFiles, uploadOf } from './multipart-body.ts'
import { type Answer, ROOT_HOST, type TestClient } from './relay.ts'

const PATH = '/sdk/cache'
const DEADLINE_MS = 60_000

type Token = Pick<RegisterResponse, 'access_token'>

export interface OpenRequest {
  request: ClientRequest
  /** Never rejects while the relay answers. */
  answer: Promise<Answer>
}

export async function put(relay: TestClient, lease: Token, files: TestFiles): Promise<Answer> {
  return await putBody(relay, lease, bodyOf(uploadOf(files)))
}

export async function putBody(
  relay: TestClient,
  lease: Token,
  body: Buffer,
  contentType = CONTENT_TYPE,
): Promise<Answer> {
  const { request, answer } = openRequest(relay, 'PUT', lease, {
    'Content-Type': contentType,
    'Content-Length': `${body.length}`,
  })
  request.end(body)
  return await answer
}

/** Begins an upload, and sends its first half. */
export async function beginPut(relay: TestClient, lease: Token, files: TestFiles): Promise<OpenRequest> {
  const body = bodyOf(uploadOf(files))
  const opened = openRequest(relay, 'PUT', lease, {
    'Content-Type': CONTENT_TYPE,
    'Content-Length': `${body.length}`,
  })
  await new Promise((sent) => opened.request.write(body.subarray(0, body.length / 2), sent))
  return opened
}

/** Begins a request whose body the caller sends. */
export function openRequest(
  { port, ca }: TestClient,
  method: string,
  { access_token }: Token,
  headers: Record<string, string>,
): OpenRequest {
  const request = httpsRequest({
    host: '127.0.0.1',
    servername: ROOT_HOST,
    port,
    ca,
    method,
    path: PATH,
    headers: { Host: `${ROOT_HOST}:${port}`, 'X-Svc-Access-Token': access_token, ...headers },
    agent: false,
  })
  const answer = answerOf(request)
  // Tests that end the request themselves do not wait for it.
  answer.catch(() => {})
  return { request, answer }
}

export function post(relay: TestClient, lease: Token, manifest: StaticCacheManifest): Promise<Answer> {
  return relay.call('POST', PATH, manifest, { 'X-Svc-Access-Token': lease.access_token })
}

export function remove(relay: TestClient, lease: Token): Promise<Answer> {
  return relay.call('DELETE', PATH, undefined, { 'X-Svc-Access-Token': lease.access_token })
}

export function statusOf({ status, json, text }: Answer): StaticCacheStatus {
  if (status !== 200) throw new Error(text)
  return json.data as unknown as StaticCacheStatus
}

/** The answer to a visitor; undefined when the relay does not end TLS for the hostname. */
export async function visit(
  { port, ca }: TestClient,
  { canonical_hostname: host }: Pick<RegisterResponse, 'canonical_hostname'>,
  path = '/',
): Promise<Answer | undefined> {
  const request = httpsRequest({
    host: '127.0.0.1',
    servername: host,
    port,
    ca,
    path,
    // Visitors name the port of the load balancer, which is not that of a machine; without one, the site is meant.
    headers: { Host: host },
    agent: false,
    signal: AbortSignal.timeout(DEADLINE_MS),
  })
  request.end()
  return await answerOf(request).catch((error: NodeJS.ErrnoException) => {
    if (error.message.includes('unrecognized name')) return undefined
    throw error
  })
}

async function answerOf(request: ClientRequest): Promise<Answer> {
  // The relay may answer and close before the whole body is sent.
  const [response] = (await Promise.race([
    once(request, 'response'),
    new Promise((_resolve, reject) => request.once('error', reject)),
  ])) as [IncomingMessage]
  request.on('error', () => {})
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  const isJson = response.headers['content-type'] === 'application/json'
  return {
    status: response.statusCode!,
    headers: response.headers,
    text,
    json: (isJson ? JSON.parse(text) : {}) as Answer['json'],
  }
}
