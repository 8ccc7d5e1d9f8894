// Sends datagrams to a UDP echo by the clock and reports when they came back. Run by bench/udp/load.ts: PORT RATE BYTES MS.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { IN_TIME_MS, type LoadReport } from './load.ts'

/** Milliseconds between two timers: what is due by then is sent at once. */
const TICK_MS = 1
/** Milliseconds after the last datagram for which late ones are waited for: longer than any queue is. */
const TAIL_MS = 3_000
const BUFFER_BYTES = 4 * 1024 * 1024

const [port, perSecond, bytes, durationMs] = process.argv.slice(2).map(Number) as [
  number,
  number,
  number,
  number,
]
const total = (durationMs / 1000) * perSecond
/** By the number that a datagram begins with: milliseconds from its time in the schedule until it came back. */
const delays = new Float64Array(total).fill(Number.NaN)
const lateSends = new Float64Array(total)
let back = 0

const socket = createSocket({ type: 'udp4', recvBufferSize: BUFFER_BYTES })
socket.on('error', () => {})
socket.connect(port, '127.0.0.1')
await once(socket, 'connect')
const start = performance.now()
const dueAt = (number: number): number => start + (number * 1000) / perSecond
socket.on('message', (datagram) => {
  const number = datagram.readUInt32BE()
  if (!Number.isNaN(delays[number])) return
  delays[number] = performance.now() - dueAt(number)
  back += 1
})

for (let number = 0; number < total; ) {
  for (const now = performance.now(); number < total && dueAt(number) <= now; number += 1) {
    const datagram = Buffer.alloc(bytes)
    datagram.writeUInt32BE(number)
    lateSends[number] = now - dueAt(number)
    socket.send(datagram)
  }
  await pause(TICK_MS)
}
for (const end = performance.now() + TAIL_MS; back < total && performance.now() < end; ) await pause(TICK_MS)
socket.close()

const came = delays.filter((delay) => !Number.isNaN(delay)).sort()
process.send!({
  back: (100 * came.length) / total,
  inTime: (100 * came.filter((delay) => delay <= IN_TIME_MS).length) / total,
  p50Ms: quantile(came, 0.5),
  p99Ms: quantile(came, 0.99),
  lateSendP99Ms: quantile(lateSends.sort(), 0.99),
} satisfies LoadReport)
process.disconnect!()

function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}
