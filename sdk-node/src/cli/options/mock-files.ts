// The files of mock rules in svc.toml: their content, and the media type by their name.

import { readFile } from 'node:fs/promises'
import { isRecord, SvcError, type TrafficRules } from '@svc/sdk-core'
import { mediaType } from '@svc/sdk-core/media-type'

/** The most bytes of such a file, which stays in memory. */
const FILE_MAX_BYTES: number = 10 * 1024 * 1024

/**
 * Resolves with the rules, with the content of files in place of their paths.
 * @throws SvcError `invalid_option`
 */
export async function withMockFiles(rules: TrafficRules): Promise<TrafficRules> {
  const found: unknown[] = []
  for (const mock of [rules.mocks as unknown].flat())
    found.push(isRecord(mock) && 'file' in mock ? await withContent(mock) : mock)
  return { ...rules, mocks: found as TrafficRules['mocks'] }
}

async function withContent({ file, ...mock }: Record<string, unknown>): Promise<unknown> {
  if (typeof file !== 'string' || file === '') throw wrong('file has to be a path')
  if (mock.body !== undefined || mock.json !== undefined)
    throw wrong('file, body and json exclude each other')
  const headers = isRecord(mock.headers) ? mock.headers : {}
  const isTyped = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  const type = isTyped ? {} : { 'Content-Type': mediaType(file, '') }
  return { ...mock, headers: { ...type, ...headers }, body: await contentOf(file) }
}

async function contentOf(path: string): Promise<Uint8Array> {
  const content = await readFile(path).catch((cause) => {
    throw wrong(`file ${path} cannot be read`, cause)
  })
  if (content.length > FILE_MAX_BYTES) throw wrong(`file ${path} has more than ${FILE_MAX_BYTES} bytes`)
  return new Uint8Array(content)
}

function wrong(what: string, cause?: unknown): SvcError {
  return new SvcError('invalid_option', `rules.mocks: ${what}`, { cause })
}
