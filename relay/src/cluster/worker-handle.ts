// One worker, as the first process sees it: the child process, what it is told and asked, and what it says.

import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { SETTINGS } from '../config/settings.ts'
import { V8_FLAGS } from '../config/v8-flags.ts'
import {
  WORKER_END_DEADLINE_MS,
  WORKER_MESSAGES_MAX,
  WORKER_PING_DEADLINE_MS,
  WORKER_PING_MS,
} from '../limits.ts'
import type { PeerProcess, PendingVisitor } from '../reverse/pending-visitor.ts'
import { API_CHANNEL_FD } from './api-channel.ts'
import type { ToPrimary, ToWorker } from './messages.ts'
import { handOverMessage } from './socket-handover.ts'

interface WorkerEvents {
  /** All but answers. */
  onMessage: (message: Exclude<ToPrimary, { kind: 'answer' }>, socket: Socket | undefined) => void
  /** Once, whatever the cause. */
  onEnd: (cause: string) => void
}

export class WorkerHandle implements PeerProcess {
  readonly #child: ChildProcess
  readonly #questions = new Map<number, (yes: boolean) => void>()
  /** Handed over, but perhaps not sent yet. */
  readonly #handingOver = new Set<Socket>()
  readonly #pings: NodeJS.Timeout
  #lastQuestion = 0
  #unsent = 0
  #unansweredSince = 0
  #hasExited = false
  readonly #exited: PromiseWithResolvers<void> = Promise.withResolvers()

  constructor({ onMessage, onEnd }: WorkerEvents, child: ChildProcess = forkWorker()) {
    this.#child = child
    const exited = (cause: string): void => {
      if (this.#hasExited) return
      this.#onExit()
      onEnd(cause)
    }
    this.#child.on('message', (message: ToPrimary, socket) => {
      // What it said last is not true any more.
      if (this.#hasExited) (socket as Socket | undefined)?.destroy()
      else if (message.kind === 'answer') this.#onAnswer(message.question, message.yes)
      else onMessage(message, socket as Socket | undefined)
    })
    this.#child.on('error', (error) => {
      // It was never there, so it cannot exit.
      if (this.#child.pid === undefined) exited(error.message)
    })
    this.#child.once('exit', (code, signal) => exited(signal ?? `exit code ${code}`))
    this.#pings = setInterval(() => this.#checkLiveness(), WORKER_PING_MS).unref()
  }

  /** For connections to the API; undefined when the process could not be started. */
  get apiChannel(): Socket | undefined {
    return (this.#child.stdio as ChildProcess['stdio'] | undefined)?.[API_CHANNEL_FD] as Socket | undefined
  }

  send(message: ToWorker, visitor?: Socket): void {
    if (this.#hasExited) return
    this.#unsent += 1
    // It takes nothing any more: what waits for it would only grow.
    if (this.#unsent > WORKER_MESSAGES_MAX) this.kill()
    this.#child.send(message, visitor, { keepOpen: true }, () => {
      this.#unsent -= 1
      if (visitor === undefined) return
      this.#handingOver.delete(visitor)
      visitor.destroy()
    })
  }

  handOver(pending: PendingVisitor): void {
    const { visitor, lease } = pending
    if (visitor.destroyed) {
      // The session that was meant for it is still there.
      this.send({ kind: 'recount', lease: lease.id })
      return
    }
    if (this.#hasExited) {
      visitor.destroy()
      return
    }
    this.#handingOver.add(visitor)
    this.send(handOverMessage(pending), visitor)
  }

  /** Whether it says yes to `question`; one that ends says no. */
  ask(question: (id: number) => ToWorker): Promise<boolean> {
    if (this.#hasExited) return Promise.resolve(false)
    this.#lastQuestion += 1
    const id = this.#lastQuestion
    this.send(question(id))
    return new Promise((resolve) => this.#questions.set(id, resolve))
  }

  /** Resolves when everything that it was told before is in force there, or it is no more. */
  async settled(): Promise<void> {
    await this.ask((question) => ({ kind: 'ping', question }))
  }

  /** Resolves when the process is no more. */
  async end(isGraceful: boolean, gracefulMs: number): Promise<void> {
    if (this.#hasExited) return
    const deadline = setTimeout(() => this.kill(), gracefulMs + WORKER_END_DEADLINE_MS)
    this.send({ kind: 'end', isGraceful })
    await this.#exited.promise
    clearTimeout(deadline)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #onAnswer(question: number, yes: boolean): void {
    this.#unansweredSince = 0
    this.#questions.get(question)?.(yes)
    this.#questions.delete(question)
  }

  /** The answer to each question shows that it is there. */
  #checkLiveness(): void {
    const now = performance.now()
    if (this.#unansweredSince === 0) this.#unansweredSince = now
    else if (now - this.#unansweredSince > WORKER_PING_DEADLINE_MS) this.kill()
    void this.settled()
  }

  #onExit(): void {
    this.#hasExited = true
    this.#exited.resolve()
    clearInterval(this.#pings)
    for (const answer of this.#questions.values()) answer(false)
    this.#questions.clear()
    for (const visitor of this.#handingOver) visitor.destroy()
    this.#handingOver.clear()
  }
}

function forkWorker(): ChildProcess {
  return fork(new URL('./worker-main.ts', import.meta.url), [], {
    env: environment(),
    execArgv: [...V8_FLAGS, ...process.execArgv.filter((option) => !V8_FLAGS.includes(option))],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
  })
}

/** Without the settings: a worker is told what it needs, and nothing else of them is its business. */
function environment(): NodeJS.ProcessEnv {
  const names = new Set(SETTINGS.map(({ name }) => name))
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.has(name)))
}
