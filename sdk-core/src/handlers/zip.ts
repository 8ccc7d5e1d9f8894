// Writes a ZIP archive (PKWARE APPNOTE 6.3.10) as a stream, without compression: most large files are compressed already.

export interface ZipEntry {
  /** The path in the archive, with `/` between folders. */
  path: string
  file: File
}

/** The values of fields of 32 and of 16 bits which say that the value is in a field of ZIP64 (§4.4.1.4). */
const MAX_32 = 0xffffffff
const MAX_16 = 0xffff
const LOCAL = 0x04034b50
const DESCRIPTOR = 0x08074b50
const CENTRAL = 0x02014b50
const END_64 = 0x06064b50
const LOCATOR_64 = 0x07064b50
const END = 0x06054b50
/** The version that reads ZIP64 (§4.4.3), and with which Unix made the archive (§4.4.2), so that the mode counts. */
const VERSION = 45
const MADE_BY: number = (3 << 8) | VERSION
/** A regular file, which its owner may write and everybody may read. */
const MODE: number = 0o100644 * 0x10000
/** The checksum follows the content (bit 3), and names are in UTF-8 (bit 11) (§4.4.4). */
const FLAGS = 0x0808
/** The extra field ZIP64 (§4.5.3), and Info-ZIP's of the time since 1970, which unlike that of MS-DOS is in UTC. */
const EXTRA_64 = 0x0001
const EXTRA_TIME = 0x5455
const SECONDS_MAX = 0x7fffffff

/** Where an entry is in the archive. */
interface Place {
  name: Uint8Array
  offset: number
  crc: number
}

/** Returns the number of bytes that {@link zip} writes. */
export function zipSize(entries: readonly ZipEntry[]): number {
  let offset = 0
  let central = 0
  for (const { file, path } of entries) {
    const place = { name: new TextEncoder().encode(path), offset, crc: 0 }
    offset += localHeader(file, place).length + file.size + descriptor(file, place).length
    central += centralHeader(file, place).length
  }
  return offset + central + end(entries.length, central, offset).length
}

/**
 * Yields the bytes of the archive.
 * @throws Error when a file is no longer as long as it said
 */
export async function* zip(entries: readonly ZipEntry[]): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const headers: number[][] = []
  let offset = 0
  for (const { file, path } of entries) {
    const place = { name: new TextEncoder().encode(path), offset, crc: 0 }
    const header = localHeader(file, place)
    yield Uint8Array.from(header)
    let size = 0
    for await (const bytes of contentOf(file)) {
      place.crc = crc32(bytes, place.crc)
      size += bytes.length
      yield bytes
    }
    if (size !== file.size) throw new Error(`${path} changed while it was read`)
    const after = descriptor(file, place)
    yield Uint8Array.from(after)
    headers.push(centralHeader(file, place))
    offset += header.length + size + after.length
  }
  for (const header of headers) yield Uint8Array.from(header)
  const central = headers.reduce((total, { length }) => total + length, 0)
  yield Uint8Array.from(end(entries.length, central, offset))
}

/** Not every browser iterates over streams. */
async function* contentOf(file: File): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = file.stream().getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    reader.cancel().catch(() => {}) // Of a stream that has ended or failed, there is nothing to cancel.
  }
}

function localHeader(file: File, { name }: Place): number[] {
  const isLarge = file.size >= MAX_32
  const size = isLarge ? MAX_32 : 0
  const extra = [...timeField(file), ...(isLarge ? [...u16(EXTRA_64, 16), ...u64(0, 0)] : [])]
  const versions = u16(VERSION, FLAGS, 0)
  return [
    ...[...u32(LOCAL), ...versions, ...u32(dosTime(file), 0, size, size)],
    ...[...u16(name.length, extra.length), ...name, ...extra],
  ]
}

function descriptor({ size }: File, { crc }: Place): number[] {
  return [...u32(DESCRIPTOR, crc), ...(size >= MAX_32 ? u64(size, size) : u32(size, size))]
}

function centralHeader(file: File, { name, offset, crc }: Place): number[] {
  const large = [
    ...(file.size >= MAX_32 ? [file.size, file.size] : []),
    ...(offset >= MAX_32 ? [offset] : []),
  ]
  const extra = timeField(file)
  if (large.length > 0) extra.push(...u16(EXTRA_64, large.length * 8), ...u64(...large))
  const size = Math.min(file.size, MAX_32)
  return [
    ...[...u32(CENTRAL), ...u16(MADE_BY, VERSION, FLAGS, 0), ...u32(dosTime(file), crc, size, size)],
    ...[
      ...u16(name.length, extra.length, 0, 0, 0),
      ...u32(MODE, Math.min(offset, MAX_32)),
      ...name,
      ...extra,
    ],
  ]
}

function end(count: number, size: number, offset: number): number[] {
  const few = Math.min(count, MAX_16)
  const last = [
    ...[...u32(END), ...u16(0, 0, few, few)],
    ...[...u32(Math.min(size, MAX_32), Math.min(offset, MAX_32)), ...u16(0)],
  ]
  if (count < MAX_16 && size < MAX_32 && offset < MAX_32) return last
  const large = [...u64(44), ...u16(MADE_BY, VERSION), ...u32(0, 0), ...u64(count, count, size, offset)]
  return [...u32(END_64), ...large, ...u32(LOCATOR_64, 0), ...u64(offset + size), ...u32(1), ...last]
}

/** The date and the time of MS-DOS, in steps of two seconds from 1980 to 2107 (§4.4.6). */
function dosTime({ lastModified }: File): number {
  const time = new Date(Math.min(Math.max(lastModified, Date.UTC(1980)), Date.UTC(2107)))
  const date = ((time.getUTCFullYear() - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate()
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1)
  return date * 0x10000 + clock
}

function timeField({ lastModified }: File): number[] {
  const seconds = Math.floor(Math.min(Math.max(lastModified / 1000, 0), SECONDS_MAX))
  return [...u16(EXTRA_TIME, 5), 1, ...u32(seconds)]
}

/** Numbers as the archive has them, the lowest byte first. */
function u16(...values: number[]): number[] {
  return values.flatMap((value) => [value & 0xff, value >>> 8])
}

function u32(...values: number[]): number[] {
  return u16(...values.flatMap((value) => [value & MAX_16, value >>> 16]))
}

function u64(...values: number[]): number[] {
  const base = MAX_32 + 1
  return u32(...values.flatMap((value) => [value % base, Math.floor(value / base)]))
}

const TABLE: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0)
  return value
})

/** Returns the CRC-32 (ISO 3309) of bytes after others whose checksum is `before`. */
function crc32(bytes: Uint8Array, before: number): number {
  let crc = ~before
  for (let at = 0; at < bytes.length; at++) crc = (crc >>> 8) ^ TABLE[(crc ^ bytes[at]!) & 0xff]!
  return ~crc >>> 0
}
