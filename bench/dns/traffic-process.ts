// Visitors and their service in one process: streams of bytes through a bridge. It sends the port of the service, gets that of the
// bridge, and answers each `measure` with the bytes of a second.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

const HOST = '127.0.0.1'
const STREAMS = 4
const CHUNK = Buffer.alloc(256 * 1024, 7)

let received = 0
const service = createServer((socket) => {
  socket.on('error', () => {})
  socket.on('data', (data) => {
    received += data.length
  })
}).listen(0, HOST)
await once(service, 'listening')
process.send!({ port: (service.address() as AddressInfo).port })
const [{ bridge }] = await once(process, 'message')
for (let count = 0; count < STREAMS; count++) void send(bridge)
process.on('message', async ({ ms }: { ms: number }) => {
  const [before, start] = [received, performance.now()]
  await pause(ms)
  process.send!({ bytesPerSecond: ((received - before) / (performance.now() - start)) * 1000 })
})

async function send(port: number): Promise<void> {
  const socket = connect(port, HOST)
  socket.on('error', () => {})
  for (;;) if (!socket.write(CHUNK)) await once(socket, 'drain')
}
