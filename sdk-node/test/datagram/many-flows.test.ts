// Thousands of visitors of one UDP service: each is a flow of its own at the relay, and a client of its own at the service.

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, it as every, expect } from 'vitest'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { TCP_PORTS, TCP_SETTINGS } from '../support/exposed.ts'
import { freePort, freeRange, startTestRelay } from '../support/relay.ts'
import { reported, runSvc } from '../support/svc.ts'
import { echo, udpService } from '../support/udp.ts'

const it = wholeOnly(every, 'variant')

/** As many visitors as this process may have sockets for, with some left for the rest of it. */
const VISITORS = Math.min(atDepth(10_000, 500), descriptors() - 500)
/** Their datagrams find room in the buffers of a kernel that was not tuned. */
const AT_ONCE = 100
const RETRY_MS = 200
/** Several addresses where a machine has them: then some visitors have equal ports. */
const ADDRESSES = process.platform === 'linux' ? ['127.0.0.1', '127.0.0.2', '127.0.0.3'] : ['127.0.0.1']

const open: (() => unknown)[] = []
afterAll(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

it(`${VISITORS} visitors keep their flows, and none gets an answer of another`, async () => {
  const metricsPort = await freePort()
  const settings = {
    ...TCP_SETTINGS(await freeRange(TCP_PORTS)),
    UDP_ENABLED: 'true',
    METRICS_ADDR: `${metricsPort}`,
  }
  const relay = await startTestRelay(settings)
  open.push(() => relay.close())
  const service = await udpService(echo)
  open.push(service.close)
  const port = await exposedBySvc(service.port, ['--relay', relay.origin, '--ca', relay.caFile])

  const visitors = await inTurns(Array.from({ length: VISITORS }), (_, at) => visitorOf(port, at))
  for (const time of ['first', 'second'])
    await inTurns(visitors, (socket, at) => asked(socket, `${at} for the ${time} time`))
  expect(service.clients.size).toBe(VISITORS)
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  expect(metrics).toContain(`\nsvc_relay_datagram_flows ${VISITORS}\n`)
})

/**
 * Runs `svc` as its own process: each visitor is a descriptor there, as it is one here. @returns the port that visitors send to
 */
async function exposedBySvc(service: number, args: string[]): Promise<number> {
  const home = await mkdtemp(join(tmpdir(), 'svc-flows-'))
  open.push(() => rm(home, { recursive: true }))
  const run = runSvc(home, ['expose', '--udp', String(service), '--json', ...args])
  open.push(run.stop)
  return Number((await reported(run, 'online')).udp_address!.split(':').at(-1))
}

async function inTurns<T, R>(items: T[], work: (item: T, at: number) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  while (done.length < items.length) {
    const some = items.slice(done.length, done.length + AT_ONCE)
    done.push(...(await Promise.all(some.map((item, index) => work(item, done.length + index)))))
  }
  return done
}

async function visitorOf(port: number, at: number): Promise<Socket> {
  const socket = createSocket('udp4')
  open.push(() => socket.close())
  socket.bind(0, ADDRESSES[at % ADDRESSES.length])
  await once(socket, 'listening')
  socket.connect(port, ADDRESSES[0])
  await once(socket, 'connect')
  return socket
}

/** Sends it until it comes back. @throws Error when something else comes that was not asked here */
function asked(socket: Socket, text: string): Promise<void> {
  const number = text.split(' ', 1)[0]
  return new Promise((resolve, reject) => {
    const again = setInterval(() => socket.send(text), RETRY_MS)
    socket.send(text)
    socket.on('message', function hear(payload) {
      const answer = String(payload)
      if (answer !== text && answer.split(' ', 1)[0] === number) return
      clearInterval(again)
      socket.off('message', hear)
      if (answer === text) resolve()
      else reject(new Error(`visitor ${number} got “${answer}”`))
    })
  })
}

function descriptors(): number {
  const { userLimits } = process.report.getReport() as { userLimits: { open_files?: { soft: unknown } } }
  // another platform than those with limits has none that matters
  return Number(userLimits?.open_files?.soft) || Number.MAX_SAFE_INTEGER
}
