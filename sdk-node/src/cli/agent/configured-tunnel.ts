// One tunnel of svc.toml: it restarts when its fields change, and retries after temporary failures.

import { isDeepStrictEqual } from 'node:util'
import { Backoff } from '@svc/protocol/timers'
import type { TunnelStatus } from '../../agent/api-messages.ts'
import type { Tunnel } from '../commands/tunnel.ts'
import type { TunnelSupervisor } from '../commands/tunnel-supervisor.ts'
import type { ConfiguredTunnel as Configured } from '../config/read-config.ts'
import type { SiteCommand } from '../options/parsed-command.ts'
import { EXIT, type ExitCode } from '../report/exit-codes.ts'
import { explainError } from '../report/explain-error.ts'

/** Milliseconds before the first retry of a tunnel that reached no relay: the network may come up after the agent. */
const RETRY_MIN_MS = 1_000
/** The longest such pause; each is twice as long as the one before. */
const RETRY_MAX_MS = 60_000
/** Milliseconds before the retry of a tunnel that its relay refused. */
const REFUSED_RETRY_MS = 300_000
/** Exit codes after which a retry is useless: only a change on this side helps, or another process took over for good. */
const FINAL: ReadonlySet<ExitCode> = new Set([EXIT.usage, EXIT.identity, EXIT.ended])

export class ConfiguredTunnel {
  readonly name: string | undefined
  /** Resolves when it was removed from the file and has ended. */
  readonly over: Promise<void>
  readonly #supervisor: TunnelSupervisor
  /** Undefined when it was removed from the file. */
  #wanted: Configured | undefined
  #changed = Promise.withResolvers<void>()
  #tunnel: Tunnel | undefined
  #failure: TunnelStatus['failure']
  #retryAt: number | undefined
  readonly #backoff = new Backoff(RETRY_MIN_MS, RETRY_MAX_MS)

  /** @param onOver called when it was removed from the file and has ended */
  constructor(wanted: Configured, supervisor: TunnelSupervisor, onOver: () => void) {
    this.name = wanted.command.options.name
    this.#wanted = wanted
    this.#supervisor = supervisor
    this.over = this.#run(onOver)
  }

  get command(): SiteCommand | undefined {
    return this.#wanted?.command
  }

  /** Sets the current fields of the file. A tunnel whose fields are the same continues. */
  set(wanted: Configured | undefined): void {
    if (!isDeepStrictEqual(wanted, this.#wanted)) this.#become(wanted)
  }

  /** Restarts it at once if it has ended or waits for its next attempt. */
  retry(): void {
    if (this.#tunnel === undefined || this.#tunnel.state === 'ended') this.#become(this.#wanted)
  }

  get state(): Pick<TunnelStatus, 'state' | 'failure' | 'retry_at'> {
    const state = this.#tunnel?.state ?? (this.#wanted?.isPaused === false ? 'starting' : 'paused')
    if (state !== 'ended') return { state }
    const retry_at = this.#retryAt === undefined ? undefined : new Date(this.#retryAt).toISOString()
    return { state, failure: this.#failure, retry_at }
  }

  #become(wanted: Configured | undefined): void {
    this.#wanted = wanted
    const { resolve } = this.#changed
    this.#changed = Promise.withResolvers()
    resolve()
  }

  async #run(onOver: () => void): Promise<void> {
    while (this.#wanted !== undefined) {
      const changed = this.#changed.promise
      this.#backoff.reset()
      if (this.#wanted.isPaused) await changed
      else await this.#runUntil(changed, this.#wanted.command)
    }
    // Synchronously, so that no `set` comes in between.
    onOver()
  }

  /** Runs it, and restarts it after temporary failures, until its fields change. */
  async #runUntil(changed: Promise<void>, command: SiteCommand): Promise<void> {
    let isChanged = false
    const change = changed.then(() => {
      isChanged = true
    })
    while (!isChanged) {
      const tunnel = this.#supervisor.add(command)
      this.#tunnel = tunnel
      const end = await Promise.race([tunnel.ended, change])
      if (end) await this.#waitAfter(end.exitCode, end.error, change)
      this.#retryAt = undefined
      this.#failure = undefined
      await this.#supervisor.remove(this.name)
      this.#tunnel = undefined
    }
  }

  async #waitAfter(exitCode: ExitCode, error: unknown, change: Promise<void>): Promise<void> {
    if (error !== undefined) {
      const { code, message } = explainError(error)
      this.#failure = { code, message }
    }
    if (FINAL.has(exitCode)) return await change
    const retryMs = this.#backoff.next()
    const pauseMs = exitCode === EXIT.unreachable || exitCode === EXIT.ok ? retryMs : REFUSED_RETRY_MS
    this.#retryAt = Date.now() + pauseMs
    const pause = Promise.withResolvers<void>()
    const timer = setTimeout(pause.resolve, pauseMs).unref()
    await Promise.race([pause.promise, change])
    clearTimeout(timer)
  }
}
