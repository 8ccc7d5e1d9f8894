// `svc expose` at a real relay says what its addresses lead to, and whether something listens there.

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { visit } from '../support/exposed.ts'
import { freePort } from '../support/relay.ts'
import type { Run } from '../support/svc.ts'
import { useSvcAtRelay } from '../support/svc-at-relay.ts'

const own = useSvcAtRelay()

const events = ({ out }: Run): Record<string, unknown>[] => out.map((line) => JSON.parse(line))
const notices = (run: Run) => events(run).filter(({ event }) => event === 'error' || event === 'resolved')

async function serverAt(port: number): Promise<Server> {
  const server = createServer((_, response) => response.end('back'))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return server
}

it('warns at once, takes it back, and warns again when the target goes', async () => {
  const port = await freePort()
  const run = own.svc('expose', String(port), '--name', 'gone', ...own.at())
  const target = `http://localhost:${port}`
  const down = {
    event: 'error',
    tunnel: 'gone',
    target,
    code: 'target_unreachable',
    message: `nothing listens at ${target}`,
  }
  const up = { event: 'resolved', tunnel: 'gone', target, code: 'target_unreachable' }
  await expect.poll(() => notices(run)).toEqual([down])
  const { url, targets } = events(run).find(({ event }) => event === 'online')!
  expect(targets).toEqual({ url: target })
  // What visitors meet meanwhile is no news.
  expect((await visit(own.relay, String(url))).statusCode).toBe(502)
  const server = await serverAt(port)
  await expect.poll(() => notices(run)).toEqual([down, up])
  server.close()
  server.closeAllConnections()
  // A visitor finds out before the next look.
  expect((await visit(own.relay, String(url))).statusCode).toBe(502)
  await expect.poll(() => notices(run)).toEqual([down, up, down])
})

it('says it in lines, which name the tunnel when there are several', async () => {
  const port = await freePort()
  const tunnels = ['one', 'two'].map((name) => `[[tunnel]]\nname = "${name}"\nhttp = ${own.port}\n`)
  const config = join(own.home, 'svc.toml')
  await writeFile(
    config,
    `relay = "${own.relay.origin}"\nca = "${own.relay.caFile}"\n${tunnels.join('')}routes = { "/api" = ${port} }\n`,
  )
  const run = own.svc('start', '--config', config)
  await expect.poll(() => run.err).toEqual([`svc: two: nothing listens at http://localhost:${port}`])
  await expect.poll(() => run.out).toHaveLength(2)
  const [one, two] = run.out.toSorted()
  const shown = (name: string): string =>
    `${name}: https://${name}.relay.localhost:${own.relay.port} → http://localhost:${own.port}`
  expect(one!.startsWith(`${shown('one')}  to share: `)).toBe(true)
  expect(two!.startsWith(`${shown('two')}  /api → http://localhost:${port}  to share: `)).toBe(true)
  await serverAt(port)
  await expect.poll(() => run.err.slice(1)).toEqual([`svc: two: http://localhost:${port} answers again`])
})
