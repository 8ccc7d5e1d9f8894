// Reads a request body: bounded in bytes and in time.

import type { IncomingMessage } from 'node:http'
import { BODY_DEADLINE_MS } from '@svc/protocol'
import { RelayError } from '../errors.ts'
import { parseJson } from './json.ts'

/** @throws RelayError `invalid_request` when the body is too large or too slow, `invalid_json` when it is not JSON */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const bytes = await readBody(request, maxBytes)
  return parseJson(decodeUtf8(bytes))
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new RelayError('invalid_json', 'the body is not UTF-8')
  }
}

function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    // The rest of a refused body is not worth reading: the connection ends with the answer.
    const refuse = (message: string) => {
      request.pause()
      settle(() => reject(new RelayError('invalid_request', message, { Connection: 'close' })))
    }
    const settle = (outcome: () => void) => {
      clearTimeout(deadline)
      request.off('data', onData).off('end', onEnd).off('close', onClose)
      outcome()
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) return refuse(`the body is larger than ${maxBytes} bytes`)
      chunks.push(chunk)
    }
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks)))
    const onClose = () => refuse('the body ended early')
    const deadline = setTimeout(() => refuse('the body took too long'), BODY_DEADLINE_MS)
    request.on('data', onData).on('end', onEnd).on('close', onClose)
    request.on('error', () => {})
  })
}
