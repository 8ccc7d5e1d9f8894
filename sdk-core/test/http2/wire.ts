// HTTP/2 by hand: literal frames out, frames as text in.

export const DATA = 0
export const HEADERS = 1
export const PRIORITY = 2
export const RST_STREAM = 3
export const SETTINGS = 4
export const PUSH_PROMISE = 5
export const PING = 6
export const GOAWAY = 7
export const WINDOW_UPDATE = 8
export const CONTINUATION = 9

export const END_STREAM = 1
export const ACK = 1
export const END_HEADERS = 4
export const PADDED = 8
/** A HEADERS frame with everything that an ordinary request needs. */
export const WHOLE: number = END_STREAM | END_HEADERS

export const PREFACE: Uint8Array = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

const TYPES = [
  'DATA',
  'HEADERS',
  'PRIORITY',
  'RST_STREAM',
  'SETTINGS',
  'PUSH_PROMISE',
  'PING',
  'GOAWAY',
  'WINDOW_UPDATE',
  'CONTINUATION',
]
const CODES = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
]

export interface Frame {
  type: number
  flags: number
  id: number
  payload: Buffer
  /** What HEADERS of the server say, without `date`. */
  fields: Record<string, string>
}

export function frame(
  type: number,
  flags: number,
  id: number,
  payload: Uint8Array | string | number[] = '',
): Buffer {
  const bytes = Buffer.from(payload as Uint8Array)
  const head = Buffer.alloc(9)
  head.writeUIntBE(bytes.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(id, 5)
  return Buffer.concat([head, bytes])
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export const windowUpdate = (id: number, increment: number): Buffer =>
  frame(WINDOW_UPDATE, 0, id, uint32(increment))
export const reset = (id: number, code = 8): Buffer => frame(RST_STREAM, 0, id, uint32(code))
export const ping = (text = '12345678'): Buffer => frame(PING, 0, 0, text)

export const setting = (id: number, value: number): Buffer =>
  Buffer.concat([Buffer.from([0, id]), uint32(value)])
export const settings = (...entries: [id: number, value: number][]): Buffer =>
  frame(SETTINGS, 0, 0, Buffer.concat(entries.map(([id, value]) => setting(id, value))))

export type Fields = readonly (readonly [name: string, value: string])[]

/** A header block of literals that are not indexed. */
export function block(fields: Fields): Buffer {
  const string = (text: string): Buffer => {
    const bytes = Buffer.from(text, 'latin1')
    const rest = bytes.length - 127
    if (rest < 0) return Buffer.from([bytes.length, ...bytes])
    const octets = [127]
    let left = rest
    for (; left >= 128; left >>= 7) octets.push((left & 127) | 128)
    return Buffer.concat([Buffer.from([...octets, left]), bytes])
  }
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), string(name), string(value)]))
}

export const GET: Fields = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'site.example'],
  [':path', '/'],
]

/** The fields of `GET` with others in the place of those of the same name, and the rest behind. */
export function request(changes: Record<string, string> = {}): Fields {
  const names = GET.map(([name]) => name)
  const changed = GET.map(([name, value]) => [name, changes[name] ?? value] as const)
  return [...changed, ...Object.entries(changes).filter(([name]) => !names.includes(name))]
}

export const get = (id: number, path = '/'): Buffer =>
  frame(HEADERS, WHOLE, id, block(request({ ':path': path })))
export const post = (id: number, changes: Record<string, string> = {}): Buffer =>
  frame(HEADERS, END_HEADERS, id, block(request({ ':method': 'POST', ...changes })))

/** What a frame says, for tests to compare: `RST_STREAM 1 CANCEL`. */
export function describeFrame({ type, flags, id, payload }: Frame): string {
  const name = TYPES[type] ?? `type ${type}`
  const end = flags & 1 ? ' end' : ''
  if (type === DATA) return `DATA ${id} ${payload.length}${end}`
  if (type === HEADERS) return `HEADERS ${id}${end}`
  if (type === RST_STREAM) return `RST_STREAM ${id} ${CODES[payload.readUInt32BE(0)]}`
  if (type === GOAWAY) return `GOAWAY ${payload.readUInt32BE(0)} ${CODES[payload.readUInt32BE(4)]}`
  if (type === WINDOW_UPDATE) return `WINDOW_UPDATE ${id} ${payload.readUInt32BE(0)}`
  if (type === SETTINGS || type === PING) return flags & ACK ? `${name} ack` : name
  return `${name} ${id}`
}
