// Runs a program `svc` as a user does, for a local HTTP service, and visits it.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { curl } from '../../tools/programs/curl.ts'
import type { TestRelay } from '../../tools/relay/test-relay.ts'

/** Milliseconds until a site is online, under an emulator, too. */
const ONLINE_TIMEOUT_MS = 90_000
const TEXT = 'from a local service'

/** @returns what curl got through the relay from a service that `svc expose` published */
export async function visitExposed(svc: readonly string[], relay: TestRelay): Promise<string> {
  const server = createServer((_, response) => void response.end(TEXT)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    return await withSvc([...svc, 'expose', `${(server.address() as AddressInfo).port}`], relay, (url) =>
      visit(relay, url),
    )
  } finally {
    server.close()
  }
}

async function visit({ caFile }: TestRelay, url: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return `${await curl(caFile, '--resolve', `${hostname}:${port}:127.0.0.1`, url)}`
}

/** Lets `use` visit the URL that the program prints, and ends the program. */
async function withSvc(
  [program = '', ...args]: string[],
  relay: TestRelay,
  use: (url: string) => Promise<string>,
): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'svc-exposed-'))
  const identity = path.join(home, 'identity.json')
  const options = ['--relay', relay.url, '--ca', relay.caFile, '--identity-path', identity]
  const env = { ...process.env, HOME: home, XDG_CACHE_HOME: path.join(home, 'cache') }
  const child = spawn(program, [...args, ...options], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  try {
    return await use(await urlOf(child))
  } finally {
    child.kill('SIGTERM')
    await ended
    await rm(home, { recursive: true, force: true })
  }
}

/** @throws Error with what the program wrote when it ends, or takes too long */
async function urlOf(child: ChildProcess): Promise<string> {
  let complaints = ''
  child.stderr?.on('data', (text) => (complaints += text))
  const deadline = AbortSignal.timeout(ONLINE_TIMEOUT_MS)
  deadline.addEventListener('abort', () => child.kill('SIGKILL'))
  for await (const line of createInterface({ input: child.stdout! }))
    if (/^https:\/\//.test(line)) return line
  throw new Error(`svc printed no URL:\n${complaints}`)
}
