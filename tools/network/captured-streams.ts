// Reads recorded byte streams, and searches them for a value in any form in which it might have been sent.
import { readFileSync } from 'node:fs'

export interface Capture {
  name: string
  in: Buffer[]
  out: Buffer[]
}

/** The streams that tools/network/stream-tap.ts wrote, each in one piece, so that no value is missed across two chunks. */
export function readTap(file: string): Capture {
  const bytes = readFileSync(file)
  const streams = new Map<string, Buffer[]>()
  for (let at = 0; at < bytes.length; ) {
    const key = bytes.toString('hex', at, at + 5)
    const end = at + 9 + bytes.readUInt32BE(at + 5)
    const chunks = streams.get(key) ?? []
    chunks.push(bytes.subarray(at + 9, end))
    streams.set(key, chunks)
    at = end
  }
  const joined = (direction: string): Buffer[] =>
    [...streams].filter(([key]) => key.endsWith(direction)).map(([, chunks]) => Buffer.concat(chunks))
  return { name: 'inside', in: joined('00'), out: joined('01') }
}

/** @returns the forms of a value: raw, hexadecimal, and base64 at each of the three places where it may begin */
function forms(value: Buffer): Buffer[] {
  const hex = value.toString('hex')
  const base64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), value]).toString('base64')
    // The outer characters also depend on what surrounds the value.
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + value.length) * 8) / 6))
  })
  const base64url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  return [value, ...[hex, hex.toUpperCase(), ...base64, ...base64url].map((text) => Buffer.from(text))]
}

export function occurs(value: Buffer, streams: Buffer[]): boolean {
  return forms(value).some((form) => streams.some((stream) => stream.includes(form)))
}
