// Entries for tests of what reads them.

import type { Answer, Content, Entry } from '../../src/inspector/entry.ts'

export const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

export interface Given {
  headers?: [string, string][]
  body?: string | Uint8Array<ArrayBuffer>
  bodyBytes?: number
}

export function content({ headers = [], body = '', bodyBytes }: Given): Content {
  const kept = typeof body === 'string' ? bytes(body) : body
  return { headers, trailers: [], body: kept, bodyBytes: bodyBytes ?? kept.length, parts: undefined }
}

export function answer({ status = 200, ...given }: Given & { status?: number }): Answer {
  return { ...content(given), status, statusText: '' }
}

export function entry(part: Partial<Entry> = {}): Entry {
  return {
    id: 'run-1',
    at: Date.UTC(2026, 0, 2),
    tunnel: undefined,
    kind: 'http',
    method: 'GET',
    url: 'https://site.example/',
    version: '1.1',
    address: undefined,
    request: content({}),
    response: answer({}),
    times: { sent: 1, head: 3, end: 6 },
    error: undefined,
    messages: [],
    droppedMessages: 0,
    replayOf: undefined,
    isImported: false,
    ...part,
  }
}
