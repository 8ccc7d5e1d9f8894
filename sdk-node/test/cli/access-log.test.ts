// `--log` at a real relay: who was there, in which form, without secrets, and what becomes of the file.

import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { LogFile } from '../../src/agent/log-file.ts'
import { commonLine } from '../../src/cli/report/access-log.ts'
import { text, visit } from '../support/exposed.ts'
import { useSvcAtRelay } from '../support/svc-at-relay.ts'

const own = useSvcAtRelay(
  createServer((request, response) => {
    if (request.url === '/streamed') response.write('of unknown ')
    response.end('length')
  }),
)
afterEach(() => void vi.useRealTimers())

const file = (): string => join(own.home, 'access.log')
const lines = async (): Promise<string[]> => (await readFile(file(), 'utf8')).split('\n').slice(0, -1)

it('has a line for each request in the Common Log Format, for its owner only', async () => {
  const { url, stop } = await own.expose('--name', 'common', '--log', file())
  await text(
    await visit(own.relay, url, '/a%20b?token=secret', { headers: { authorization: 'Basic c2VjcmV0' } }),
  )
  await text(await visit(own.relay, url, '/streamed', { method: 'POST' }))
  await text(await visit(own.relay, url, '/', { method: 'HEAD' }))
  await stop()
  const time = String.raw`\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\]`
  const line = (rest: string) => expect.stringMatching(new RegExp(`^127\\.0\\.0\\.0 - - ${time} ${rest}$`))
  expect(await lines()).toEqual([
    line('"GET /a%20b HTTP/1.1" 200 6'),
    line('"POST /streamed HTTP/1.1" 200 -'),
    line('"HEAD / HTTP/1.1" 200 0'),
  ])
  expect((await stat(file())).mode & 0o777).toBe(0o600)
})

it('has JSON with whole addresses when that is wanted, and goes on after a rotation by another program', async () => {
  const options = ['--log', file(), '--log-format', 'json', '--log-addresses', 'full']
  const { url, stop } = await own.expose('--name', 'rotated', ...options)
  await text(await visit(own.relay, url, '/first?code=secret'))
  await expect.poll(lines).toHaveLength(1)
  await rename(file(), `${file()}.old`)
  await text(await visit(own.relay, url, '/second'))
  await stop()
  const [first] = (await readFile(`${file()}.old`, 'utf8')).split('\n')
  expect(JSON.parse(first!)).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    tunnel: 'rotated',
    method: 'GET',
    path: '/first',
    status: 200,
    ms: expect.any(Number),
    address: '127.0.0.1',
    http_version: '1.1',
    bytes: 6,
  })
  expect((await lines()).map((line) => JSON.parse(line).path)).toEqual(['/second'])
})

it('is one file of several tunnels in svc.toml, whose lines name them', async () => {
  const config = join(own.home, 'svc.toml')
  const tunnels = ['left', 'right'].map((name) => `[[tunnel]]\nname = "${name}"\nhttp = ${own.port}\n`)
  await writeFile(
    config,
    `relay = "${own.relay.origin}"\nca = "${own.relay.caFile}"\nlog = "access.log"\n${tunnels.join('')}`,
  )
  const run = own.svc('start', '--config', config)
  await expect.poll(() => run.out).toHaveLength(2)
  for (const name of ['left', 'right'])
    await text(await visit(own.relay, `https://${name}.relay.localhost:${own.relay.port}`, '/'))
  await run.stop()
  expect((await lines()).map((line) => line.split(' - - ')[0])).toEqual(['left 127.0.0.0', 'right 127.0.0.0'])
})

it('is refused at the start when it cannot be written, and its format without it', async () => {
  await mkdir(file())
  const refused = own.svc('expose', own.port, '--log', file(), ...own.at())
  expect(await refused.ended).toBe(2)
  expect(refused.out.join()).toContain(`--log ${file()} cannot be written (EISDIR)`)
  const alone = own.svc('expose', own.port, '--log-format', 'json', ...own.at())
  expect(await alone.ended).toBe(2)
  expect(alone.out.join()).toContain('--log-format is for --log')
})

describe('a line', () => {
  const now = new Date('2026-01-02T03:04:05Z')
  const request = { method: 'GET', path: '/', status: 304 }

  it('of the Common Log Format has a hyphen for what is not known', () => {
    expect(commonLine(request, { httpVersion: '2', bytes: 0 }, true, now)).toBe(
      '- - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/2.0" 304 0',
    )
    expect(
      commonLine({ ...request, tunnel: 'demo', address: '2001:db8::/48' }, { httpVersion: '1.1' }, true, now),
    ).toBe('demo 2001:db8:: - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" 304 -')
  })

  it('is one line, whatever a path has', () => {
    const path = '/"\n127.0.0.1 - - "GET /forged'
    const line = commonLine({ ...request, path }, { httpVersion: '1.1' }, false, now)
    expect(line.split('\n')).toHaveLength(1)
    expect(line.match(/"/g)).toHaveLength(2)
  })
})

it('is renamed when it is full, and says how many lines were lost', async () => {
  const lost: number[] = []
  const log = new LogFile(file(), 20, (count) => void lost.push(count))
  log.writeLine('a line of 19 bytes.')
  await log.flush()
  log.writeLine('another')
  await log.flush()
  expect([await readFile(`${file()}.1`, 'utf8'), await lines()]).toEqual([
    'a line of 19 bytes.\n',
    ['another'],
  ])
  const nowhere = new LogFile(join(own.home, 'no/such/file'), 20, (count) => void lost.push(count))
  nowhere.writeLine('lost')
  await nowhere.flush()
  expect(lost).toEqual([1])
})
