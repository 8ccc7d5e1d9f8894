// `expose` of real services, each with its own client: Redis and PostgreSQL at a port of their own, gRPC behind TLS.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { afterAll, afterEach, beforeAll, describe, it as every, expect } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { isListening } from '../../../tools/network/is-listening.ts'
import { findPostgres, findRedis } from '../../../tools/programs/services.ts'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import type { Exposure } from '../../src/index.ts'
import { exposeAt, TCP_PORTS, TCP_SETTINGS } from '../support/exposed.ts'
import { EchoClient, EchoServer } from '../support/grpc-echo.ts'
import { freePort, freeRange, startTestRelay } from '../support/relay.ts'

const it = wholeOnly(every, 'variant')

const relay = useStarted(async () => startTestRelay(TCP_SETTINGS(await freeRange(TCP_PORTS))))

let exposure: Exposure | undefined
let service: ChildProcess | undefined
afterEach(async () => {
  await exposure?.close()
  exposure = undefined
  if (!service) return
  const ended = once(service, 'exit')
  service.kill('SIGINT')
  await ended
  service = undefined
})

/** @returns the port at the relay where `port` is found */
async function exposeTcp(port: number): Promise<string> {
  await expect.poll(() => isListening(port)).toBe(true)
  exposure = await exposeAt(relay, { tcp: port })
  return exposure.sites[0]!.tcpAddress!.split(':').at(-1)!
}

describe.skipIf(findRedis() === undefined)('Redis', () => {
  it('at its own port, with its own client', async () => {
    const port = await freePort()
    const options = { save: '', appendonly: 'no', bind: '127.0.0.1', port: String(port) }
    service = spawn(
      'redis-server',
      Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
    )
    const publicPort = await exposeTcp(port)
    const ask = async (...args: string[]): Promise<string> =>
      output(spawn('redis-cli', ['-p', publicPort, ...args]))
    expect(await ask('SET', 'key', 'value')).toBe('OK')
    expect(await ask('GET', 'key')).toBe('value')
    expect(await ask('LPUSH', 'list', ...Array.from({ length: 500 }, String))).toBe('500')
    expect((await ask('LRANGE', 'list', '0', '-1')).split('\n')).toHaveLength(500)
  })
})

const postgres = findPostgres()

describe.skipIf(postgres === undefined)('PostgreSQL', () => {
  const ROWS: number = atDepth(50_000, 10_000)
  let directory: string

  // it refuses to be root
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  const program = (name: string): string => join(postgres!, name)

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-postgres-'))
    if (user.uid) await chown(directory, user.uid, user.gid)
    const cluster = [
      '-D',
      join(directory, 'data'),
      '-U',
      'svc',
      '-E',
      'UTF8',
      '--locale=C',
      '--auth=trust',
      '-N',
    ]
    execFileSync(program('initdb'), cluster, { ...user, cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] })
  })
  afterAll(() => rm(directory, { recursive: true }))

  it('at its own port, with its own client: a table goes in, is asked about, and comes out as it went in', async () => {
    const port = await freePort()
    const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: directory, fsync: 'off' }
    const set = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    service = spawn(program('postgres'), ['-D', join(directory, 'data'), ...set], { ...user, cwd: '/' })
    const publicPort = await exposeTcp(port)
    const psql = (sql: string, input = ''): Promise<string> => {
      const where = ['-h', '127.0.0.1', '-p', publicPort, '-U', 'svc', '-d', 'postgres']
      const client = spawn(program('psql'), [...where, '-XqAt', '-v', 'ON_ERROR_STOP=1', '-c', sql])
      client.stdin.end(input)
      return output(client)
    }
    const rows = Array.from(
      { length: ROWS },
      (_, id) => `${id}\t${createHash('sha256').update(`${id}`).digest('hex')}`,
    )
    await expect.poll(() => psql('SELECT 1').catch(() => 'not yet')).toBe('1')
    await psql('CREATE TABLE digests (id int PRIMARY KEY, digest text)')
    await psql('COPY digests FROM STDIN', `${rows.join('\n')}\n`)
    expect(
      await psql("SELECT count(*) FROM digests WHERE digest = encode(sha256(id::text::bytea), 'hex')"),
    ).toBe(String(ROWS))
    expect((await psql('COPY (SELECT * FROM digests ORDER BY id) TO STDOUT')).split('\n')).toEqual(rows)
    const sums = Array.from({ length: 10 }, (_, n) => psql(`SELECT sum(id * ${n}) FROM digests`))
    expect(await Promise.all(sums)).toEqual(sums.map((_, n) => String(((ROWS * (ROWS - 1)) / 2) * n)))
  })
})

describe('gRPC', () => {
  it('over the HTTP/2 of its own server, whose certificate the visitor sees', async () => {
    const { server, port } = await new EchoServer().start(true)
    exposure = await exposeAt(relay, { tls: port })
    const client = new EchoClient(relay.port, CERTIFICATE_PEM, new URL(exposure.sites[0]!.url).hostname)
    const large = Buffer.alloc(3_000_000, 'gRPC')
    expect((await client.unary(large)).answer?.equals(large)).toBe(true)
    // a status that travels in trailers
    expect((await client.unary(Buffer.alloc(0))).status.code).toBe(status.INVALID_ARGUMENT)
    const call = client.stream()
    for (const message of ['one', 'two', 'three']) {
      call.write(Buffer.from(message))
      const [answer] = await once(call, 'data')
      expect(String(answer)).toBe(message)
    }
    call.end()
    await once(call, 'end')
    client.client.close()
    server.forceShutdown()
  })
})

/** @throws Error when the client fails, with what it said */
async function output(client: ChildProcess): Promise<string> {
  const [out, complaints] = await Promise.all([
    client.stdout!.toArray(),
    client.stderr!.toArray(),
    once(client, 'close'),
  ])
  if (client.exitCode !== 0) throw new Error(String(Buffer.concat(complaints)))
  return String(Buffer.concat(out)).trim()
}
