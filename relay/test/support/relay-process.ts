// `svc-relay` as an operator runs it: a process of its own, whose descriptors, memory and end a test can look at.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { programFile } from '../../../tools/bundler/programs.ts'
import { WITHOUT_OVERLOAD } from '../../../tools/relay/process.ts'
import { INHERITED_ENV } from './inherited-env.ts'
import { freePort, ROOT_HOST, relayClient, type TestClient } from './relay.ts'

/** The sources, for tests that replace something in a module of the relay. */
export const SOURCE_MAIN: string = join(import.meta.dirname, '../../src/main.ts')
const START_TIMEOUT_MS = 60_000
const END_TIMEOUT_MS = 60_000
const LOOK_MS = 50

export interface RelayProcess extends TestClient {
  pid: number
  /** The directory of its state. */
  directory: string
  /** Lines of the log, parsed, as they come. */
  log: Record<string, unknown>[]
  /** The text that the process wrote to standard error. */
  readonly complaints: string
  /** Resolves with the exit code, or the signal that ended the process. */
  ended: Promise<number | string>
  /** Open descriptors of the process. */
  descriptors(): Promise<number>
  /** Resident memory of the process in bytes. */
  memory(): Promise<number>
  kill(signal: NodeJS.Signals): void
  /** Ends the process and removes its directory. */
  close(): Promise<void>
}

interface Life {
  /** The limit of descriptors, as `ulimit -n` sets it. */
  openFiles?: number
  /** Arguments of Node's own, before the executable. */
  execArgv?: string[]
  /** File for its standard output; then there is no log to look at. */
  output?: string
  /**
   * The executable.
   * @default this package's, bundled where the suite has bundled it
   */
  main?: string
  /**
   * The directory of the state, which stays when the relay is closed.
   * @default a new one
   */
  directory?: string
}

/** @param env settings of the relay, beside those that every test relay has */
export async function startRelayProcess(
  env: Record<string, string> = {},
  { openFiles, execArgv = [], output, main = programFile('svc-relay'), directory: kept }: Life = {},
): Promise<RelayProcess> {
  const directory = kept ?? (await mkdtemp(join(tmpdir(), 'svc-relay-process-')))
  const port = await freePort()
  // With its flags, it need not start Node a second time.
  const command = [process.execPath, ...WITHOUT_OVERLOAD, ...execArgv, main]
  const limit = openFiles === undefined ? '' : `ulimit -n ${openFiles} && `
  const redirection = output === undefined ? '' : ` > ${output}`
  const child = spawn('sh', ['-c', `${limit}exec "$@"${redirection}`, 'sh', ...command], {
    env: {
      ...INHERITED_ENV,
      SVC_URL: `https://${ROOT_HOST}:${port}`,
      IDENTITY_PATH: directory,
      SOURCE_BUDGET_PER_MINUTE: '1000000',
      RELAY_BUDGET_PER_MINUTE: '1000000',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log: Record<string, unknown>[] = []
  let complaints = ''
  child.stderr.on('data', (text: Buffer) => (complaints += text))
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal)
  let isListening = false
  const listening = new Promise<void>((resolve) => {
    if (output !== undefined) resolve(listens(port))
    createInterface(child.stdout).on('line', (line) => {
      const entry = JSON.parse(line)
      log.push(entry)
      if (entry.msg === 'listening') resolve()
    })
  }).then(() => {
    isListening = true
  })
  await Promise.race([listening, within(START_TIMEOUT_MS, ended)])
  if (!isListening) {
    await end(child, ended)
    throw new Error(`the relay does not listen: ${complaints}`)
  }
  const pid = child.pid!
  return {
    ...relayClient(port, await readFile(join(directory, 'ca.pem'), 'utf8')),
    pid,
    directory,
    log,
    get complaints() {
      return complaints
    },
    ended,
    descriptors: async () => (await readdir(`/proc/${pid}/fd`)).length,
    memory: async () => residentBytes(await readFile(`/proc/${pid}/status`, 'utf8')),
    kill: (signal) => void child.kill(signal),
    close: async () => {
      await end(child, ended)
      if (kept === undefined) await rm(directory, { recursive: true })
    },
  }
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM')
  child.kill('SIGINT')
  await Promise.race([ended, within(END_TIMEOUT_MS, ended)])
  child.kill('SIGKILL')
  await ended
}

/** Resolves once something listens at `port`. It does not connect to find out: that might be to itself, and take the port. */
async function listens(port: number): Promise<void> {
  const entry = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, '0')} \\S+ 0A `)
  for (;;) {
    const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')))
    if (entry.test(tables.join(''))) return
    await setTimeout(LOOK_MS)
  }
}

async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  await Promise.race([promise, setTimeout(ms, undefined, { signal: timer.signal }).catch(() => {})])
  timer.abort()
}

function residentBytes(status: string): number {
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) * 1024
}
