// Starts a Redis or Valkey server with a password, which can be killed and started again with its data or without.
import { type ChildProcess, execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../network/free-port.ts'
import { endServer, isRunning, signalServer, spawnServer } from './server-process.ts'

export interface RedisOptions {
  /** @default a free port of 127.0.0.1 */
  port?: number
  /**
   * The folder of its data, which stays when it is stopped.
   * @default a new one
   */
  directory?: string
  /**
   * Whether it writes each change to a file, so that its data outlives its process.
   * @default true
   */
  appendOnly?: boolean
  /**
   * Servers that belong together have one.
   * @default a random one
   */
  password?: string
  /** Further arguments, such as `--maxmemory 10mb`, each word by itself. */
  args?: readonly string[]
  /** @default Redis */
  program?: 'redis-server' | 'valkey-server'
}

export interface Redis {
  /** `redis://:PASSWORD@127.0.0.1:PORT/0`. */
  readonly url: string
  readonly port: number
  readonly password: string
  /** Sends the signal. Resolves when the process has ended, at once when the signal ends none (`SIGSTOP`, `SIGCONT`). */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Starts it again at its port, after killing the process that still runs. @throws Error with its output */
  restart(options?: { withoutData?: boolean }): Promise<void>
  /** Runs its command-line client. @returns what that prints, without the last line's end; rejects with its message */
  cli(...args: string[]): Promise<string>
  /** Ends it, and removes its folder unless that was given. */
  stop(): Promise<void>
}

const START_TIMEOUT_MS = 60_000
const LOOK_MS = 20
const CLI_TIMEOUT_MS = 30_000

/** Rejects where the program cannot run: a test asks `findRedis` or `findValkey` first, and is skipped. */
export async function startRedis({
  port: asked,
  directory: given,
  appendOnly = true,
  password = randomBytes(16).toString('hex'),
  args = [],
  program = 'redis-server',
}: RedisOptions = {}): Promise<Redis> {
  const port = asked ?? (await freePort())
  const directory = given ?? (await mkdtemp(path.join(tmpdir(), 'svc-redis-')))
  const config = path.join(directory, 'server.conf')
  await writeFile(config, configuration(port, directory, password, appendOnly), { mode: 0o600 })
  const env = { ...process.env, REDISCLI_AUTH: password, VALKEYCLI_AUTH: password }
  const cli = async (...words: string[]): Promise<string> => {
    const client = program.replace('-server', '-cli')
    const options = { env, timeout: CLI_TIMEOUT_MS }
    const { stdout } = await promisify(execFile)(client, ['-e', '-p', `${port}`, ...words], options)
    return stdout.trimEnd()
  }
  let child: ChildProcess | undefined
  const stop = async (): Promise<void> => {
    if (child !== undefined) await endServer(child)
    if (given === undefined) await rm(directory, { recursive: true, force: true })
  }
  const start = async (): Promise<void> => {
    child = spawnServer(program, [config, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    await answers(child, cli)
  }
  await start().catch(async (error) => {
    await stop()
    throw error
  })
  return {
    url: `redis://:${password}@127.0.0.1:${port}/0`,
    port,
    password,
    kill: (signal = 'SIGKILL') => signalServer(child!, signal),
    restart: async ({ withoutData = false } = {}) => {
      await endServer(child!)
      if (withoutData) await removeData(directory, config)
      await start()
    },
    cli,
    stop,
  }
}

/** No write waits for the disk, which may be slow; the system has all of them also when the process is killed. */
function configuration(port: number, directory: string, password: string, appendOnly: boolean): string {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir ${directory}`,
    `requirepass ${password}`,
    'save ""',
    `appendonly ${appendOnly ? 'yes' : 'no'}`,
    'appendfsync no',
    '',
  ].join('\n')
}

/** Resolves when the server answers and has read its data. @throws Error with its output when it ends before */
async function answers(child: ChildProcess, cli: Redis['cli']): Promise<void> {
  let output = ''
  let failure: Error | undefined
  child.once('error', (error) => {
    failure = error
  })
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (bytes: Buffer) => {
      // The program would wait for a reader that stops reading.
      output = `${output}${bytes}`.slice(-10_000)
    })
  const until = performance.now() + START_TIMEOUT_MS
  while ((await cli('PING').catch(() => undefined)) !== 'PONG') {
    if (!isRunning(child)) throw failure ?? new Error(`the server ended: ${output}`)
    if (performance.now() > until) throw new Error(`the server does not answer: ${output}`)
    await sleep(LOOK_MS)
  }
}

async function removeData(directory: string, config: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const file = path.join(directory, name)
    if (file !== config) await rm(file, { recursive: true })
  }
}
