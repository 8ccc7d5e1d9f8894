// Runs a program `svc` as a user does, for a local HTTP service and a local UDP service, and visits both.
import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { curl } from '../../tools/programs/curl.ts'
import type { TestRelay } from '../../tools/relay/test-relay.ts'

/** Milliseconds until a site is online, under an emulator, too. */
const ONLINE_TIMEOUT_MS = 90_000
/** Milliseconds from one datagram to the next: one that comes early is lost. */
const DATAGRAM_INTERVAL_MS = 500
const DATAGRAMS_MAX = 60
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

/** @returns what a service behind `svc expose --udp` answered to a visitor */
export async function visitExposedUdp(svc: readonly string[], relay: TestRelay): Promise<string> {
  const service = createSocket('udp4')
  service.on('message', (text, { port, address }) => service.send(`${text} ${TEXT}`, port, address))
  service.bind(0, '127.0.0.1')
  await once(service, 'listening')
  try {
    return await withSvc([...svc, 'expose', '--udp', `${service.address().port}`], relay, (url) => ask(url))
  } finally {
    service.close()
  }
}

async function visit({ caFile }: TestRelay, url: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return `${await curl(caFile, '--resolve', `${hostname}:${port}:127.0.0.1`, url)}`
}

async function ask(url: string): Promise<string> {
  const visitor = createSocket('udp4')
  const answer = once(visitor, 'message')
  const { port } = new URL(url)
  try {
    for (let count = 0; count < DATAGRAMS_MAX; count += 1) {
      visitor.send('hello', Number(port), '127.0.0.1')
      const found = await Promise.race([answer, setTimeout(DATAGRAM_INTERVAL_MS)])
      if (found !== undefined) return `${found[0]}`
    }
    throw new Error(`${url} answered none of ${DATAGRAMS_MAX} datagrams`)
  } finally {
    visitor.close()
  }
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
    if (/^(?:https|udp):\/\//.test(line)) return line
  throw new Error(`svc printed no URL:\n${complaints}`)
}
