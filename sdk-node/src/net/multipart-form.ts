// Encodes a form as multipart/form-data (RFC 7578), part by part. `new Response(form)` does so too, but when a file cannot be read
// it leaves an unhandled rejection, which ends the process.

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'

export interface EncodedForm {
  headers: Record<string, string>
  /** Fails with the error of a file that cannot be read. */
  body: Readable
}

export function encodeForm(form: FormData): EncodedForm {
  const boundary = `form-${randomUUID()}`
  const parts = Array.from(form, ([name, value]) => ({ head: headOf(name, value, boundary), value }))
  const end = `--${boundary}--\r\n`
  const length = parts.reduce((sum, { head, value }) => sum + byteLength(head) + sizeOf(value) + 2, 0)
  return {
    headers: {
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
      'Content-Length': String(length + byteLength(end)),
    },
    body: Readable.from(bytesOf(parts, end), { objectMode: false }),
  }
}

interface Part {
  head: string
  value: FormDataEntryValue
}

async function* bytesOf(parts: readonly Part[], end: string): AsyncGenerator<Uint8Array | string> {
  for (const { head, value } of parts) {
    yield head
    if (typeof value === 'string') yield value
    else yield* value.stream()
    yield '\r\n'
  }
  yield end
}

function headOf(name: string, value: FormDataEntryValue, boundary: string): string {
  const isText = typeof value === 'string'
  const file = isText ? '' : `; filename="${escaped(value.name)}"`
  const type = isText ? '' : `Content-Type: ${value.type || 'application/octet-stream'}\r\n`
  return `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"${file}\r\n${type}\r\n`
}

/** Escapes a name as the HTML standard does ("multipart/form-data encoding algorithm"). */
function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function sizeOf(value: FormDataEntryValue): number {
  return typeof value === 'string' ? byteLength(value) : value.size
}

function byteLength(text: string): number {
  return Buffer.byteLength(text)
}
