// A recorded request as a curl command for a POSIX shell, with all parts of the request quoted.

import { OF_CLIENT } from './client-fields.ts'
import type { Entry } from './entry.ts'
import { completeBody } from './replay.ts'

/** Text that `printf %b` need not escape: printable ASCII, tab and line end. */
const PLAIN = /^[\n\t -~]*$/

/**
 * Returns the command for a recorded request.
 * @throws SvcError when only a part of the body was kept
 */
export function asCurl(entry: Pick<Entry, 'method' | 'url' | 'request'>): string {
  const { method, url, request } = entry
  const body = completeBody(entry)
  // Without this, curl would expand brackets and braces in the URL.
  const words = ['curl', '--globoff', ...methodWords(method, body.length > 0), quote(url)]
  for (const [name, value] of request.headers) {
    // curl omits a field without a value; a semicolon makes it send an empty one.
    if (!OF_CLIENT.has(name.toLowerCase()))
      words.push('-H', quote(value === '' ? `${name};` : `${name}: ${value}`))
  }
  if (body.length === 0) return words.join(' ')
  const text = decode(body)
  // --data would read a file if the body begins with @.
  if (text !== undefined && PLAIN.test(text)) return [...words, '--data-raw', quote(text)].join(' ')
  return `printf %b ${quote(octal(body))} | ${words.join(' ')} --data-binary @-`
}

function methodWords(method: string, hasBody: boolean): string[] {
  if (method === 'HEAD' && !hasBody) return ['--head']
  return method === (hasBody ? 'POST' : 'GET') ? [] : ['-X', quote(method)]
}

/** Quotes text for a shell: between single quotes, only the quote itself is special. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Writes each byte as `\0` and three octal digits (POSIX printf, %b), so that no terminal sees a control character. */
function octal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join('')
}
