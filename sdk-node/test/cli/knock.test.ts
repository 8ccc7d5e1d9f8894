// `svc expose --knock` at a real relay: its reports, and `svc knock` from another shell.

import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { listening, text, visit } from '../support/exposed.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'
import { type Run, reported, runHere } from '../support/svc.ts'

let relay: TestRelay
let target: Server
let port: number
beforeAll(async () => {
  relay = await startTestRelay()
  target = createServer((_, response) => response.end('hello'))
  port = await listening(target)
})
afterAll(async () => {
  target.closeAllConnections()
  target.close()
  await relay.close()
})

let home: string
const running: Run[] = []
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-knock-'))
})
afterEach(async () => {
  for (const run of running.splice(0)) await run.stop()
  await rm(home, { recursive: true })
})

function svc(...args: string[]): Run {
  const run = runHere(home, args)
  running.push(run)
  return run
}

const at = (): string[] => ['--relay', relay.origin, '--ca', relay.caFile, '--json']

async function said(...args: string[]): Promise<Record<string, unknown>[]> {
  const run = svc(...args, '--json')
  await run.ended
  return run.out.map((line) => JSON.parse(line))
}

const wait = (url: string): ReturnType<typeof visit> =>
  visit(relay, url, '/secret?token=1', { headers: { prefer: 'wait=60', 'user-agent': 'curl/8.5.0' } })

it('reports who knocks, and another shell answers', async () => {
  const run = svc('expose', String(port), '--knock', ...at())
  const { url } = await reported(run, 'online')
  expect(await said('knock', 'list')).toEqual([{ event: 'nobody_waits' }])
  const held = wait(url!)
  const knock = await reported(run, 'knock')
  expect(knock).toMatchObject({ address: '127.0.0.0/24', browser: 'curl/8.5.0', path: '/secret' })
  const { code } = knock
  expect(await said('knock', 'list')).toMatchObject([{ event: 'knock', code, address: '127.0.0.1' }])
  expect(await said('knock', 'admit', 'none')).toMatchObject([
    { event: 'failed', code: 'invalid_option', message: 'nobody with the number none waits' },
  ])
  expect(await said('knock', 'admit', code!)).toEqual([
    { event: 'answered', code, admitted: true, always: false },
  ])
  expect(await text(await held)).toBe('hello')
  expect(await said('knock', 'list')).toEqual([{ event: 'nobody_waits' }])
  expect((await stat(join(home, 'svc/run/knock'))).mode & 0o777).toBe(0o700)
})

it('reads the same from svc.toml, and a refusal from now on is one for the address', async () => {
  await writeFile(
    join(home, 'svc.toml'),
    `relay = "${relay.origin}"
ca = "${relay.caFile}"
[[tunnel]]
http = ${port}
[tunnel.access]
knock = true
`,
  )
  const run = svc('start', '--config', join(home, 'svc.toml'), '--json')
  const { url } = await reported(run, 'online')
  const held = wait(url!)
  const { code } = await reported(run, 'knock')
  await said('knock', 'refuse', code!, '--always')
  expect((await held).statusCode).toBe(403)
  expect((await wait(url!)).statusCode).toBe(403)
})
