// Just enough of TLS 1.3 (RFC 8446) to open recorded traffic with its secrets: TLS_AES_128_GCM_SHA256 only.
import { createDecipheriv, createHmac } from 'node:crypto'

const APPLICATION_DATA = 23
const RECORD_HEADER_BYTES = 5
const TAG_BYTES = 16

interface TrafficKey {
  key: Buffer
  iv: Buffer
}

/** Derives the keys of records (§7.3). */
export function trafficKey(secret: Buffer): TrafficKey {
  return { key: expandLabel(secret, 'key', 16), iv: expandLabel(secret, 'iv', 12) }
}

/** The random of a ClientHello or ServerHello that begins the stream (§4.1.2, §4.1.3). */
export function helloRandom(stream: Buffer): Buffer {
  const start = RECORD_HEADER_BYTES + 4 + 2
  return stream.subarray(start, start + 32)
}

/** The application data of one direction: the records that `secret` opens, in order (§5.2, §5.3). */
export function decrypt(stream: Buffer, secret: Buffer): Buffer {
  const { key, iv } = trafficKey(secret)
  const contents: Buffer[] = []
  for (let at = 0; at + RECORD_HEADER_BYTES <= stream.length; ) {
    const header = stream.subarray(at, at + RECORD_HEADER_BYTES)
    const end = at + RECORD_HEADER_BYTES + header.readUInt16BE(3)
    const payload = stream.subarray(at + RECORD_HEADER_BYTES, end)
    const content =
      header[0] === APPLICATION_DATA ? open(key, nonce(iv, contents.length), header, payload) : undefined
    // Records of the handshake come first and have other keys.
    if (content !== undefined) contents.push(content)
    at = end
  }
  return Buffer.concat(contents)
}

function open(key: Buffer, iv: Buffer, header: Buffer, payload: Buffer): Buffer | undefined {
  const decipher = createDecipheriv('aes-128-gcm', key, iv).setAAD(header)
  const content = decipher.update(payload.subarray(0, -TAG_BYTES))
  try {
    decipher.setAuthTag(payload.subarray(-TAG_BYTES)).final()
    return content
  } catch {
    return undefined
  }
}

function nonce(iv: Buffer, sequence: number): Buffer {
  const bytes = Buffer.from(iv)
  bytes.writeUInt32BE((bytes.readUInt32BE(8) ^ sequence) >>> 0, 8)
  return bytes
}

/** HKDF-Expand-Label (§7.1) with an empty context, for outputs of at most one hash. */
function expandLabel(secret: Buffer, label: string, length: number): Buffer {
  const full = `tls13 ${label}`
  const info = Buffer.concat([Buffer.of(0, length, full.length), Buffer.from(full), Buffer.of(0, 1)])
  return createHmac('sha256', secret).update(info).digest().subarray(0, length)
}
