// Visitors of the site, who speak TLS as far as their ClientHello. It is told what to do by messages, and ends with its parent.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { median } from '../lib/alternate.ts'
import { intoOneBuffer } from '../relay/socket-end.ts'
import { recordClientHello } from '../tls/client-hello.ts'
import { type Task, TRANSFER_BYTES } from './work.ts'

const CHUNK = Buffer.alloc(64 * 1024, 7)

process.on('disconnect', () => process.exit())
process.on('message', async (task: Task) => {
  const hello = await recordClientHello('X25519', task.hostname)
  process.send!(task.kind === 'ask' ? await ask(task, hello) : await transfer(task, hello))
})

async function ask({ ports, visitors }: Task & { kind: 'ask' }, hello: Uint8Array): Promise<number[]> {
  const waits: number[][] = ports.map(() => [])
  for (let visitor = 0; visitor < visitors; visitor++)
    for (const [index, port] of ports.entries()) {
      const start = performance.now()
      const socket = connect({ host: '127.0.0.1', port, noDelay: true })
      socket.write(hello)
      await once(socket, 'data')
      waits[index]!.push(performance.now() - start)
      socket.end()
      await once(socket, 'close')
    }
  return waits.map(median)
}

async function transfer(
  { kind, port, streams }: Task & { kind: 'download' | 'upload' },
  hello: Uint8Array,
): Promise<number> {
  const one = kind === 'download' ? download : upload
  const start = performance.now()
  await Promise.all(Array.from({ length: streams }, () => one(port, hello)))
  return (performance.now() - start) / 1000
}

async function download(port: number, hello: Uint8Array): Promise<void> {
  let got = 0
  const take = (bytes: Uint8Array): void => {
    got += bytes.length
  }
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, ...intoOneBuffer(take) })
  socket.write(hello)
  await ended(socket)
  if (got !== TRANSFER_BYTES) throw new Error(`${got} bytes came of ${TRANSFER_BYTES}`)
}

async function upload(port: number, hello: Uint8Array): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  socket.write(hello)
  await once(socket, 'data')
  for (let sent = 0; sent < TRANSFER_BYTES; sent += CHUNK.length)
    if (!socket.write(CHUNK)) await once(socket, 'drain')
  socket.end()
  await ended(socket)
}

/** Resolves when the site has ended its half, which it does when it has all. */
async function ended(socket: Socket): Promise<void> {
  socket.resume()
  await once(socket, 'end')
  socket.destroy()
}
