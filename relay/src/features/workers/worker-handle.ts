// Controls one worker process from the primary process: sends it messages and questions, and receives its own.

import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { childEnvironment } from '../../core/config/child-environment.ts'
import { V8_FLAGS } from '../../core/config/v8-flags.ts'
import { installation } from '../../core/installation.ts'
import type { HandOverOutcome, PendingVisitor, SessionPeer } from '../../core/reverse/pending-visitor.ts'
import { API_CHANNEL_FD } from './api-channel.ts'
import type { ToPrimary, ToWorker } from './messages.ts'
import { handOverMessage, socketOf } from './socket-handover.ts'

/**
 * Messages queued for one worker process. With more, the primary process kills it, since it takes none.
 */
const WORKER_MESSAGES_MAX = 65_536
/** Interval at which the primary process pings each worker process. */
const WORKER_PING_MS = 5_000
/** The primary process kills a worker process that has not answered for this long. */
const WORKER_PING_DEADLINE_MS = 15_000
/** Time for a worker process to end, beyond that for its last responses. Then it is killed. */
const WORKER_END_DEADLINE_MS = 2_000

interface WorkerEvents {
  /** Called with each message but answers. */
  onMessage: (message: Exclude<ToPrimary, { kind: 'answer' }>, socket: Socket | undefined) => void
  /** Called once, whatever the cause. */
  onEnd: (cause: string) => void
}

export class WorkerHandle implements SessionPeer {
  readonly #child: ChildProcess
  readonly #questions = new Map<number, (yes: boolean) => void>()
  /** Visitors that were handed over and perhaps not sent yet. */
  readonly #handingOver = new Set<Socket>()
  readonly #pings: NodeJS.Timeout
  #lastQuestion = 0
  #unsent = 0
  #unansweredSince = 0
  #hasExited = false
  readonly #exited: PromiseWithResolvers<void> = Promise.withResolvers()

  constructor({ onMessage, onEnd }: WorkerEvents, child: ChildProcess) {
    this.#child = child
    const exited = (cause: string): void => {
      if (this.#hasExited) return
      this.#onExit()
      onEnd(cause)
    }
    this.#child.on('message', (message: ToPrimary, socket) => {
      // The counts of this last message would be wrong by now.
      if (this.#hasExited) (socket as Socket | undefined)?.destroy()
      else if (message.kind === 'answer') this.#onAnswer(message.question, message.yes)
      else onMessage(message, socket as Socket | undefined)
    })
    this.#child.on('error', (error) => {
      // The process never started, so it emits no 'exit'.
      if (this.#child.pid === undefined) exited(error.message)
    })
    this.#child.once('exit', (code, signal) => exited(signal ?? `exit code ${code}`))
    this.#pings = setInterval(() => this.#checkLiveness(), WORKER_PING_MS).unref()
  }

  /** Socket for connections to the API; undefined when the process could not be started. */
  get apiChannel(): Socket | undefined {
    return (this.#child.stdio as ChildProcess['stdio'] | undefined)?.[API_CHANNEL_FD] as Socket | undefined
  }

  send(message: ToWorker, visitor?: Socket): void {
    if (this.#hasExited) return
    this.#unsent += 1
    // The process no longer takes messages, and the queue would only grow.
    if (this.#unsent > WORKER_MESSAGES_MAX) this.kill()
    this.#child.send(message, visitor, { keepOpen: true }, () => {
      this.#unsent -= 1
      if (visitor === undefined) return
      this.#handingOver.delete(visitor)
      visitor.destroy()
    })
  }

  handOver(pending: PendingVisitor): HandOverOutcome {
    const { lease } = pending
    const visitor = socketOf(pending)
    if (visitor.destroyed) {
      // The session that was meant for the visitor is still ready.
      this.send({ kind: 'recount', lease: lease.id })
      return 'gone'
    }
    if (this.#hasExited) {
      visitor.destroy()
      return 'gone'
    }
    this.#handingOver.add(visitor)
    this.send(handOverMessage(pending), visitor)
    return 'gone'
  }

  /** Asks a question. @returns the answer; false when the process ends */
  ask(question: (id: number) => ToWorker): Promise<boolean> {
    if (this.#hasExited) return Promise.resolve(false)
    this.#lastQuestion += 1
    const id = this.#lastQuestion
    this.send(question(id))
    return new Promise((resolve) => this.#questions.set(id, resolve))
  }

  /** Resolves when all earlier messages are in force in the process, or it has ended. */
  async settled(): Promise<void> {
    await this.ask((question) => ({ kind: 'ping', question }))
  }

  /** Ends the process. Resolves when it has ended. */
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

  /** Pings the process, and kills one that has not answered for too long. */
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

/** A worker process gets what it needs in its first message. @param withheld variables that it does not get */
export function forkWorker(withheld: readonly string[]): ChildProcess {
  const options = [...V8_FLAGS, ...process.execArgv.filter((option) => !V8_FLAGS.includes(option))]
  const { execArgv, module, args, env } = installation().process('worker-main', options)
  return fork(module, args, {
    env: { ...childEnvironment(withheld), ...env },
    execArgv,
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
  })
}
