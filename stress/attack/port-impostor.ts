// A tenant with a dedicated TCP port that answers there for others: visitors name the honest site, the relay and names below it, by
// HTTP and by TLS, whole and in pieces. The tenant answers whatever comes, some of it before it is asked.
import type { Socket } from 'node:net'
import { PATH } from '@svc/protocol'
import { captureHello } from '../../tools/network/client-hello.ts'
import type { Random } from '../soak/random.ts'
import type { ClientAttack, Facts } from './attack.ts'
import { openTcp, openTls, registerLease, type Target, untilThen } from './target.ts'

const VISITORS = 4
const SESSIONS = 8
/** Longer paths than the relay holds are among them. */
const PATH_MAX = 20_000
const ANSWER = 'HTTP/1.1 200 OK\r\nSet-Cookie: stolen=1\r\nContent-Length: 0\r\n\r\n'

export const attack: ClientAttack = {
  by: 'clients',
  what: 'a tenant answers for others at its dedicated port',
  seconds: 20,
  sliceSeconds: 2,
  least: { visitors: 100, 'own visitors': 4 },
  most: { 'cookies for others': 0, 'hosts seen': 0 },
  run,
}

async function run(target: Target, begin: () => number, random: Random): Promise<Facts> {
  const lease = await registerLease(target, 'impostor', 0, {}, { tcp_enabled: true })
  const port = Number(lease.tcp_addr!.split(':').at(-1))
  const { siteHost, rootHost } = target
  const names = [siteHost, siteHost.toUpperCase(), `${siteHost}.`, rootHost, `nobody.${rootHost}`]
  const hellos = await Promise.all([siteHost, rootHost].map((name) => captureHello(name)))
  const facts = {
    visitors: 0,
    'own visitors': 0,
    'cookies for others': 0,
    'hosts seen': 0,
  }
  const until = begin()
  const session = async (number: number): Promise<void> => {
    while (Date.now() < until) {
      const seen = await answerOne(target, lease.reverse_endpoint.capability, number % 2 === 0, until)
      if (names.some((name) => seen.includes(`Host: ${name}:`))) facts['hosts seen'] += 1
    }
  }
  const visitor = async (): Promise<void> => {
    while (Date.now() < until) {
      const name = random.of(names)
      const path = 'a'.repeat(random.between(0, PATH_MAX))
      const request = Buffer.from(`GET /${path} HTTP/1.1\r\nHost: ${name}:${port}\r\n\r\n`)
      if (random.next() < 0.2) await visitOwn()
      else await visitAs(random.next() < 0.2 ? random.of(hellos) : request)
    }
  }
  const visitOwn = async (): Promise<void> => {
    const got = await visit(
      port,
      Buffer.from(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`),
      random,
      until,
    )
    if (got.includes('stolen')) facts['own visitors'] += 1
  }
  const visitAs = async (bytes: Buffer): Promise<void> => {
    const got = await visit(port, bytes, random, until)
    facts.visitors += 1
    if (got.includes('stolen')) facts['cookies for others'] += 1
  }
  const visitors = Promise.all(Array.from({ length: VISITORS }, visitor))
  await Promise.all([visitors, ...Array.from({ length: SESSIONS }, (_, number) => session(number))])
  return facts
}

/** Opens a native session, and answers what comes. @returns what came */
async function answerOne(
  target: Target,
  capability: string,
  isEager: boolean,
  until: number,
): Promise<string> {
  const { tls, tcp } = await openTls(target, target.rootHost, 0)
  const head = [`GET ${PATH.connect} HTTP/1.1`, `Host: ${target.rootHost}:${target.port}`]
  tls.write([...head, `X-Svc-Reverse-Capability: ${capability}`, '', ''].join('\r\n'))
  let received = ''
  let hasAnswered = false
  tls.on('data', (bytes: Buffer) => {
    received += bytes.toString('latin1')
    const start = received.indexOf('\r\n\r\n') + 4
    const isActive = start > 3 && received.includes('\x01', start)
    if (hasAnswered || !isActive || !(isEager || received.endsWith('\r\n\r\n'))) return
    hasAnswered = true
    tls.write(ANSWER)
  })
  // The relay waits for the site's half of a visitor who has left.
  tls.once('end', () => tcp.destroy())
  await Promise.race([closed(tcp), untilThen(until)])
  tcp.destroy()
  return received
}

/** Sends the bytes in one piece or several. @returns what came back until the end of the connection, or of an answer */
async function visit(port: number, bytes: Buffer, random: Random, until: number): Promise<string> {
  const socket = await openTcp(port, 0)
  let received = ''
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (part: Buffer) => {
      received += part.toString('latin1')
      if (received.endsWith('\r\n\r\n')) resolve()
    })
  })
  for (let at = 0; at < bytes.length; ) {
    const end = at + random.between(1, bytes.length)
    socket.write(bytes.subarray(at, end))
    await new Promise((resolve) => setImmediate(resolve))
    at = end
  }
  await Promise.race([answered, closed(socket), untilThen(until)])
  socket.destroy()
  return received
}

async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
}
