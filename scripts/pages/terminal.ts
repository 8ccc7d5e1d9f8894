// A terminal of this machine in which a script types: tmux draws it, so that what programs write is seen as people see it.
import { execFileSync, spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'

export interface TerminalOptions {
  columns: number
  rows: number
  /** Of the shell; nothing else of this process' environment reaches it. */
  env: Record<string, string>
  cwd: string
}

export interface Terminal {
  /** Types a command, without Enter. */
  type(command: string): void
  enter(): void
  /** Sends a key by tmux's name, such as `C-c`. */
  key(name: string): void
  /** The lines on the screen with their escape sequences, without empty ones at the end. */
  screen(): string[]
  /** Waits until the screen has the text so many times. @throws Error with the screen after half a minute */
  shows(text: string, times?: number): Promise<void>
  close(): void
}

/** It ends what hangs, in milliseconds. */
const TIMEOUT_MS = 30_000
const LOOK_MS = 100
const PROMPT = '$ '

/** @throws Error where tmux is not installed */
export async function openTerminal({ columns, rows, env, cwd }: TerminalOptions): Promise<Terminal> {
  const socket = `svc-recording-${process.pid}-${Math.random().toString(36).slice(2)}`
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' })
  if (spawnSync('tmux', ['-V']).error) throw new Error('Recordings need tmux (Debian: apt-get install tmux).')
  const variables = Object.entries({ TERM: 'xterm-256color', LANG: 'C.UTF-8', PS1: PROMPT, ...env })
  const shell = ['env', '-i', ...variables.map(([name, value]) => `${name}=${value}`)]
  const size = ['-x', String(columns), '-y', String(rows)]
  tmux('new-session', '-d', ...size, '-c', cwd, ...shell, 'bash', '--norc', '--noprofile')
  const screen = (): string[] => tmux('capture-pane', '-e', '-p', '-N').trimEnd().split('\n')
  const shows = async (text: string, times = 1): Promise<void> => {
    for (let left = TIMEOUT_MS; screen().join('\n').split(text).length <= times; left -= LOOK_MS) {
      if (left <= 0) throw new Error(`The terminal never showed ${text}:\n${screen().join('\n')}`)
      await delay(LOOK_MS)
    }
  }
  await shows(PROMPT.trim())
  return {
    type: (command) => void tmux('send-keys', '-l', '--', command),
    enter: () => void tmux('send-keys', 'Enter'),
    key: (name) => void tmux('send-keys', name),
    screen,
    shows,
    close: () => void tmux('kill-server'),
  }
}
