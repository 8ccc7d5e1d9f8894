// Standard output that takes no lines: on a full disk, with a reader that is behind, with nobody at the other end.

import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { LOG_PENDING_MAX_BYTES, LOG_RETRY_MS, LogOutput } from '../../src/core/log/log-output.ts'
import { startRelayProcess } from '../support/relay-process.ts'

/** More than a pipe has room for. */
const LINES = 3_000
const LINE = `${'x'.repeat(99)}\n`

describe('a pipe', () => {
  let directory: string
  let reader: number
  let writer: number
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-log-'))
    execFileSync('mkfifo', [join(directory, 'pipe')])
    reader = openSync(join(directory, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK)
    writer = openSync(join(directory, 'pipe'), constants.O_WRONLY | constants.O_NONBLOCK)
  })
  // The writer stays open: its outputs try again for as long as this process lives, and a descriptor that was closed would
  // soon be somebody else's socket.
  afterAll(() => rm(directory, { recursive: true }))

  /** Everything that is in the pipe now. */
  function read(): string {
    let text = ''
    const buffer = Buffer.alloc(64 * 1024)
    try {
      for (let size = readSync(reader, buffer); size > 0; size = readSync(reader, buffer))
        text += buffer.toString('utf8', 0, size)
    } catch (error) {
      expect(error).toMatchObject({ code: 'EAGAIN' })
    }
    return text
  }

  async function readUntil(part: string): Promise<string> {
    let text = ''
    await vi.waitFor(() => {
      text += read()
      expect(text).toContain(part)
    })
    return text
  }

  test('whose reader is behind gets every line later, in order and whole', async () => {
    const output = new LogOutput(writer)
    for (let i = 0; i < LINES; i++) output.write(`${i} ${LINE}`)
    const text = await readUntil(`\n${LINES - 1} ${LINE}`)
    expect(text).toBe(Array.from({ length: LINES }, (_, i) => `${i} ${LINE}`).join(''))
  })

  test('whose reader stays behind costs memory up to a bound, and is told what is lost', async () => {
    const output = new LogOutput(writer, 1_000)
    for (let i = 0; i < LINES; i++) output.write(LINE)
    const text = await readUntil('lost')
    const lines = text.trim().split('\n')
    expect(JSON.parse(lines.pop()!)).toMatchObject({ level: 40, lines: LINES - lines.length })
    expect(new Set(lines)).toEqual(new Set([LINE.trim()]))
  })

  test('that nobody reads any more is written to in vain', async () => {
    closeSync(reader)
    const output = new LogOutput(writer)
    for (let i = 0; i < LINES; i++) output.write(LINE)
    await setTimeout(2 * LOG_RETRY_MS)
    output.write(LINE)
  })
})

test('a relay whose log is on a full disk starts, serves and ends', { timeout: 180_000 }, async () => {
  const relay = await startRelayProcess({ LOG_LEVEL: 'trace' }, { output: '/dev/full' })
  try {
    const isHealthy = async () =>
      expect(await relay.call('GET', '/api/healthz')).toMatchObject({ status: 200 })
    for (let i = 0; i < 5; i++) await vi.waitFor(isHealthy)
    relay.kill('SIGTERM')
    expect(await relay.ended).toBe(0)
    expect(relay.complaints).toBe('')
    expect(LOG_PENDING_MAX_BYTES).toBeGreaterThan(0)
  } finally {
    await relay.close()
  }
})
