// `svc expose --inspect` as a process of its own, before a target that counts its requests.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { programFile } from '../../tools/bundler/programs.ts'
import type { TestRelay } from '../../tools/relay/test-relay.ts'

const MAIN = programFile('svc')

/** A request as the target got it. */
interface Got {
  line: string
  authorization: string | undefined
  body: string
}

export interface InspectedCommand {
  /** The public URL, without a slash at the end. */
  url: string
  /** The address of the inspector, with its ticket. */
  inspector: string
  /** The address of the target. */
  target: string
  got: Got[]
  stop(): Promise<void>
}

/** @param given the target, in place of the one that counts */
export async function startInspected(
  relay: TestRelay,
  name: string,
  given?: string,
): Promise<InspectedCommand> {
  const got: Got[] = []
  const target = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const { method, url, headers } = request
    got.push({ line: `${method} ${url}`, authorization: headers.authorization, body })
    response.statusCode = url!.startsWith('/missing') ? 404 : 200
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ number: got.length, same: '<img src=x onerror=alert(1)>' }))
  })
  await once(target.listen(0, '127.0.0.1'), 'listening')
  const { port } = target.address() as AddressInfo
  const home = await mkdtemp(path.join(tmpdir(), 'svc-inspector-e2e-'))
  const { SVC_URL: _url, IDENTITY_PATH: _path, ...inherited } = process.env
  const args = ['expose', given ?? String(port), '--name', name, '--relay', relay.url, '--ca', relay.caFile]
  const child = spawn(process.execPath, [MAIN, ...args, '--inspect', '--json'], {
    env: { ...inherited, HOME: home, XDG_CONFIG_HOME: home, IDENTITY_PATH: path.join(home, 'identity.json') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const online = await firstOnline(createInterface(child.stdout))
  return {
    ...online,
    target: `http://127.0.0.1:${port}`,
    got,
    stop: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
      target.closeAllConnections()
      target.close()
      await rm(home, { recursive: true })
    },
  }
}

async function firstOnline(lines: AsyncIterable<string>): Promise<{ url: string; inspector: string }> {
  for await (const line of lines) {
    const { event, url, inspector } = JSON.parse(line)
    if (event === 'online') return { url, inspector }
  }
  throw new Error('svc ended before it was online')
}
