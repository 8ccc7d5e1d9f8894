// The Firefox of this machine, by WebDriver BiDi over its own WebSocket: Playwright drives only a Firefox that it patched.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { createHome } from './chromium.ts'

const COMMANDS = ['firefox-esr', 'firefox']
/** Preferences against what a Firefox does at its first start: requests to the network, questions to its user. */
const QUIET = [
  'app.normandy.enabled',
  'app.update.enabled',
  'browser.shell.checkDefaultBrowser',
  'datareporting.policy.dataSubmissionEnabled',
  'network.captive-portal-service.enabled',
  'network.connectivity-service.enabled',
  'toolkit.telemetry.enabled',
]
const READY = /^WebDriver BiDi listening on (ws:\S+)/

/** @returns undefined where there is no Firefox */
export async function findFirefox(): Promise<{ command: string; version: string } | undefined> {
  for (const command of COMMANDS) {
    const found = await promisify(execFile)(command, ['--version']).catch(() => undefined)
    const version = /Mozilla Firefox (\S+)/.exec(found?.stdout ?? '')?.[1]
    if (version !== undefined) return { command, version }
  }
  return undefined
}

interface FirefoxPage {
  /** Errors on its console, and errors that no script caught. */
  errors: string[]
  /** Resolves when the page has loaded. */
  goto(url: string): Promise<void>
  /** Runs `work` in the page; it takes and gives what JSON can say. */
  evaluate<A extends unknown[], R>(work: (...args: A) => R | Promise<R>, ...args: A): Promise<R>
}

export interface Firefox {
  newPage(): Promise<FirefoxPage>
  close(): Promise<void>
}

/** @param caFile the CA that it trusts beside the public ones */
export async function startFirefox(command: string, caFile: string): Promise<Firefox> {
  const home = await createHome(caFile)
  // the database of trust is part of a profile
  const profile = path.join(home.path, '.pki/nssdb')
  await writeFile(
    path.join(profile, 'user.js'),
    QUIET.map((name) => `user_pref('${name}', false);\n`).join(''),
  )
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0']
  const child = spawn(command, args, { env: { ...process.env, HOME: home.path } })
  const bidi = await Bidi.connect(await listening(child))
  await bidi.send('session.new', { capabilities: {} })
  await bidi.send('session.subscribe', { events: ['log.entryAdded'] })
  return {
    newPage: () => newPage(bidi),
    close: async () => {
      const ended = once(child, 'exit')
      child.kill()
      await ended
      await home.remove()
    },
  }
}

async function listening(child: ChildProcess): Promise<string> {
  const said: string[] = []
  for await (const line of createInterface(child.stderr!)) {
    const url = READY.exec(line)?.[1]
    if (url !== undefined) {
      child.stderr!.resume()
      return url
    }
    said.push(line)
  }
  throw new Error(`Firefox did not start: ${said.join('\n')}`)
}

async function newPage(bidi: Bidi): Promise<FirefoxPage> {
  const { context } = await bidi.send<{ context: string }>('browsingContext.create', { type: 'tab' })
  const errors: string[] = []
  bidi.onEvent((method, entry) => {
    if (method === 'log.entryAdded' && entry.level === 'error' && entry.source?.context === context)
      errors.push(entry.text ?? '')
  })
  return {
    errors,
    goto: async (url) =>
      void (await bidi.send('browsingContext.navigate', { context, url, wait: 'complete' })),
    evaluate: async (work, ...args) => {
      const { result, exceptionDetails } = await bidi.send<Evaluated>('script.callFunction', {
        functionDeclaration: `async (args) => JSON.stringify(await (${work})(...JSON.parse(args)))`,
        arguments: [{ type: 'string', value: JSON.stringify(args) }],
        target: { context },
        awaitPromise: true,
      })
      if (exceptionDetails) throw new Error(exceptionDetails.text)
      return result?.value === undefined ? undefined : JSON.parse(result.value)
    },
  }
}

interface Evaluated {
  result?: { value?: string }
  exceptionDetails?: { text: string }
}

interface LogEntry {
  level?: string
  text?: string
  source?: { context?: string }
}

type Listener = (method: string, params: LogEntry) => void

/** The BiDi connection: commands and their answers, and events. */
class Bidi {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #listeners: Listener[] = []
  #lastId = 0

  static async connect(url: string): Promise<Bidi> {
    const socket = new WebSocket(`${url}/session`)
    await once(socket, 'open')
    return new Bidi(socket)
  }

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(data))
    socket.onclose = () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('Firefox is gone'))
    }
  }

  onEvent(listener: Listener): void {
    this.#listeners.push(listener)
  }

  send<T>(method: string, params: object): Promise<T> {
    this.#lastId += 1
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(this.#lastId, waiting)
    this.#socket.send(JSON.stringify({ id: this.#lastId, method, params }))
    return waiting.promise as Promise<T>
  }

  #receive({ id, type, method, params, result, message }: Record<string, never>): void {
    if (type === 'event') for (const listener of this.#listeners) listener(method!, params!)
    const waiting = this.#waiting.get(id!)
    this.#waiting.delete(id!)
    if (type === 'error') waiting?.reject(new Error(message))
    else waiting?.resolve(result)
  }
}
