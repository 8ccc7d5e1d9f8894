// A real relay as a child process with a state of its own, which can be restarted and asked for its memory.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '../../tools/network/free-port.ts'
import { BUDGETS_OF_MANY, type RelayProcess, startRelay } from '../../tools/relay/process.ts'

const HOST = 'relay.localhost'

export interface BenchRelayOptions {
  /** The port at which clients find it, when a proxy stands between. */
  publicPort?: number
  execArgv?: string[]
  /** Settings beside those that every benchmark needs. */
  env?: Record<string, string>
}

export class BenchRelay {
  readonly url: string
  readonly port: number
  readonly directory: string
  readonly #execArgv: string[]
  readonly #env: Record<string, string>
  readonly #onLog = new Set<(line: string) => void>()
  #process: RelayProcess | undefined

  private constructor(
    port: number,
    directory: string,
    { publicPort, execArgv = [], env = {} }: BenchRelayOptions,
  ) {
    this.url = `https://${HOST}:${publicPort ?? port}`
    this.port = port
    this.directory = directory
    this.#execArgv = execArgv
    this.#env = env
  }

  static async start(options: BenchRelayOptions = {}): Promise<BenchRelay> {
    const directory = await mkdtemp(path.join(tmpdir(), 'svc-bench-relay-'))
    const relay = new BenchRelay(await freePort(), directory, options)
    await relay.run()
    return relay
  }

  get pid(): number {
    return this.#process!.pid
  }

  get caFile(): string {
    return path.join(this.directory, 'ca.pem')
  }

  ca(): Promise<string> {
    return readFile(this.caFile, 'utf8')
  }

  /** Resolves when it listens. */
  async run(): Promise<void> {
    const env = {
      SVC_URL: this.url,
      SNI_PORT: String(this.port),
      IDENTITY_PATH: this.directory,
      ...BUDGETS_OF_MANY,
      ...this.#env,
    }
    const onLog = (line: string): void => {
      for (const listener of this.#onLog) listener(line)
    }
    this.#process = await startRelay({ env, execArgv: this.#execArgv, onLog })
  }

  async halt(): Promise<void> {
    await this.#process?.stop()
  }

  /** Kills the relay, which closes nothing in order. */
  async kill(): Promise<void> {
    process.kill(this.pid, 'SIGKILL')
    await this.#process?.ended
  }

  /** The next line of its standard output that is the JSON of an object with this key. */
  line<T>(key: string): Promise<T> {
    return new Promise((resolve) => {
      const listener = (line: string): void => {
        if (!line.startsWith(`{"${key}"`)) return
        this.#onLog.delete(listener)
        resolve(JSON.parse(line)[key])
      }
      this.#onLog.add(listener)
    })
  }

  async stop(): Promise<void> {
    await this.halt()
    await rm(this.directory, { recursive: true })
  }
}

/** One public request on a connection of its own; @returns its status. Names under localhost are this machine. */
export function visit(url: string, ca: string, timeoutMs: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const { hostname, port } = new URL(url)
  const request = get(
    {
      host: '127.0.0.1',
      port,
      servername: hostname,
      headers: { Host: `${hostname}:${port}` },
      ca,
      agent: false,
      timeout: timeoutMs,
    },
    (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', reject)
    },
  )
  request.on('timeout', () => request.destroy(new Error('no answer in time')))
  request.on('error', reject)
  return promise
}
