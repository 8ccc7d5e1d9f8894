// The keys that answer visitors who knock: what they do, and to whom.

import { EventEmitter } from 'node:events'
import type { KnockingVisitor } from '@svc/sdk-core'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { StatusStore } from '../../../src/cli/report/status-store.ts'
import { followKeys, KnockKeys, SETTLE_MS } from '../../../src/cli/tui/knock-keys.ts'
import { startTui } from '../../../src/cli/tui/tui.ts'

let store: StatusStore
let keys: KnockKeys
let now: number
let answers: string[]

beforeEach(() => {
  store = new StatusStore()
  now = 0
  keys = new KnockKeys(store, () => now)
  answers = []
})

/** @returns a function that ends the waiting */
function knock(code: string, visitor: Partial<KnockingVisitor> = {}): () => void {
  const controller = new AbortController()
  const answer = (what: string) => (options?: { always?: boolean | undefined }) => {
    answers.push(`${what} ${code}${options?.always ? ' always' : ''}`)
    controller.abort()
  }
  store.knocked(undefined, {
    code,
    address: '192.0.2.7',
    browser: 'Firefox on Linux',
    path: '/',
    since: 0,
    ended: controller.signal,
    admit: answer('admit'),
    refuse: answer('refuse'),
    ...visitor,
  })
  return () => controller.abort()
}

describe('the lines', () => {
  it('are none while nobody waits', () => {
    expect(keys.lines()).toEqual([])
  })

  it('show each visitor, and the keys', () => {
    knock('0001')
    knock('0002', { address: undefined, browser: 'curl/8.5.0', path: '/api' })
    expect(keys.lines()).toEqual([
      '▸ 0001  192.0.2.7  Firefox on Linux  /',
      '  0002  unknown address  curl/8.5.0  /api',
      '↑↓ choose  y let in  a always  n refuse  x never',
    ])
  })

  it('have no control characters', () => {
    knock('0001', { browser: '\x1b[2J\x9b', path: '/\r\n\u202e' })
    expect(keys.lines()[0]).toMatch(/^▸ 0001 {2}192\.0\.2\.7 {2}\?\[2J\? {2}\/\?\n?\?$/)
  })

  it('are few, however many wait, and always have the chosen one', () => {
    for (let at = 0; at < 16; at += 1) knock(String(at).padStart(4, '0'))
    for (let at = 0; at < 20; at += 1) {
      const lines = keys.lines()
      expect(lines).toHaveLength(6)
      expect(lines.filter((line) => line.startsWith('▸'))).toHaveLength(1)
      expect(lines.at(-1)).toContain('16 wait')
      keys.press('j')
    }
  })
})

describe('the keys', () => {
  it.each([
    ['y', 'admit 0001'],
    ['a', 'admit 0001 always'],
    ['n', 'refuse 0001'],
    ['x', 'refuse 0001 always'],
  ])('%s: %s', (key, answer) => {
    knock('0001')
    keys.lines()
    now += SETTLE_MS
    keys.press(key)
    expect([answers, keys.lines()]).toEqual([[answer], []])
  })

  it('choose another visitor', () => {
    for (const code of ['0001', '0002', '0003']) knock(code)
    keys.press('j')
    keys.press('\x1b[B')
    keys.press('\x1b[B')
    keys.press('k')
    keys.press('y')
    expect(answers).toEqual(['admit 0002'])
  })

  it('answer nobody who took the place of another just now', () => {
    const leave = knock('0001')
    knock('0002')
    keys.lines()
    now += SETTLE_MS
    leave()
    keys.press('y')
    now += SETTLE_MS - 1
    keys.press('y')
    expect(answers).toEqual([])
    now += 1
    keys.press('y')
    expect(answers).toEqual(['admit 0002'])
  })

  it('end the process with Ctrl-C, and are given back', () => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    const modes: boolean[] = []
    const keyboard = Object.assign(new EventEmitter(), {
      setRawMode: (isRaw: boolean) => modes.push(isRaw),
      resume: () => {},
      pause: () => {},
    })
    const pressed: string[] = []
    const release = followKeys(keyboard, (key) => pressed.push(key))
    keyboard.emit('data', 'y\x1b[A\x03')
    release()
    keyboard.emit('data', 'n')
    expect(kill).toHaveBeenCalledWith(process.pid, 'SIGINT')
    kill.mockRestore()
    expect([pressed, modes]).toEqual([
      ['y', '\x1b[A'],
      [true, false],
    ])
  })
})

describe('the live view', () => {
  it('rings, shows who waits above the last line, and takes keys while it is open', () => {
    let screen = ''
    const terminal = Object.assign(new EventEmitter(), {
      columns: 80,
      rows: 24,
      write: (text: string) => {
        screen = text.includes('\x1b[J') ? text : screen + text
      },
    })
    const modes: boolean[] = []
    const keyboard = Object.assign(new EventEmitter(), {
      setRawMode: (isRaw: boolean) => modes.push(isRaw),
      resume: () => {},
      pause: () => {},
    })
    vi.useFakeTimers()
    const live = { store, print: () => {}, areSeveral: false, keyboard, hasKnocks: true }
    const tui = startTui(terminal, live)
    tui.tell({ event: 'online', relay: 'https://relay.example' })
    knock('0001')
    let rung = ''
    const { write } = terminal
    terminal.write = (text: string) => {
      rung += text
      write(text)
    }
    tui.tell({
      event: 'knock',
      code: '0001',
      browser: 'Firefox on Linux',
      path: '/',
      since: '2026-01-01T00:00:00.000Z',
    })
    expect(rung).toContain('\x07')
    expect(screen.split('\r\n').slice(-3)).toEqual([
      '▸ 0001  192.0.2.7  Firefox on Linux  /',
      'y let in  a always  n refuse  x never',
      'Ctrl-C takes it off the relay',
    ])
    vi.advanceTimersByTime(SETTLE_MS)
    keyboard.emit('data', 'y')
    expect(answers).toEqual(['admit 0001'])
    expect(screen).not.toContain('0001')
    tui.close()
    vi.useRealTimers()
    expect(modes).toEqual([true, false])
  })
})
