// `svc agent dashboard`: the live view of a running agent, with keys. Either can end without the other.

import { AGENT_PATH, type AgentStatus, type TunnelStatus } from '../../agent/api-messages.ts'
import { type AgentViewContent, renderAgentView } from './agent-view.ts'
import { type Keyboard, keysOf } from './keyboard.ts'
import { Screen, type Terminal } from './screen.ts'

/** The polling interval, in milliseconds. */
const ASK_INTERVAL_MS = 1_000
/** How long the view shows the outcome of a key, in milliseconds. */
const NOTICE_MS = 5_000

/** Calls the running agent as its owner. */
export type Ask = <Data>(method: 'GET' | 'POST', path: string, body?: object) => Promise<Data>

const UP = '\x1b[A'
const DOWN = '\x1b[B'
const CTRL_C = '\x03'

/** Shows the agent until `q` is pressed or the signal aborts. */
export async function showAgent(
  ask: Ask,
  { terminal, keyboard }: { terminal: Terminal; keyboard: Keyboard },
  signal: AbortSignal,
): Promise<void> {
  const view = new AgentDashboard(ask, terminal)
  const { promise: quit, resolve } = Promise.withResolvers<void>()
  const onKeys = (keys: Buffer | string): void => {
    for (const key of keysOf(String(keys))) {
      if (key === 'q' || key === CTRL_C) resolve()
      else void view.press(key)
    }
  }
  signal.addEventListener('abort', () => resolve(), { once: true })
  if (signal.aborted) return
  keyboard.setRawMode(true)
  keyboard.on('data', onKeys)
  keyboard.resume()
  view.open()
  try {
    await quit
  } finally {
    view.close()
    keyboard.off('data', onKeys)
    keyboard.setRawMode(false)
    keyboard.pause()
  }
}

class AgentDashboard {
  readonly #ask: Ask
  readonly #screen: Screen
  readonly #content: AgentViewContent = { status: undefined, chosen: 0, hasCode: false, notice: undefined }
  #timer: NodeJS.Timeout | undefined
  #noticeTimer: NodeJS.Timeout | undefined
  #isOpen = false

  constructor(ask: Ask, terminal: Terminal) {
    this.#ask = ask
    this.#screen = new Screen(terminal, (room) => renderAgentView(this.#content, room))
  }

  open(): void {
    this.#isOpen = true
    this.#screen.open()
    void this.#follow()
  }

  close(): void {
    this.#isOpen = false
    clearTimeout(this.#timer)
    clearTimeout(this.#noticeTimer)
    this.#screen.close()
  }

  async press(key: string): Promise<void> {
    const content = this.#content
    const tunnel = content.status?.tunnels[content.chosen]
    if (key === UP || key === 'k') this.#choose(content.chosen - 1)
    else if (key === DOWN || key === 'j') this.#choose(content.chosen + 1)
    else if (key === 'c') content.hasCode = !content.hasCode
    else if (key === 'p' && tunnel !== undefined) await this.#pause(tunnel, tunnel.state !== 'paused')
    else if (key === 't' && tunnel?.state === 'ended') await this.#pause(tunnel, false)
    else if (key === 'r') await this.#try(AGENT_PATH.reload, {}, 'the agent has read svc.toml again')
    else return
    if (this.#isOpen) this.#screen.draw()
  }

  #choose(place: number): void {
    const count = this.#content.status?.tunnels.length ?? 0
    this.#content.chosen = Math.max(0, Math.min(place, count - 1))
  }

  async #pause(tunnel: TunnelStatus, isPaused: boolean): Promise<void> {
    const { name } = tunnel
    const path = isPaused ? AGENT_PATH.pauseTunnel : AGENT_PATH.resumeTunnel
    await this.#try(
      path,
      name === undefined ? {} : { name },
      `${name ?? 'the tunnel'} ${isPaused ? 'is paused' : 'starts'}`,
    )
  }

  async #try(path: string, body: object, done: string): Promise<void> {
    const outcome = await this.#ask('POST', path, body).then(
      () => done,
      (error: Error) => error.message,
    )
    this.#say(outcome)
    await this.#look()
  }

  async #follow(): Promise<void> {
    await this.#look()
    if (this.#isOpen) this.#timer = setTimeout(() => void this.#follow(), ASK_INTERVAL_MS)
  }

  async #look(): Promise<void> {
    try {
      const isBack = this.#content.status === undefined
      this.#content.status = await this.#ask<AgentStatus>('GET', AGENT_PATH.status)
      if (isBack) this.#say(undefined)
      this.#choose(this.#content.chosen)
    } catch (error) {
      this.#content.status = undefined
      this.#say((error as Error).message, Number.POSITIVE_INFINITY)
    }
    if (this.#isOpen) this.#screen.draw()
  }

  /** @param ms how long it is shown, in milliseconds */
  #say(notice: string | undefined, ms: number = NOTICE_MS): void {
    clearTimeout(this.#noticeTimer)
    this.#content.notice = notice
    if (notice === undefined || !this.#isOpen || ms === Number.POSITIVE_INFINITY) return
    this.#noticeTimer = setTimeout(() => {
      this.#content.notice = undefined
      this.#screen.draw()
    }, ms)
  }
}
