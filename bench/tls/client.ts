// Starts the client process, and gives it one job after the other.
import { type ChildProcess, fork } from 'node:child_process'
import path from 'node:path'

export type ClientJob =
  | { kind: 'bulk'; port: number; ca: string }
  | {
      kind: 'handshakes'
      port: number
      ca: string
      count: number
      concurrency: number
      /** The only one that is offered. */
      group: string
      resume: boolean
    }

export interface ClientReport {
  /** Bytes received, or handshakes that resumed a session. */
  count: number
}

export class ClientProcess {
  readonly #child: ChildProcess = fork(path.join(import.meta.dirname, 'client-process.ts'))
  #answer = Promise.withResolvers<ClientReport>()

  constructor() {
    this.#child.on('message', (report) => this.#answer.resolve(report as ClientReport))
    this.#child.on('exit', () => this.#answer.reject(new Error('the client process has ended')))
  }

  run(job: ClientJob): Promise<ClientReport> {
    this.#answer = Promise.withResolvers()
    this.#child.send(job)
    return this.#answer.promise
  }

  stop(): void {
    this.#child.removeAllListeners('exit').kill()
  }
}
