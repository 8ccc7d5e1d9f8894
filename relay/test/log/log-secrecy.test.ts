// The log of a relay that everything happened to, at its most talkative: it tells what, and no secret of anybody.

import { randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { RegisterChallengeResponse, RegisterResponse } from '@svc/protocol'
import { beforeAll, describe, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { createLog } from '../../src/core/log/log.ts'
import { connectWebSocket, openCarrier } from '../support/carrier.ts'
import { helloOfRecords } from '../support/handshake.ts'
import { type Answer, newAccount, startTestRelay } from '../support/relay.ts'
import { genuine, sign } from '../support/sign.ts'

const ADMIN_TOKEN = `admin-${randomBytes(16).toString('hex')}`
/** Everything that must not be in the log, and what it is. */
const secrets = new Map<string, Buffer | string>([['the admin token', ADMIN_TOKEN]])
let log = ''
let failed: Answer

const relay = useStarted(() =>
  startTestRelay({ ADMIN_TOKEN }, { log: createLog('trace', { write: (line) => (log += line) }) }),
)
beforeAll(async () => {
  const lease = await registerByHand()
  await relay.call('POST', '/sdk/renew', { access_token: lease.access_token })
  await relay.call('POST', '/sdk/reverse', { access_token: lease.access_token })
  await visit(lease)
  await administrate()
  await sendNonsense(lease)
  for (const name of ['identity.json', 'privatekey.pem', 'ca-key.pem']) await hideKey(name)
  failed = await failToAnswer()
  await relay.stop({ drainMs: 500 })
})

async function registerByHand(): Promise<RegisterResponse> {
  const account = newAccount()
  const identity = { name: 'quiet', address: account.address }
  const { json } = await relay.call('POST', '/sdk/register/challenge', { identity })
  const { challenge_id, siwe_message } = json.data as RegisterChallengeResponse
  const siwe_signature = await account.signMessage({ message: siwe_message })
  const request = { challenge_id, siwe_message, siwe_signature }
  const registered = await relay.call('POST', '/sdk/register', request)
  await relay.call('POST', '/sdk/register', request)
  const lease = registered.json.data as RegisterResponse
  secrets.set('the SIWE signature', siwe_signature.slice(2))
  // Its times are no secret: each line of the log has the time, too, and now and then the same.
  secrets.set('the nonce of the SIWE message', /^Nonce: (.+)$/m.exec(siwe_message)![1]!)
  keep('lease token', lease.access_token)
  keep('capability', lease.reverse_endpoint.capability)
  return lease
}

/** A token, and its signature alone: with that the rest can be composed. */
function keep(what: string, token: string): void {
  secrets.set(`the ${what}`, token)
  secrets.set(`the signature of the ${what}`, token.split('.')[2]!)
}

/** A visitor whose handshake is signed, once wrongly, once rightly; then bytes of his reach the page, and its bytes him. */
async function visit(lease: RegisterResponse): Promise<void> {
  const carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
  const { stream, read } = await carrier.open(lease.reverse_endpoint.capability)
  await read(1)
  const visitor = await relay.tcp()
  const records = await captureHello(lease.hostname)
  visitor.write(records)
  await read(1)
  const binding = await read(16)
  await read(records.length)
  const chain = [new X509Certificate(await readFile(join(relay.directory, 'fullchain.pem'))).raw]
  const clientHello = helloOfRecords(records)
  const request = genuine({ binding, clientHello }, chain)
  await sign(relay, lease.access_token, { ...request, server_hello: request.certificate })
  const signed = await sign(relay, lease.access_token, request)
  expect(signed.status).toBe(200)
  secrets.set('the binding', binding)
  secrets.set('the signature', (signed.json as unknown as { signature: string }).signature)
  secrets.set("the client's random", clientHello.subarray(6, 38))
  const [asked, answered] = [randomBytes(64), randomBytes(64)]
  secrets.set('what a visitor sent', asked).set('what the page sent', answered)
  await stream.write(answered)
  await once(visitor, 'data')
  visitor.write(asked)
  await read(asked.length)
  carrier.session.close()
}

async function administrate(): Promise<void> {
  const wrong = randomBytes(16).toString('hex')
  secrets.set('a wrong admin token', wrong)
  await relay.call('POST', '/api/admin/auth/login', { token: ADMIN_TOKEN })
  await relay.call('POST', '/api/admin/auth/login', { token: wrong })
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` }
  await relay.call('POST', '/api/policy/ips', { ip: '203.0.113.7', is_banned: true }, headers)
  await relay.call('GET', '/api/policy/state', undefined, { Authorization: `Bearer ${wrong}` })
}

async function sendNonsense({ access_token, reverse_endpoint }: RegisterResponse): Promise<void> {
  const mark = randomBytes(16).toString('hex')
  secrets.set('what a client made up', mark)
  await relay.call('POST', '/sdk/renew', `{"access_token":"${access_token}",`)
  await relay.call('POST', '/sdk/renew', { access_token: 7, [mark]: mark })
  await relay.call('POST', '/sdk/renew', { access_token: `${access_token}${mark}` })
  await relay.call('GET', `/sdk/${mark}?access_token=${access_token}`, undefined, { 'X-Request-Id': mark })
  await relay.call(mark.toUpperCase().replace(/\d/g, ''), '/sdk/renew').catch(() => {})
  const refused = connectWebSocket(relay, ['svc.reverse.v1', `${reverse_endpoint.capability}${mark}`])
  await new Promise((resolve) => refused.once('close', resolve))
  const socket = await relay.tcp()
  socket.resume().end(`GET /${mark} HTTP/1.1\r\n\r\n`)
  await once(socket, 'close')
}

async function hideKey(name: string): Promise<void> {
  const text = await readFile(join(relay.directory, name), 'utf8')
  const key = name.endsWith('.json') ? JSON.parse(text).private_key.slice(2) : text.split('\n')[1]!
  secrets.set(`the key of ${name}`, key)
}

/** What was promised is on disk: where it cannot be written there is no promise. */
async function failToAnswer(): Promise<Answer> {
  const inTheWay = join(relay.directory, 'policy.json.svc-tmp')
  await mkdir(inTheWay)
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` }
  const answer = await relay.call('POST', '/api/policy/ips', { ip: '203.0.113.8', is_banned: true }, headers)
  await rmdir(inTheWay)
  return answer
}

function lines(): Record<string, unknown>[] {
  return log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe('the log', () => {
  test('tells of each request under the id that its answer bears, and names no client-made path', () => {
    const requests = lines().filter(({ msg }) => msg === 'request')
    expect(requests).toContainEqual(
      expect.objectContaining({ method: 'POST', route: '/sdk/register', status: 201 }),
    )
    expect(requests).toContainEqual(expect.objectContaining({ route: 'pages', status: 404 }))
    expect(requests).toContainEqual(expect.objectContaining({ route: '/sdk/connect', status: 101 }))
    expect(new Set(requests.map(({ request }) => request)).size).toBe(requests.length)
  })

  test('an answer with 500 names the request under which the log has the cause (protocol §2.1.8)', () => {
    const id = failed.headers['x-request-id'] as string
    expect(failed).toMatchObject({ status: 500, json: { error: { code: 'internal' } } })
    expect(failed.text).toContain(`and nothing has changed; its log has the reason for request ${id}`)
    expect(lines()).toContainEqual(
      expect.objectContaining({ level: 50, request: id, err: expect.objectContaining({ code: 'EISDIR' }) }),
    )
  })

  test('tells visitors apart', () => {
    const visitors = lines().filter(({ msg }) => msg === 'visitor came' || msg === 'visitor left')
    expect(visitors).toEqual([
      expect.objectContaining({ conn: 1, hostname: 'quiet.relay.localhost' }),
      expect.objectContaining({ conn: 1, received: expect.any(Number), sent: 64 }),
    ])
  })

  test('holds no secret, in whatever form', () => {
    expect(secrets.size).toBeGreaterThanOrEqual(14)
    for (const [what, secret] of secrets) {
      for (const form of formsOf(secret)) expect(log.includes(form), what).toBe(false)
    }
  })
})

function formsOf(secret: Buffer | string): string[] {
  if (typeof secret !== 'string')
    return (['hex', 'base64', 'base64url', 'latin1'] as const).map((encoding) => secret.toString(encoding))
  // Half of a secret is as bad.
  return [secret.slice(0, secret.length / 2), secret.slice(-secret.length / 2)].filter(
    (half) => half.length > 7,
  )
}
