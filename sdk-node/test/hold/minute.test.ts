// A server that is killed and away for a minute, by the clock of what is kept: requests come all along, and each arrives once and in
// order. The server is a process, and the connections to it are real; the minute takes a second or two.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DIRECT, type DirectHandler, type DirectRequest } from '@svc/sdk-core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'
import { atDepth } from '../../../tools/test-depth.ts'
import type { HeldTarget } from '../../src/hold/held.ts'
import { Hold, type HoldReport } from '../../src/hold/hold.ts'
import { RETRY_MS } from '../../src/hold/limits.ts'
import { httpTarget } from '../../src/target/http-target.ts'

const MINUTE_MS = 60_000
const STEPS: number = MINUTE_MS / RETRY_MS
const SENDERS = ['a', 'b', 'c', 'd', 'e'] as const

/** Notes each request before it answers it. */
const SERVER = `
  const { appendFileSync } = require('node:fs')
  require('node:http').createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    appendFileSync(process.argv[2], request.url + ' ' + body + '\\n')
    response.end('handled')
  }).listen(Number(process.argv[1]), '127.0.0.1', () => console.log('listening'))
`

let folder: string
let notes: string
let port: number
let server: ChildProcess | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-minute-'))
  notes = join(folder, 'notes')
  port = await freePort()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(async () => {
  vi.useRealTimers()
  await killed()
  await rm(folder, { recursive: true })
})

async function started(): Promise<void> {
  server = spawn(process.execPath, ['-e', SERVER, String(port), notes], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(server.stdout!, 'data')
}

async function killed(): Promise<void> {
  if (!server || server.exitCode !== null || server.signalCode !== null) return
  server.kill('SIGKILL')
  await once(server, 'exit')
}

function request(sender: string, number: number): DirectRequest {
  const left = [new TextEncoder().encode(`${sender}${number}`)].values()
  return {
    method: 'POST',
    url: new URL(`https://site.example/${sender}/${number}`),
    fields: [
      ['host', 'site.example'],
      ['content-length', String(`${sender}${number}`.length)],
    ],
    body: { next: async () => left.next().value },
    remote: { address: `192.0.2.${SENDERS.indexOf(sender as 'a') + 1}`, port: 1, reportedBy: 'relay' },
  }
}

/** A target whose attempts of deliveries can be waited for. */
function held(answer: '202' | 'wait') {
  const reports: HoldReport[] = []
  const attempts = new Set<Promise<unknown>>()
  const hold = new Hold(
    { for: '10m', answer },
    (report) => void reports.push(report),
    ({ message }) => expect.fail(message),
  )
  const watched =
    (deliver: DirectHandler): DirectHandler =>
    (asked) => {
      const exchange = deliver(asked)!
      const respond = () => {
        const attempt = exchange.respond()
        attempts.add(attempt)
        attempt.finally(() => attempts.delete(attempt)).catch(() => {})
        return attempt
      }
      return { respond, cancel: (reason) => exchange.cancel(reason) }
    }
  const before = (target: HeldTarget) => hold.before({ ...target, deliver: watched(target.deliver) })
  const handler = httpTarget(new URL(`http://127.0.0.1:${port}`), { hold: before, onError: () => {} })
  /** The clock goes on, and what is tried now comes to its end. */
  const step = async (): Promise<void> => {
    await vi.advanceTimersByTimeAsync(RETRY_MS)
    await Promise.allSettled(attempts)
    await new Promise(setImmediate)
  }
  return { hold, reports, direct: handler[DIRECT]!, step }
}

it.each(atDepth<readonly ('202' | 'wait')[]>(['202', 'wait'], ['wait']))(
  'with %s, all that came in that minute arrives, each once and in the order of its sender',
  async (answer) => {
    await started()
    const { hold, reports, direct, step } = held(answer)
    const sent: Record<string, number> = Object.fromEntries(SENDERS.map((sender) => [sender, 0]))
    const statuses: Promise<number>[] = []
    const send = async (sender: string): Promise<void> => {
      const status = direct(request(sender, sent[sender]!++))!
        .respond()
        .then((response) => response.status)
      const before = reports.length
      statuses.push(status)
      // The next one of a sender comes when this one is answered, or kept.
      await Promise.race([status, until(() => reports.length > before)])
    }
    for (const sender of SENDERS) await send(sender)
    expect(reports).toEqual([])
    await killed()
    const left = performance.now()
    for (let at = 0; at < STEPS; at += 1) {
      for (const sender of SENDERS) await send(sender)
      await step()
    }
    expect(performance.now() - left).toBe(MINUTE_MS)
    const kept = STEPS * SENDERS.length
    expect(reports.map(({ state }) => state)).toEqual(Array(kept).fill('kept'))
    expect(reports.at(-1)!.waiting).toBe(kept)
    expect(await arrived()).toHaveLength(SENDERS.length)
    await started()
    const back = step()
    // Requests go on while the others are delivered.
    for (let at = 0; at < 20; at += 1) for (const sender of SENDERS) await send(sender)
    await back
    await until(() => reports.at(-1)!.waiting === 0)
    const found = await Promise.all(statuses)
    const total = found.length
    expect(found.filter((status) => status === 200 || (answer === '202' && status === 202))).toHaveLength(
      total,
    )
    const lines = await arrived()
    expect(lines).toHaveLength(total)
    for (const sender of SENDERS)
      expect(lines.filter((line) => line.startsWith(`/${sender}/`))).toEqual(
        Array.from({ length: sent[sender]! }, (_, number) => `/${sender}/${number} ${sender}${number}`),
      )
    hold.close()
  },
  120_000,
)

async function arrived(): Promise<string[]> {
  return (await readFile(notes, 'utf8')).split('\n').filter(Boolean)
}

/** The clock stands still meanwhile. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate)
}
