// A Chromium whose pages no debugger inspects. Playwright has every message of a page's WebSockets reported to it, which costs
// renderer and browser more than the message itself; here the DevTools protocol evaluates, and does nothing else.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { chromiumOptions, createHome, type Home } from '../../tools/browser/chromium.ts'
import { findChromium } from '../../tools/programs/chromium.ts'

const LISTENING = /^DevTools listening on (ws:\/\/\S+)$/
/** A page that is not there by then does not come, in milliseconds. */
const LOAD_TIMEOUT_MS = 15_000
const LOOK_MS = 20
/** Headless pages are never in front, and would be slowed down as those behind are. */
const AWAKE = [
  '--disable-background-timer-throttling',
  '--disable-renderer-backgrounding',
  '--disable-backgrounding-occluded-windows',
]

export class Chromium {
  readonly #child: ChildProcess
  readonly #home: Home
  readonly #browser: DevTools

  private constructor(child: ChildProcess, home: Home, browser: DevTools) {
    this.#child = child
    this.#home = home
    this.#browser = browser
  }

  /** @param caFile an authority to trust beside the usual ones. @returns undefined where there is no Chromium */
  static async launch(caFile?: string): Promise<Chromium | undefined> {
    const executable = findChromium()
    if (executable === undefined) return undefined
    const home = await createHome(caFile)
    const { args = [], env } = chromiumOptions(home.path)
    const profile = `--user-data-dir=${path.join(home.path, 'profile')}`
    const child = spawn(
      executable,
      [...args, ...AWAKE, profile, '--headless', '--remote-debugging-port=0', 'about:blank'],
      { env: env as NodeJS.ProcessEnv, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    process.once('exit', () => child.kill('SIGKILL'))
    const url = await new Promise<string>((resolve, reject) => {
      createInterface(child.stderr).on('line', (line) => {
        const [, found] = LISTENING.exec(line) ?? []
        if (found !== undefined) resolve(found)
      })
      child.once('exit', (code) => reject(new Error(`Chromium ended with ${code}`)))
    })
    return new Chromium(child, home, await DevTools.connect(url))
  }

  /** A page with nothing cached and no connection open. */
  async open(url: string): Promise<Tab> {
    const { browserContextId } = await this.#browser.send<{ browserContextId: string }>(
      'Target.createBrowserContext',
      { disposeOnDetach: true },
    )
    const { targetId } = await this.#browser.send<{ targetId: string }>('Target.createTarget', {
      url,
      browserContextId,
    })
    const { host } = new URL(this.#browser.url)
    const page = await DevTools.connect(`ws://${host}/devtools/page/${targetId}`)
    const tab = new Tab(page, async () => {
      page.close()
      await this.#browser.send('Target.disposeBrowserContext', { browserContextId })
    })
    await tab.loaded()
    return tab
  }

  /** Resident memory of the largest renderer, where the kernel tells. */
  async rendererBytes(): Promise<number> {
    const { processInfo } = await this.#browser.send<{ processInfo: { type: string; id: number }[] }>(
      'SystemInfo.getProcessInfo',
      {},
    )
    const renderers = processInfo.filter(({ type }) => type === 'renderer')
    const sizes = renderers.map(async ({ id }) => {
      const status = await readFile(`/proc/${id}/status`, 'utf8').catch(() => '')
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
    })
    return Math.max(...(await Promise.all(sizes)))
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#browser.close()
    this.#child.kill('SIGTERM')
    await ended
    await this.#home.remove()
  }
}

export class Tab {
  readonly #page: DevTools
  readonly close: () => Promise<void>

  constructor(page: DevTools, close: () => Promise<void>) {
    this.#page = page
    this.close = close
  }

  /** Calls `work` in the page, with a copy of `input`; resolves with a copy of what it returns. */
  async evaluate<Input, Output>(
    work: (input: Input) => Output | Promise<Output>,
    input?: Input,
  ): Promise<Output> {
    const { result, exceptionDetails } = await this.#page.send<Evaluated<Output>>('Runtime.evaluate', {
      expression: `(${work})(${JSON.stringify(input)})`,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }

  /**
   * @returns the bytes that the page's scripts hold once garbage is collected: V8's heap, the browser's objects, and buffers
   */
  async heapBytes(): Promise<number> {
    await this.#page.send('HeapProfiler.collectGarbage', {})
    const { usedSize, embedderHeapUsedSize, backingStorageSize } = await this.#page.send<HeapUsage>(
      'Runtime.getHeapUsage',
      {},
    )
    return usedSize + embedderHeapUsedSize + backingStorageSize
  }

  async loaded(): Promise<void> {
    const until = performance.now() + LOAD_TIMEOUT_MS
    const isLoaded = (): Promise<boolean> =>
      this.evaluate(() => location.href !== 'about:blank' && document.readyState === 'complete')
    // the page that was there before goes away during the question
    while (!(await isLoaded().catch(() => false))) {
      if (performance.now() > until) throw new Error('the page did not load')
      await pause(LOOK_MS)
    }
  }
}

interface HeapUsage {
  usedSize: number
  embedderHeapUsedSize: number
  backingStorageSize: number
}

interface Evaluated<Output> {
  result: { value: Output }
  exceptionDetails?: { text: string; exception?: { description?: string } }
}

/** One connection of the DevTools protocol. */
class DevTools {
  readonly url: string
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #sent = 0

  static async connect(url: string): Promise<DevTools> {
    const socket = new WebSocket(url)
    await once(socket, 'open')
    return new DevTools(url, socket)
  }

  private constructor(url: string, socket: WebSocket) {
    this.url = url
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      const { id, result, error } = JSON.parse(data)
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error) waiting?.reject(new Error(error.message))
      else waiting?.resolve(result)
    })
    socket.addEventListener('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the page is gone'))
    })
  }

  send<Result>(method: string, params: object): Promise<Result> {
    const answer = Promise.withResolvers<Result>()
    this.#sent += 1
    this.#waiting.set(this.#sent, answer as PromiseWithResolvers<unknown>)
    this.#socket.send(JSON.stringify({ id: this.#sent, method, params }))
    return answer.promise
  }

  close(): void {
    this.#socket.close()
  }
}
