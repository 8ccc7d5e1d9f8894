// The client of a benchmark: a process of its own, so that its work is not counted as the server's.
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'
import type { ClientJob, ClientReport } from './client.ts'
import { Sink } from './sink.ts'

process.on('message', async (job: ClientJob) => {
  const report: ClientReport = job.kind === 'bulk' ? await receiveBulk(job) : await handshakes(job)
  process.send!(report)
})

/** Handshakes, asks, and counts the records that come without decrypting them. */
async function receiveBulk({ port, ca }: ClientJob): Promise<ClientReport> {
  const socket = connectTcp({ host: '127.0.0.1', port })
  const sink = new Sink(socket)
  const tls = connect({ socket: sink.client, ca, servername: 'localhost' })
  tls.on('error', () => {})
  await once(tls, 'secureConnect')
  sink.open()
  tls.write('go')
  await once(socket, 'end')
  socket.destroy()
  return { count: sink.bytes }
}

async function handshakes(job: ClientJob & { kind: 'handshakes' }): Promise<ClientReport> {
  const options: ConnectionOptions = {
    host: '127.0.0.1',
    port: job.port,
    ca: job.ca,
    servername: 'localhost',
    ecdhCurve: job.group,
    minVersion: 'TLSv1.3',
  }
  const session = job.resume ? await newSession(options) : undefined
  let left = job.count
  let resumed = 0
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const tls = connect({ ...options, ...(session && { session }) })
      await once(tls, 'secureConnect')
      if (tls.isSessionReused()) resumed++
      tls.end()
      tls.resume()
      await once(tls, 'close')
    }
  }
  await Promise.all(Array.from({ length: job.concurrency }, worker))
  return { count: resumed }
}

async function newSession(options: ConnectionOptions): Promise<Buffer> {
  const tls = connect(options)
  const [session] = await once(tls, 'session')
  tls.end()
  tls.resume()
  await once(tls, 'close')
  return session
}
