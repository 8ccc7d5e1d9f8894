// Shows what the relay carries for this tab: the bytes of its WebSockets to the relay, as they are sent and received.
import { Store } from '../common/store.ts'

/** What the diagram shows of them. */
const SHOWN_BYTES = 96
/** Shorter records are ends of connections, and say little. */
const RECORD_MIN_BYTES = 40
/** yamux puts 12 bytes before what it carries. */
const YAMUX_HEADER_BYTES = 12
/** RFC 8446 §5.1: records of handshakes and of application data, which have the version 3.x. */
const RECORD_TYPES = new Set([0x16, 0x17])

export interface Carried {
  /** The first bytes of the latest TLS record. */
  latest: Uint8Array
  direction: 'in' | 'out'
  /** Bytes of all visits, with what they are wrapped in. */
  total: number
}

export const carried: Store<Carried | undefined> = new Store<Carried | undefined>(undefined)

const watched = new WeakSet<WebSocket>()
let next: Carried | undefined

/** Watches the WebSockets that are opened from now on. Called before the SDK is loaded, and once. */
export function watchWire(): void {
  const { send } = WebSocket.prototype
  WebSocket.prototype.send = function (this: WebSocket, data) {
    watch(this)
    show('out', data)
    send.call(this, data)
  }
}

/** For a site that begins: what another one of this tab carried is not of it. */
export function forgetCarried(): void {
  next = undefined
  carried.set(undefined)
}

function watch(socket: WebSocket): void {
  if (watched.has(socket)) return
  watched.add(socket)
  socket.addEventListener('message', ({ data }) => show('in', data))
}

function show(direction: Carried['direction'], data: unknown): void {
  const bytes = bytesOf(data)
  if (bytes === undefined) return
  const record = recordIn(bytes)
  const before = next ?? carried.value
  const latest = record ? { latest: record, direction } : before
  if (latest === undefined) return
  const { latest: shown, direction: way } = latest
  // At most one change for each frame that the browser draws.
  if (next === undefined) requestAnimationFrame(draw)
  next = { latest: shown, direction: way, total: (before?.total ?? 0) + bytes.length }
}

function draw(): void {
  const drawn = next
  next = undefined
  carried.set(drawn)
}

function bytesOf(data: unknown): Uint8Array | undefined {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : undefined
}

/** @returns a copy of the beginning of a TLS record, if a message is or carries one */
function recordIn(bytes: Uint8Array): Uint8Array | undefined {
  const start = [0, YAMUX_HEADER_BYTES].find((at) => RECORD_TYPES.has(bytes[at] ?? 0) && bytes[at + 1] === 3)
  if (start === undefined || bytes.length - start < RECORD_MIN_BYTES) return undefined
  return bytes.slice(start, start + SHOWN_BYTES)
}
