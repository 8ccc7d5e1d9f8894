// Loaded into the relay by `node --import`: writes every byte that any stream of the process takes in or puts out to
// the file SVC_TAP_FILE. That is what remains after the relay removed its own TLS: requests, WebSocket messages
// (unmasked), multiplexed streams, and both ends of every bridged connection. Records are: u32 stream, u8 direction
// (0 in, 1 out), u32 length, bytes; tools/network/captured-streams.ts reads them.
import { openSync, writeSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { Duplex, Readable, Writable } from 'node:stream'
import { WebSocket } from 'ws'
import { SharedReadBuffer } from '../../relay/src/core/node-internals/shared-read-buffer.ts'

const IN = 0
const OUT = 1
const HEADER_BYTES = 9

const file: number = openSync(process.env.SVC_TAP_FILE ?? '', 'a')
const ids = new WeakMap<object, number>()
let lastId = 0

function record(owner: object, direction: number, chunk: unknown): void {
  const bytes = bytesOf(chunk)
  if (bytes === undefined || bytes.length === 0) return
  const id = ids.get(owner) ?? ++lastId
  ids.set(owner, id)
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32BE(id)
  header.writeUInt8(direction, 4)
  header.writeUInt32BE(bytes.length, 5)
  writeSync(file, Buffer.concat([header, bytes]))
}

function bytesOf(chunk: unknown): Uint8Array | undefined {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk)
  return undefined
}

/** Puts `before` in front of a method that looks at its first arguments. */
function tap<T extends object>(
  prototype: T,
  method: keyof T,
  before: (self: object, args: unknown[]) => void,
): void {
  const original = prototype[method] as (...args: unknown[]) => unknown
  prototype[method] = function (this: object, ...args: unknown[]): unknown {
    before(this, args)
    return original.apply(this, args)
  } as T[keyof T]
}

tap(Readable.prototype, 'push', (self, [chunk]) => record(self, IN, chunk))
// A Duplex has copies of the methods of Writable.
for (const prototype of [Writable.prototype, Duplex.prototype]) {
  tap(prototype, 'write', (self, [chunk]) => record(self, OUT, chunk))
  tap(prototype, 'end', (self, [chunk]) => record(self, OUT, chunk))
}
// Sockets that are bridged do not push what they read.
tap(SharedReadBuffer.prototype, 'receive', (_self, args) => {
  const [socket, take] = args as Parameters<SharedReadBuffer['receive']>
  args[1] = (bytes: Buffer) => {
    record(socket, IN, bytes)
    return take(bytes)
  }
})
// On the stream below, what a client sends is masked.
tap(WebSocket.prototype, 'emit', (self, [event, data]) => {
  if (event === 'message') record(self, IN, data)
})
// Node's HTTP parser reads from the socket's handle, past every stream, unless that is taken: in the API's server, and in the
// one of stored files, which gets connections whose TLS was ended before.
for (const [prototype, taken] of [
  [https.Server.prototype, 'secureConnection'],
  [http.Server.prototype, 'connection'],
] as const)
  tap(prototype, 'emit', (_self, [event, socket]) => {
    if (event === taken) Object.assign((socket as { _handle: object })._handle, { _consumed: true })
  })
