// Who waits to be let in, and the keys that answer, in the live view.

import type { KnockingVisitor } from '@svc/sdk-core'
import { printable } from '../report/printable.ts'
import { type Keyboard, keysOf } from './keyboard.ts'

const UP = '\x1b[A'
const DOWN = '\x1b[B'
const CTRL_C = '\x03'
const CTRL_Z = '\x1a'
/** The most visitors shown; the others come up as these are answered. */
const SHOWN_MAX = 5
/** How long a visitor is the chosen one before keys count, in milliseconds: a key that was for the one before answers nobody else. */
export const SETTLE_MS = 700
const HELP = 'y let in  a always  n refuse  x never'

export interface WaitingVisitors {
  /** The visitors who wait, oldest first. */
  readonly knocks: readonly KnockingVisitor[]
}

export class KnockKeys {
  readonly #store: WaitingVisitors
  readonly #now: () => number
  #chosen: KnockingVisitor | undefined
  #chosenAt = Number.NEGATIVE_INFINITY

  /** @param now the time, in milliseconds */
  constructor(store: WaitingVisitors, now: () => number = () => performance.now()) {
    this.#store = store
    this.#now = now
  }

  /** The lines of the view: the visitors, and below them the keys. */
  lines(): string[] {
    const { knocks } = this.#store
    const chosen = this.#choice()
    if (!chosen) return []
    const from = Math.max(0, Math.min(knocks.indexOf(chosen), knocks.length - SHOWN_MAX))
    const shown = knocks.slice(from, from + SHOWN_MAX)
    const more = knocks.length > shown.length ? `  ${knocks.length} wait` : ''
    return [
      ...shown.map((visitor) => `${visitor === chosen ? '▸' : ' '} ${formatVisitor(visitor)}`),
      `${knocks.length > 1 ? '↑↓ choose  ' : ''}${HELP}${more}`,
    ]
  }

  press(key: string): void {
    const chosen = this.#choice()
    if (!chosen) return
    if (key === UP || key === 'k') this.#move(chosen, -1)
    if (key === DOWN || key === 'j') this.#move(chosen, 1)
    if (this.#now() - this.#chosenAt < SETTLE_MS) return
    if (key === 'y') chosen.admit()
    else if (key === 'a') chosen.admit({ always: true })
    else if (key === 'n') chosen.refuse()
    else if (key === 'x') chosen.refuse({ always: true })
  }

  #move(chosen: KnockingVisitor, by: number): void {
    const { knocks } = this.#store
    this.#chosen = knocks[knocks.indexOf(chosen) + by] ?? chosen
    // The owner chose it, and so has seen it.
    this.#chosenAt = Number.NEGATIVE_INFINITY
  }

  /** Returns the chosen visitor: another one when that does not wait any more. */
  #choice(): KnockingVisitor | undefined {
    const { knocks } = this.#store
    if (this.#chosen && knocks.includes(this.#chosen)) return this.#chosen
    this.#chosen = knocks[0]
    this.#chosenAt = this.#now()
    return this.#chosen
  }
}

/** Returns a line about a visitor without control characters. */
function formatVisitor({ code, address = 'unknown address', browser, path }: KnockingVisitor): string {
  return printable(`${code}  ${address}  ${browser}  ${path}`)
}

/**
 * Calls `press` with each key. Ctrl-C and Ctrl-Z do what they do without this.
 * @returns a function that gives the keyboard back
 */
export function followKeys(keyboard: Keyboard, press: (key: string) => void): () => void {
  const onKeys = (keys: Buffer | string): void => {
    for (const key of keysOf(String(keys))) {
      if (key === CTRL_C) process.kill(process.pid, 'SIGINT')
      else if (key === CTRL_Z && process.platform !== 'win32') suspend(keyboard)
      else press(key)
    }
  }
  keyboard.setRawMode(true)
  keyboard.on('data', onKeys)
  keyboard.resume()
  return () => {
    keyboard.off('data', onKeys)
    keyboard.setRawMode(false)
    keyboard.pause()
  }
}

/** Stops the process until its shell continues it. */
function suspend(keyboard: Keyboard): void {
  keyboard.setRawMode(false)
  process.once('SIGCONT', () => keyboard.setRawMode(true))
  process.kill(process.pid, 'SIGTSTP')
}
