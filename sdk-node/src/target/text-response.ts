// A short text as a response on the direct way.

import type { DirectResponse } from '@svc/sdk-core'

export function textResponse(status: number, text: string): DirectResponse {
  const bytes = new TextEncoder().encode(text)
  const content = { pieces: [bytes], size: bytes.length, done: true }
  return {
    status,
    statusText: '',
    fields: [['content-type', 'text/plain;charset=UTF-8']],
    length: bytes.length,
    ready: () => content,
    next: async () => content,
    cancel: () => {},
  }
}
