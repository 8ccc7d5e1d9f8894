// Shows a view on a terminal's alternate screen, redraws it on changes, and restores the terminal at the end.

import type { TerminalSize } from './view.ts'

/** The redraw interval, in milliseconds: fast enough for people, slow enough for a slow connection. */
const REDRAW_INTERVAL_MS = 500

/** Alternate screen, no cursor, no wrapping, so that a line that is too long does not move the others. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l'
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l'
/** Clears the screen, in one write with the following lines: after a full line it would erase the last character. */
const CLEAR = '\x1b[H\x1b[J'

/** The assumed size of a terminal that does not report its own. */
const USUAL: TerminalSize = { columns: 80, rows: 24 }

/** The part of `process.stdout` that the screen uses. */
export interface Terminal extends TerminalSize {
  write(text: string): unknown
  on(event: 'resize', listener: () => void): unknown
  off(event: 'resize', listener: () => void): unknown
}

export class Screen {
  readonly #terminal: Terminal
  readonly #view: (room: TerminalSize) => string[]
  #timer: NodeJS.Timeout | undefined
  #drawn = ''

  constructor(terminal: Terminal, view: (room: TerminalSize) => string[]) {
    this.#terminal = terminal
    this.#view = view
  }

  get isOpen(): boolean {
    return this.#timer !== undefined
  }

  open(): void {
    if (this.isOpen) return
    this.#terminal.write(ENTER)
    this.#terminal.on('resize', this.#redraw)
    this.#timer = setInterval(() => this.draw(), REDRAW_INTERVAL_MS)
    // Restores the terminal however the process ends.
    process.on('exit', this.#close)
    process.on('SIGTSTP', this.#stop)
    process.on('SIGCONT', this.#continue)
    this.#redraw()
  }

  draw(): void {
    const { columns, rows } = this.#terminal
    const room = { columns: columns || USUAL.columns, rows: rows || USUAL.rows }
    const frame = CLEAR + this.#view(room).join('\r\n')
    if (frame === this.#drawn) return
    this.#drawn = frame
    this.#terminal.write(frame)
  }

  close(): void {
    if (!this.isOpen) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#terminal.off('resize', this.#redraw)
    process.off('exit', this.#close)
    process.off('SIGTSTP', this.#stop)
    process.off('SIGCONT', this.#continue)
    this.#terminal.write(LEAVE)
  }

  /** Redraws at once, because a resized terminal may show anything. */
  readonly #redraw = (): void => {
    this.#drawn = ''
    this.draw()
  }

  /** At Ctrl-Z, restores the terminal while the process is stopped. */
  readonly #stop = (): void => {
    this.#terminal.write(LEAVE)
    process.kill(process.pid, 'SIGSTOP')
  }

  readonly #continue = (): void => {
    this.#terminal.write(ENTER)
    this.#redraw()
  }

  readonly #close = (): void => this.close()
}
