// Bulk data from server to client: sealed and given to the transport, by our engine and by node:tls.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { duplexPair } from 'node:stream'
import { connect } from 'node:tls'
import { alternate } from '../lib/alternate.ts'
import { cpuSeconds } from '../lib/clock.ts'
import { compared, type Entry } from '../lib/entry.ts'
import { ClientProcess } from './client.ts'
import type { Identity } from './identity.ts'
import { type Connection, nodeServer, ourServer, type Server } from './servers.ts'
import { Sink } from './sink.ts'

const CHUNK: Uint8Array = new Uint8Array(64 * 1024).fill(7)
const BULK_BYTES: number = 256 * 1024 * 1024
const QUESTION = { unit: 'MB per CPU s', better: 'more', peer: 'node:tls', target: 0.6 } as const

export async function* bulk(identity: Identity, runs: number): AsyncGenerator<Entry> {
  const servers = { ours: ourServer(identity), theirs: nodeServer(identity) }
  const inMemory = await alternate(runs, {
    ours: () => overDuplex(servers.ours, identity),
    theirs: () => overDuplex(servers.theirs, identity),
  })
  yield compared(
    { ...QUESTION, name: 'bulk seal and send, over a JavaScript stream' },
    inMemory.ours,
    inMemory.theirs,
  )

  const client = new ClientProcess()
  const tcp = await alternate(runs, {
    ours: () => overTcp(servers.ours, identity, client),
    theirs: () => overTcp(servers.theirs, identity, client),
  })
  client.stop()
  yield compared({ ...QUESTION, name: 'bulk seal and send, over TCP' }, tcp.ours, tcp.theirs)
}

async function overDuplex(server: Server, { certificate: ca }: Identity): Promise<number> {
  const [near, far] = duplexPair()
  const asked = Promise.withResolvers<Connection>()
  server(near, asked.resolve)
  const sink = new Sink(far)
  const tls = connect({ socket: sink.client, ca, servername: 'localhost' })
  await once(tls, 'secureConnect')
  sink.open()
  tls.write('go')
  const speed = await sendTo(await asked.promise)
  if (sink.bytes < BULK_BYTES) throw new Error(`only ${sink.bytes} bytes came`)
  return speed
}

async function overTcp(
  server: Server,
  { certificate: ca }: Identity,
  client: ClientProcess,
): Promise<number> {
  const asked = Promise.withResolvers<Connection>()
  const listener = createServer((socket) => server(socket, asked.resolve)).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const report = client.run({ kind: 'bulk', port: (listener.address() as AddressInfo).port, ca })
  const speed = await sendTo(await asked.promise)
  listener.close()
  const { count } = await report
  if (count < BULK_BYTES) throw new Error(`only ${count} bytes came`)
  return speed
}

/** @returns megabytes per second of this process's time */
async function sendTo(connection: Connection): Promise<number> {
  const seconds = await cpuSeconds(async () => {
    for (let sent = 0; sent < BULK_BYTES; sent += CHUNK.length) await connection.write(CHUNK)
    await connection.end()
  })
  return BULK_BYTES / 1e6 / seconds
}
