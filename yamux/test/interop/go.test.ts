// Interop with hashicorp's yamux in Go, both roles, over TCP. Needs `go`, and its module cache or proxy.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, test as every, expect, onTestFinished } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { Session, type SessionOptions } from '../../src/index.ts'
import { echo, pattern, readAll } from '../support/bytes.ts'

const test = wholeOnly(every, 'variant')

const STREAMS = 32
const BYTES = 1_000_000

const source = join(import.meta.dirname, 'go')
let folder: string
let peer: string
/** Why the tests cannot run here. */
let missing: string | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'yamux-go-'))
  peer = join(folder, 'peer')
  missing = await run('go', ['mod', 'download'])
  if (missing === undefined) expect(await run('go', ['build', '-buildvcs=false', '-o', peer])).toBeUndefined()
})

afterAll(() => rm(folder, { recursive: true }))

/** @returns what went wrong */
async function run(command: string, args: string[]): Promise<string | undefined> {
  try {
    await promisify(execFile)(command, args, { cwd: source, env: { ...process.env, GOTOOLCHAIN: 'local' } })
    return undefined
  } catch (error) {
    return `${command} ${args.join(' ')}: ${(error as Error).message}`
  }
}

function start(...args: string[]): {
  process: ChildProcess
  line: Promise<string>
  exit: Promise<unknown[]>
} {
  const child = spawn(peer, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  const line = once(createInterface(child.stdout), 'line').then(([text]) => text as string)
  return { process: child, line, exit: once(child, 'exit') }
}

function sessionOver(socket: Socket, options: SessionOptions): Session {
  const session = new Session(
    {
      send: (message) => (socket.write(message) ? undefined : once(socket, 'drain').then(() => {})),
      close: () => socket.end(),
    },
    options,
  )
  socket.on('data', (bytes) => session.receive(bytes as Uint8Array))
  socket.on('close', () => session.transportClosed())
  socket.on('error', () => {})
  return session
}

test('we open, Go echoes and ends when we do', async (context) => {
  if (missing !== undefined) context.skip(missing)
  const { line, exit } = start('server')
  const socket = connect(Number(await line), '127.0.0.1')
  const session = sessionOver(socket, { role: 'client' })
  expect(await session.ping()).toBeGreaterThan(0)

  const backs = await Promise.all(
    Array.from({ length: STREAMS }, async (_, i) => {
      const stream = await session.open()
      const [back] = await Promise.all([
        readAll(stream),
        stream.write(pattern(BYTES, i)).then(() => stream.end()),
      ])
      await stream.closed
      return Buffer.compare(back, pattern(BYTES, i))
    }),
  )
  expect(backs).toEqual(Array(STREAMS).fill(0))
  expect(session.streamCount).toBe(0)

  const aborted = await session.open()
  await aborted.write(pattern(1000))
  aborted.abort()
  expect(await session.ping()).toBeGreaterThan(0)
  session.close()
  expect(await exit).toEqual([0, null])
})

test('Go opens, we echo and end; its GoAway stops our opening', async (context) => {
  if (missing !== undefined) context.skip(missing)
  const listener = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void listener.close())
  await once(listener, 'listening')
  const { line, exit } = start(
    'client',
    `${(listener.address() as AddressInfo).port}`,
    `${STREAMS}`,
    `${BYTES}`,
  )
  const [socket] = (await once(listener, 'connection')) as [Socket]
  const session = sessionOver(socket, { role: 'server', onStream: (stream) => void echo(stream) })

  expect(await line).toBe('echoed 0')
  expect(session.streamCount).toBe(0)
  await expect
    .poll(() => session.open().catch((error: unknown) => error))
    .toMatchObject({ code: 'peer_going_away' })
  session.close()
  expect(await exit).toEqual([0, null])
})
