// Errors that nothing handles: the process says so, lets its visitors finish and ends, for its supervisor to start it again.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { afterEach, test as every, expect, vi } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { openCarrier } from '../support/carrier.ts'
import { type RelayProcess, startRelayProcess } from '../support/relay-process.ts'

const test = wholeOnly(every, 'faults')

/** What no test could bring about from outside: a mistake of ours, each time that the signal comes. */
const MISTAKES = `--import=data:text/javascript,${[
  "process.on('SIGUSR2', () => { throw new Error('thrown by nobody in particular') })",
  "process.on('SIGWINCH', () => void Promise.reject(new Error('rejected by nobody in particular')))",
].join(';')}`
/** EX_SOFTWARE of sysexits.h. */
const EXIT_CODE = 70
/** Of pino. */
const FATAL = 60
const TIMEOUT = { timeout: 180_000 }

let relay: RelayProcess
afterEach(() => relay.close(), TIMEOUT.timeout)

async function start(env: Record<string, string> = {}): Promise<void> {
  relay = await startRelayProcess(env, { execArgv: [MISTAKES] })
}

interface Visit {
  visitor: Socket
  /** Lets the site send its answer, whole. */
  answer(bytes: number): Promise<void>
}

/** A visitor who waits for the rest of an answer. */
async function visit(name: string): Promise<Visit> {
  const lease = await relay.register(name)
  const { capability } = lease.reverse_endpoint
  const carrier = await openCarrier(relay, capability)
  const { stream, read } = await carrier.open(capability)
  const hello = await captureHello(lease.hostname)
  const visitor = await relay.tcp()
  visitor.write(hello)
  await read(1 + 1 + 16 + hello.length)
  await stream.write(Uint8Array.of(1))
  await once(visitor, 'data')
  return {
    visitor,
    answer: async (bytes) => {
      await stream.write(new Uint8Array(bytes))
      await stream.end()
    },
  }
}

async function receivedBy(visitor: Socket): Promise<number> {
  let received = 0
  for await (const chunk of visitor) received += chunk.length
  return received
}

test(
  `an uncaught exception is logged as fatal; visitors finish, nobody comes in, and the exit code is ${EXIT_CODE}`,
  TIMEOUT,
  async () => {
    await start()
    const { visitor, answer } = await visit('finishing')
    relay.kill('SIGUSR2')
    await vi.waitFor(() => expect(fatalErrors()).toHaveLength(1))
    await expect(relay.tcp()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    const received = receivedBy(visitor)
    await answer(100_000)
    expect(await received).toBe(100_000)
    visitor.end()
    expect(await relay.ended).toBe(EXIT_CODE)
    expect(fatalErrors()).toEqual([fatal('uncaughtException', 'thrown by nobody in particular')])
    expect(relay.log.at(-1)).toMatchObject({ msg: 'closed' })
  },
)

test(
  'rejections that nothing handles are fatal, too, and the end when they do not end, visitors or not',
  TIMEOUT,
  async () => {
    await start()
    await visit('unlucky')
    const isOver = relay.ended.then(() => true)
    do relay.kill('SIGWINCH')
    while (!(await Promise.race([isOver, pause(20)])))
    expect(await relay.ended).toBe(EXIT_CODE)
    expect(fatalErrors()[0]).toEqual(fatal('unhandledRejection', 'rejected by nobody in particular'))
    expect(fatalErrors().length).toBeLessThanOrEqual(16)
  },
)

test('a worker with one is replaced, and the relay serves on', TIMEOUT, async () => {
  await start({ SVC_WORKERS: '2' })
  const [worker] = await childrenOf(relay.pid)
  process.kill(worker!, 'SIGUSR2')
  await vi.waitFor(() => expect(relay.log.some(({ msg }) => msg === 'worker listening')).toBe(true))
  expect(relay.log).toContainEqual(
    expect.objectContaining({ level: FATAL, worker: 1, origin: 'uncaughtException' }),
  )
  expect(relay.log).toContainEqual(
    expect.objectContaining({ level: 50, worker: 1, cause: `exit code ${EXIT_CODE}` }),
  )
  expect(await childrenOf(relay.pid)).not.toContain(worker)
  for (let i = 0; i < 8; i++) expect(await relay.call('GET', '/api/healthz')).toMatchObject({ status: 200 })
  const { visitor, answer } = await visit('later')
  const received = receivedBy(visitor)
  await answer(10)
  expect(await received).toBe(10)
})

function fatalErrors(): Record<string, unknown>[] {
  return relay.log.filter(({ level }) => level === FATAL)
}

function fatal(origin: string, message: string): object {
  return expect.objectContaining({
    origin,
    err: expect.objectContaining({ message, stack: expect.any(String) }),
  })
}

async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('pgrep', ['-P', `${pid}`])
  return stdout.trim().split('\n').map(Number)
}

function pause(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(resolve, ms, false))
}
