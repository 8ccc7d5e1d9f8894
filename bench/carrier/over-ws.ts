// yamux over ws in Node, beside the same bytes as plain messages: both ends in one process, which does all the work.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SUBPROTOCOL } from '@svc/protocol'
import type { Stream } from '@svc/yamux'
import { WebSocket } from 'ws'
import { alternate } from '../lib/alternate.ts'
import { wallSeconds } from '../lib/clock.ts'
import { compared, type Entry } from '../lib/entry.ts'
import {
  listen,
  receiveRaw,
  receiveStream,
  SOCKET_OPTIONS,
  sendRaw,
  sendStream,
  sessionOver,
} from './websocket-end.ts'

const BYTES: number = 128 * 1024 * 1024
const QUESTION = { unit: 'MB/s', better: 'more', peer: 'raw ws', target: 0.6 } as const

interface Ends {
  client: WebSocket
  server: WebSocket
}

export async function* overWs(runs: number): AsyncGenerator<Entry> {
  const listener = await listen()
  const url = `ws://localhost:${(listener.address() as AddressInfo).port}`
  const speed = (work: (ends: Ends) => Promise<void>) => async (): Promise<number> => {
    const client = new WebSocket(url, SUBPROTOCOL, SOCKET_OPTIONS)
    const [[server]] = await Promise.all([once(listener, 'connection'), once(client, 'open')])
    const seconds = await wallSeconds(() => work({ client, server }))
    client.terminate()
    return BYTES / 1e6 / seconds
  }
  const up = await alternate(runs, {
    ours: speed(({ client, server }) => yamuxTo(client, server)),
    theirs: speed(({ client, server }) => rawTo(client, server)),
  })
  yield compared({ ...QUESTION, name: 'yamux over ws in Node, client to server' }, up.ours, up.theirs)
  const down = await alternate(runs, {
    ours: speed(({ client, server }) => yamuxTo(server, client)),
    theirs: speed(({ client, server }) => rawTo(server, client)),
  })
  yield compared({ ...QUESTION, name: 'yamux over ws in Node, server to client' }, down.ours, down.theirs)
  listener.close()
}

async function yamuxTo(from: WebSocket, to: WebSocket): Promise<void> {
  const accepted = Promise.withResolvers<Stream>()
  sessionOver(to, { role: 'server', onStream: accepted.resolve })
  const stream = await sessionOver(from, { role: 'client' }).open()
  await Promise.all([
    sendStream(stream, BYTES),
    accepted.promise.then((arrived) => receiveStream(arrived, BYTES)),
  ])
}

async function rawTo(from: WebSocket, to: WebSocket): Promise<void> {
  await Promise.all([sendRaw(from, BYTES), receiveRaw(to, BYTES)])
}
