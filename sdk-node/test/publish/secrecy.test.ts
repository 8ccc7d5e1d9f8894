// What stays with the client: a real relay writes down all that it reads and writes, and its own TLS is removed there.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { beforeAll, expect, it } from 'vitest'
import { type Capture, occurs, readTap } from '../../../tools/network/captured-streams.ts'
import { startTestRelay } from '../../../tools/relay/test-relay.ts'
import { publish } from '../../src/index.ts'

const TAP = join(import.meta.dirname, '../../../tools/network/stream-tap.ts')

const identity: Uint8Array<ArrayBuffer> = Uint8Array.from(randomBytes(32))
const secrets = new Map<string, Buffer>()
/** Whether each visit resumed the session of the one before. */
const resumed: boolean[] = []
let tap: Capture

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'svc-secrecy-'))
  const env = { SVC_TAP_FILE: join(directory, 'tap') }
  const relay = await startTestRelay({ env, execArgv: ['--import', TAP] })
  const ca = await readFile(relay.caFile, 'utf8')
  const site = await publish({
    relay: relay.url,
    ca,
    name: 'secret',
    identity,
    certificate: 'shared',
    tls: {
      onSecret: (label, clientRandom, secret) =>
        void secrets.set(`${label} ${Buffer.from(clientRandom).toString('hex')}`, Buffer.from(secret)),
    },
    fetch: () => new Response('hello'),
  })
  let session: Buffer | undefined
  for (let visits = 0; visits < 2; visits += 1) {
    const [isReused, ticket] = await visit(new URL(site.url), ca, session)
    resumed.push(isReused)
    session = ticket
  }
  await site.close()
  await relay.stop()
  tap = readTap(env.SVC_TAP_FILE)
  await rm(directory, { recursive: true })
})

/** @returns whether the visit resumed `session`, and a session for the next one */
async function visit(
  { hostname, port }: URL,
  ca: string,
  session: Buffer | undefined,
): Promise<[boolean, Buffer]> {
  const socket: TLSSocket = connect({
    host: '127.0.0.1',
    port: Number(port),
    servername: hostname,
    ca,
    ...(session && { session }),
  })
  const ticket = once(socket, 'session')
  const isReused = once(socket, 'secureConnect').then(() => socket.isSessionReused())
  socket.end(`GET / HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`)
  expect(String(Buffer.concat(await socket.toArray()))).toMatch(/hello$/)
  return [await isReused, (await ticket)[0]]
}

const streams = (): Buffer[] => [...tap.in, ...tap.out]
const countOf = (text: string): number => Buffer.concat(tap.in).toString('latin1').split(text).length - 1

it('the key of the identity never reaches the relay (protocol §3.1.8)', () => {
  expect(countOf('siwe_signature')).toBeGreaterThan(0)
  expect(occurs(Buffer.from(identity), streams())).toBe(false)
})

it('traffic secrets stay with the client, and resumption asks for no signature (protocol §10.2.4)', () => {
  expect(resumed).toEqual([false, true])
  expect(countOf('POST /v1/sign ')).toBe(1)
  expect(secrets.size).toBeGreaterThanOrEqual(8)
  for (const [label, secret] of secrets) expect(occurs(secret, streams()), label).toBe(false)
})
