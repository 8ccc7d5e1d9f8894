// A recorded request as a program that sends it again: a shell command, JavaScript, or Python.

import { toBase64 } from './base64.ts'
import { textOf } from './body-view.ts'
import { OF_CLIENT } from './client-fields.ts'
import { asCurl } from './curl-command.ts'
import type { Entry } from './entry.ts'
import type { ExportFormat } from './messages.ts'
import { completeBody } from './replay.ts'
import { maskedFields, maskedUrl } from './secrets.ts'

type Sent = Pick<Entry, 'method' | 'url' | 'request'>

/**
 * Returns the program for a recorded request.
 * @throws SvcError when only a part of the body was kept
 */
export function exported(entry: Sent, format: ExportFormat, isUnmasked: boolean): string {
  const { method, url, request } = entry
  const headers = maskedFields(request.headers, isUnmasked).map(({ name, value }) => [name, value] as const)
  const sent = { method, url: isUnmasked ? url : maskedUrl(url), request: { ...pick(entry), headers } }
  if (format === 'curl') return asCurl(sent)
  return format === 'fetch' ? asFetch(sent) : asPython(sent)
}

/** The content of a recording is computed by getters, which a spread would not copy. */
function pick({ request }: Sent): Entry['request'] {
  const { headers, trailers, body, bodyBytes, parts } = request
  return { headers, trailers, body, bodyBytes, parts }
}

function asFetch(entry: Sent): string {
  const body = completeBody(entry)
  const fields = sentFields(entry).map((field) => `    ${JSON.stringify(field)},`)
  const text = textOf(body, false)
  const content =
    text === undefined
      ? `Uint8Array.from(atob(${JSON.stringify(toBase64(body))}), (byte) => byte.charCodeAt(0))`
      : JSON.stringify(text)
  return [
    `const response = await fetch(${JSON.stringify(entry.url)}, {`,
    `  method: ${JSON.stringify(entry.method)},`,
    ...(fields.length > 0 ? ['  headers: [', ...fields, '  ],'] : []),
    ...(body.length > 0 ? [`  body: ${content},`] : []),
    '})',
  ].join('\n')
}

/** For the package `requests`, whose fields are a dictionary. */
function asPython(entry: Sent): string {
  const body = completeBody(entry)
  const joined = new Map<string, string>()
  for (const [name, value] of sentFields(entry)) {
    const key = name.toLowerCase()
    const before = joined.get(key)
    joined.set(key, before === undefined ? value : `${before}${key === 'cookie' ? '; ' : ', '}${value}`)
  }
  const fields = [...joined].map(([name, value]) => `        ${pythonText(name)}: ${pythonText(value)},`)
  return [
    'import requests',
    '',
    'response = requests.request(',
    `    ${pythonText(entry.method)},`,
    `    ${pythonText(entry.url)},`,
    ...(fields.length > 0 ? ['    headers={', ...fields, '    },'] : []),
    ...(body.length > 0 ? [`    data=${pythonBytes(body)},`] : []),
    ')',
  ].join('\n')
}

function sentFields({ request }: Sent): (readonly [name: string, value: string])[] {
  return request.headers
    .filter(([name]) => !OF_CLIENT.has(name.toLowerCase()))
    .map(([name, value]) => [name, value] as const)
}

/** JSON's escapes are those of Python, except for characters beyond the basic plane, which it leaves as they are. */
function pythonText(text: string): string {
  return JSON.stringify(text)
}

function pythonBytes(bytes: Uint8Array): string {
  const characters = Array.from(bytes, (byte) => {
    if (byte === 0x0a) return '\\n'
    if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
    return byte >= 0x20 && byte < 0x7f
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`
  })
  return `b"${characters.join('')}"`
}
