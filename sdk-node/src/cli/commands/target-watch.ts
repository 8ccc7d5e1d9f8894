// Looks whether something listens at the targets of a tunnel: when it begins, after a visitor found nobody there, and at intervals.

import { connect } from 'node:net'
import type { SvcError } from '@svc/sdk-core'
import { ADDRESS_DEADLINE_MS, TARGET_CONNECT_DEADLINE_MS } from '../../net/deadlines.ts'
import { localhostLookup } from '../../net/localhost-lookup.ts'
import { parseHttpTarget, parseTcpTarget, priorKnowledge, socketPathOf } from '../../target/target-address.ts'
import { isNobody } from '../../target/target-hint.ts'
import type { SiteCommand } from '../options/parsed-command.ts'
import { routesOf, shownHttp, shownService } from './shown-targets.ts'

/** Milliseconds between two looks at a target at which nothing listens. */
export const DOWN_PAUSE_MS = 1_000
/** Milliseconds between two looks at an HTTP server that listens. */
export const UP_PAUSE_MS = 10_000

type Address = { host: string; port: number } | { path: string }

/** A WatchedTarget is a target to which a connection can be opened. */
interface WatchedTarget {
  /** Its text in the output. */
  shown: string
  address: Address
  /** Whether it is looked at while it listens. Other services may log such a connection, and visitors show when they are gone. */
  isHttp: boolean
}

/** Called with a target that cannot be reached, and the reason; and without one when it can be reached again. */
type OnChange = (target: string, reason: string | undefined) => void

/** Resolves with the error of a connection, or with undefined when there is one. */
export type Look = (address: Address) => Promise<unknown>

export class TargetWatch {
  readonly #looks: TargetLook[]

  constructor(command: SiteCommand, onChange: OnChange, look: Look = openConnection) {
    const targets = new Map(watchedTargets(command).map((target) => [target.shown, target]))
    this.#looks = [...targets.values()].map((target) => new TargetLook(target, onChange, look))
  }

  /** Begins. A second call does nothing. */
  start(): void {
    for (const each of this.#looks) each.start()
  }

  /** Returns whether an error says only that nothing listens at one of the targets, and looks at once. */
  covers({ message, cause }: SvcError): boolean {
    if (!isNobody(cause)) return false
    const found = this.#looks.find(({ written }) => message.startsWith(`${written} `))
    found?.doubt()
    return found !== undefined
  }

  close(): void {
    for (const each of this.#looks) each.close()
  }
}

/** Looks at one target. */
class TargetLook {
  /** Its address, as the errors of visitors begin. */
  readonly written: string
  readonly #target: WatchedTarget
  readonly #onChange: OnChange
  readonly #look: Look
  #state: 'new' | 'up' | 'down' | 'closed' = 'new'
  #isLooking = false
  #timer: NodeJS.Timeout | undefined

  constructor(target: WatchedTarget, onChange: OnChange, look: Look) {
    const { address } = target
    this.written = 'path' in address ? `unix:${address.path}` : `${address.host}:${address.port}`
    this.#target = target
    this.#onChange = onChange
    this.#look = look
  }

  start(): void {
    if (this.#state === 'new') this.now()
  }

  /** Looks at once, unless it is known that nothing listens: visitors must not make it look more often. */
  doubt(): void {
    if (this.#state !== 'down') this.now()
  }

  now(): void {
    if (!this.#isLooking && this.#state !== 'closed') void this.#next()
  }

  close(): void {
    this.#state = 'closed'
    clearTimeout(this.#timer)
  }

  async #next(): Promise<void> {
    clearTimeout(this.#timer)
    this.#isLooking = true
    const fault = await this.#look(this.#target.address)
    this.#isLooking = false
    if (this.#state === 'closed') return
    const { shown, isHttp } = this.#target
    const wasDown = this.#state === 'down'
    const isDown = fault !== undefined
    this.#state = isDown ? 'down' : 'up'
    if (isDown !== wasDown) this.#onChange(shown, isDown ? reasonOf(shown, fault) : undefined)
    if (isDown || isHttp)
      this.#timer = setTimeout(() => this.now(), isDown ? DOWN_PAUSE_MS : UP_PAUSE_MS).unref()
  }
}

function reasonOf(target: string, fault: unknown): string {
  const { code, message } = fault as NodeJS.ErrnoException
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return `nothing listens at ${target}`
  return `${target} does not answer: ${code ?? message}`
}

/** Returns the targets at which a connection shows whether something listens: no folders, and no UDP services. */
function watchedTargets(command: SiteCommand): WatchedTarget[] {
  const https = routesOf(command).map(({ target }) => target)
  if (command.command === 'serve') return https.flatMap(httpAddress)
  const { tls, tcp } = command.options
  if (command.target !== undefined) https.unshift(command.target)
  return [
    ...https.flatMap(httpAddress),
    ...[tls, tcp].flatMap((target) => (target ? tcpAddress(target) : [])),
  ]
}

function httpAddress(target: string): WatchedTarget[] {
  try {
    const given = parseHttpTarget(target)
    const path = socketPathOf(given)
    const { hostname, port, protocol } = priorKnowledge(given) ?? given
    const address =
      path === undefined
        ? {
            host: hostname.replace(/^\[|\]$/g, ''),
            port: Number(port) || (protocol === 'https:' ? 443 : 80),
          }
        : { path }
    return [{ shown: shownHttp(target), address, isHttp: true }]
  } catch {
    return []
  }
}

function tcpAddress(target: string): WatchedTarget[] {
  try {
    return [{ shown: shownService(target), address: parseTcpTarget('', target), isHttp: false }]
  } catch {
    return []
  }
}

function openConnection(address: Address): Promise<unknown> {
  return new Promise((resolve) => {
    const socket = connect({
      ...address,
      lookup: localhostLookup,
      autoSelectFamilyAttemptTimeout: ADDRESS_DEADLINE_MS,
      timeout: TARGET_CONNECT_DEADLINE_MS,
    })
    const over = (fault?: unknown): void => {
      socket.destroy()
      resolve(fault)
    }
    socket.once('connect', () => over())
    socket.once('timeout', () => over(new Error('no answer in time')))
    // Stays: an error after the end must not end the process.
    socket.on('error', over)
  })
}
