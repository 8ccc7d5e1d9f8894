// What the output says of the targets of a tunnel: where they are, and whether something listens there.

import { SvcError } from '@svc/sdk-core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { shownTargets } from '../../../src/cli/commands/shown-targets.ts'
import { DOWN_PAUSE_MS, TargetWatch, UP_PAUSE_MS } from '../../../src/cli/commands/target-watch.ts'
import { parseCommandLine } from '../../../src/cli/options/command-line.ts'
import type { SiteCommand } from '../../../src/cli/options/parsed-command.ts'
import { formatAddresses } from '../../../src/cli/report/reporter.ts'

const print = { log: () => {}, error: () => {} }
const parsed = (...args: string[]): SiteCommand => parseCommandLine(args, {}, print) as SiteCommand

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A watch of a command, whose targets listen unless they are in `faults`, by host and port. */
function watched(...args: string[]) {
  const faults = new Map<string, NodeJS.ErrnoException>()
  const looks: string[] = []
  const told: [string, string | undefined][] = []
  const watch = new TargetWatch(
    parsed(...args),
    (target, reason) => void told.push([target, reason]),
    async (address) => {
      const at = 'path' in address ? address.path : `${address.host}:${address.port}`
      looks.push(at)
      return faults.get(at)
    },
  )
  return { watch, faults, looks, told }
}

const refused = (): NodeJS.ErrnoException => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
const visitorError = (address: string, cause: unknown): SvcError =>
  new SvcError('target_unreachable', `${address} does not answer: ECONNREFUSED`, { cause })

it('says once that nothing listens, and once that something does', async () => {
  const { watch, faults, told } = watched('expose', '3000')
  faults.set('localhost:3000', refused())
  watch.start()
  await vi.advanceTimersByTimeAsync(3 * DOWN_PAUSE_MS)
  expect(told).toEqual([['http://localhost:3000', 'nothing listens at http://localhost:3000']])
  faults.clear()
  await vi.advanceTimersByTimeAsync(DOWN_PAUSE_MS)
  expect(told.slice(1)).toEqual([['http://localhost:3000', undefined]])
  faults.set('localhost:3000', refused())
  await vi.advanceTimersByTimeAsync(UP_PAUSE_MS)
  expect(told).toHaveLength(3)
  watch.close()
  faults.clear()
  await vi.advanceTimersByTimeAsync(UP_PAUSE_MS)
  expect(told).toHaveLength(3)
})

it('says nothing of a target that listens, and looks at it at intervals', async () => {
  const { watch, looks, told } = watched('expose', '3000')
  watch.start()
  watch.start()
  await vi.advanceTimersByTimeAsync(2 * UP_PAUSE_MS)
  expect([looks.length, told]).toEqual([3, []])
})

it('looks at a TCP service at the start, and once a visitor finds nobody there', async () => {
  const { watch, faults, looks, told } = watched('expose', '--tcp', '5432')
  watch.start()
  await vi.advanceTimersByTimeAsync(3 * UP_PAUSE_MS)
  expect(looks).toEqual(['localhost:5432'])
  faults.set('localhost:5432', refused())
  expect(watch.covers(visitorError('localhost:5432', refused()))).toBe(true)
  await vi.advanceTimersByTimeAsync(0)
  expect(told).toEqual([['localhost:5432', 'nothing listens at localhost:5432']])
})

it('looks no more often for visitors who find nobody', async () => {
  const { watch, faults, looks } = watched('expose', '3000')
  faults.set('localhost:3000', refused())
  watch.start()
  await vi.advanceTimersByTimeAsync(0)
  for (let visits = 0; visits < 10; visits += 1) watch.covers(visitorError('localhost:3000', refused()))
  await vi.advanceTimersByTimeAsync(DOWN_PAUSE_MS)
  expect(looks).toHaveLength(2)
})

it('leaves other errors to others: those of another service, and those that say more', () => {
  const { watch } = watched('expose', '3000', '--udp', '53')
  expect(watch.covers(visitorError('localhost:53', refused()))).toBe(false)
  const untrusted = Object.assign(new Error('untrusted'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  expect(watch.covers(visitorError('localhost:3000', untrusted))).toBe(false)
  expect(watch.covers(visitorError('localhost:3000', refused()))).toBe(true)
})

it('says why a target cannot be reached when that is not that nothing listens', async () => {
  const { watch, faults, told } = watched('expose', 'https://app.test')
  faults.set('app.test:443', Object.assign(new Error(), { code: 'ENOTFOUND' }))
  watch.start()
  await vi.advanceTimersByTimeAsync(0)
  expect(told).toEqual([['https://app.test', 'https://app.test does not answer: ENOTFOUND']])
})

it('looks at each server once, at sockets too, and at no folder', async () => {
  const routes = ['--route', '/a=3000', '--route', '/b=./docs', '--route', '/c=unix:/run/app.sock']
  const { watch, looks } = watched('expose', '3000', ...routes)
  watch.start()
  await vi.advanceTimersByTimeAsync(0)
  expect(looks.sort()).toEqual(['/run/app.sock', 'localhost:3000'])
})

it.each([
  [{ url: 'http://localhost:3000', routes: { '/api': './api' } }, ' → http://localhost:3000  /api → ./api'],
  [{ routes: { '/api': './api' } }, '  /api → ./api'],
  [{}, ''],
])('follows the URL with %j', (targets, shown) => {
  const url = 'https://demo.example'
  expect(formatAddresses({ url }, targets)).toEqual([url + shown])
})

it.each<[string[], object]>([
  [['expose', '3000'], { url: 'http://localhost:3000' }],
  [['expose', 'https://localhost:8443/base'], { url: 'https://localhost:8443/base' }],
  [['expose', 'grpc://50051'], { url: 'h2c://localhost:50051' }],
  [['expose', '--tls', '[::1]:443', '--tcp', '22'], { url: '[::1]:443', tcp: 'localhost:22' }],
  [['expose', '--udp', '53'], { udp: 'localhost:53' }],
  [['serve', './site'], { url: './site' }],
  [['replay', 'session.har'], { url: 'session.har' }],
  [
    ['expose', '3000', '--route', '/api=3001 GET:0.01', '--route', '/docs=./docs', '--route', 'wrong'],
    { url: 'http://localhost:3000', routes: { '/api': 'http://localhost:3001', '/docs': './docs' } },
  ],
])('shows the targets of svc %j', (args, targets) => {
  expect(shownTargets(parsed(...args))).toEqual(targets)
})
