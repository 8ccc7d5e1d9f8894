// Requests that come while the target is down, at a real relay, with a real process as the target, which is killed and started again.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'
import { useStarted } from '../../../tools/use-started.ts'
import type { HoldOptions, HoldReport, SvcError } from '../../src/index.ts'
import { exposeAt, text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'
import { reported, runHere } from '../support/svc.ts'

const WAIT = { timeout: 60_000, interval: 20 }
const relay = useStarted(startTestRelay)

/** Notes each request before it answers it. */
const TARGET = `
  const { appendFileSync } = require('node:fs')
  require('node:http').createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    appendFileSync(process.argv[2], request.method + ' ' + request.url + ' ' + body + '\\n')
    response.end('handled ' + body)
  }).listen(Number(process.argv[1]), '127.0.0.1', () => console.log('listening'))
`

let folder: string
let port: number
let notes: string
let target: ChildProcess | undefined
let ends: (() => unknown)[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-hold-'))
  notes = join(folder, 'notes')
  port = await freePort()
})
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
  await killed()
  await rm(folder, { recursive: true })
})

async function started(): Promise<void> {
  target = spawn(process.execPath, ['-e', TARGET, String(port), notes], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(target.stdout!, 'data')
}

async function killed(): Promise<void> {
  if (!target || target.exitCode !== null || target.signalCode !== null) return
  target.kill('SIGKILL')
  await once(target, 'exit')
}

async function noted(): Promise<string[]> {
  return (await readFile(notes, 'utf8').catch(() => '')).split('\n').filter(Boolean)
}

async function exposed(hold: HoldOptions) {
  const reports: HoldReport[] = []
  const errors: SvcError[] = []
  const exposure = await exposeAt(relay, {
    http: port,
    hold,
    onHold: (report) => void reports.push(report),
    onTargetError: (error) => void errors.push(error),
  })
  ends.push(() => exposure.close())
  return { url: exposure.sites[0]!.url, reports, errors, exposure }
}

function post(url: string, path: string, body: string): Promise<IncomingMessage> {
  return visit(relay, url, path, { method: 'POST', body })
}

it('a target is killed and started again under load: what was accepted arrives once and in order', async () => {
  await started()
  const { url, reports } = await exposed({ for: '10m' })
  const accepted: Record<string, number[]> = { a: [], b: [], c: [] }
  /** Those that the kill cut while they were handled: nobody knows whether they were. */
  const cut: string[] = []
  let isOver = false
  const sender = async (name: string): Promise<void> => {
    for (let number = 0; !isOver; number += 1) {
      const { statusCode } = await post(url, `/${name}/${number}`, 'a')
      if (statusCode === 200 || statusCode === 202) accepted[name]!.push(number)
      else cut.push(`/${name}/${number}`)
    }
  }
  const senders = Object.keys(accepted).map(sender)
  const sent = () => Object.values(accepted).flat().length
  for (const round of [1, 2]) {
    await vi.waitFor(() => expect(sent()).toBeGreaterThan(round * 20), WAIT)
    await killed()
    const before = reports.filter(({ state }) => state === 'kept').length
    await vi.waitFor(
      () => expect(reports.filter(({ state }) => state === 'kept').length).toBeGreaterThan(before + 15),
      WAIT,
    )
    await started()
    await vi.waitFor(() => expect(reports.at(-1)).toMatchObject({ state: 'delivered' }), WAIT)
  }
  isOver = true
  await Promise.all(senders)
  const kept = () => reports.filter(({ state }) => state === 'kept').length
  const ended = () => reports.filter(({ state }) => state !== 'kept')
  await vi.waitFor(() => expect(ended()).toHaveLength(kept()), WAIT)
  for (const { path, status } of ended()) if (status === undefined) cut.push(path)
  const arrived = (await noted()).map((line) => line.split(' ')[1]!)
  for (const [name, numbers] of Object.entries(accepted)) {
    const wanted = numbers.map((number) => `/${name}/${number}`).filter((path) => !cut.includes(path))
    expect(arrived.filter((path) => path.startsWith(`/${name}/`) && !cut.includes(path))).toEqual(wanted)
  }
  expect(new Set(arrived).size).toBe(arrived.length)
  expect(cut.length).toBeLessThanOrEqual(6)
}, 180_000)

it('with wait, visitors get the answers of the target, and who left is not delivered', async () => {
  const { url, reports, exposure } = await exposed({ for: '10m', answer: 'wait' })
  const answers: Promise<string>[] = []
  for (const body of ['one', 'two']) {
    const kept = reports.length
    answers.push(post(url, '/hook', body).then(text))
    await vi.waitFor(() => expect(reports.length).toBeGreaterThan(kept), WAIT)
  }
  const leaving = new AbortController()
  const left = visit(relay, url, '/hook', { method: 'POST', body: 'three', signal: leaving.signal })
  await vi.waitFor(() => expect(reports).toHaveLength(3), WAIT)
  const streams = (): number => exposure.sites[0]!.stats().openStreams
  const before = streams()
  leaving.abort()
  await expect(left).rejects.toThrow()
  await vi.waitFor(() => expect(streams()).toBeLessThan(before), WAIT)
  await started()
  expect(await Promise.all(answers)).toEqual(['handled one', 'handled two'])
  expect(await post(url, '/hook', 'four').then(text)).toBe('handled four')
  expect(await noted()).toEqual(['POST /hook one', 'POST /hook two', 'POST /hook four'])
}, 120_000)

it('what does not fit gets 503 and Retry-After', async () => {
  const { url, reports } = await exposed({ for: '10m' })
  const page = await visit(relay, url, '/')
  expect([page.statusCode, page.headers['retry-after']]).toEqual([503, '10'])
  const body = Buffer.alloc(26 * 1024 * 1024)
  const large = await visit(relay, url, '/', { method: 'POST', body })
  expect([large.statusCode, large.headers['retry-after']]).toEqual([503, '10'])
  expect(reports).toEqual([{ state: 'refused', method: 'POST', path: '/', waiting: 0 }])
}, 120_000)

it('what is kept when the site ends is said to be lost', async () => {
  const { url, reports, errors, exposure } = await exposed({ for: '10m' })
  expect((await post(url, '/hook?secret', 'one')).statusCode).toBe(202)
  await exposure.close()
  await vi.waitFor(() => expect(reports.map(({ state }) => state)).toEqual(['kept', 'lost']), WAIT)
  expect(errors.at(-1)?.message).toMatch(/POST \/hook was kept, and is lost/)
}, 120_000)

it('svc shows what is kept and delivered', async () => {
  const run = runHere(folder, [
    ...['expose', String(port), '--relay', relay.origin, '--ca', relay.caFile],
    ...['--hold', '10m', '--hold-answer', '202', '--json'],
  ])
  ends.push(() => run.stop())
  const { url } = await reported(run, 'online')
  expect((await post(url!, '/hook?secret', 'one')).statusCode).toBe(202)
  expect(await reported(run, 'held')).toMatchObject({
    state: 'kept',
    method: 'POST',
    path: '/hook',
    waiting: 1,
  })
  await started()
  await vi.waitFor(() => {
    const last = run.out.map((line) => JSON.parse(line)).findLast(({ event }) => event === 'held')
    expect(last).toMatchObject({ state: 'delivered', status: 200, waiting: 0 })
  }, WAIT)
  expect(await noted()).toEqual(['POST /hook?secret one'])
}, 120_000)

it.each([
  [{ for: '10 minutes' }, /hold.for has to be a time/],
  [{ for: '2d' }, /hold.for has to be a time/],
  [{ for: '10m', answer: '200' }, /hold.answer has to be 202 or wait/],
  [{ for: '10m', size: 1 }, /hold.size is not known/],
])('expose refuses hold: %o', async (hold, message) => {
  await expect(exposeAt(relay, { http: port, hold: hold as HoldOptions })).rejects.toThrow(message)
})

it('expose refuses hold without a web server', async () => {
  await expect(exposeAt(relay, { tcp: port, hold: { for: '10m' } })).rejects.toThrow(/hold needs http/)
})
