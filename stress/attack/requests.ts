// Every request that the relay's routing knows: the endpoints of its API, the installer, the features that are off, and
// the files of its pages; each with credentials that let it get as far as it can.
import { INSTALL_SLUGS, installBinPath, PATH, type RegisterResponse } from '@svc/protocol'
import { ENDPOINTS } from '../../relay/src/core/api/endpoints/endpoints.ts'
import type { Target } from './target.ts'

export interface RawRequest {
  method: string
  path: string
  /** The whole head, with its empty line. */
  head: string
  /** The body; empty where the relay takes none. */
  body: string
}

/** A body that every schema refuses, after it was read and parsed. */
const BODY: string = JSON.stringify({ access_token: 'x'.repeat(500), identity: {}, filler: 'x'.repeat(4000) })
const FILES = ['/', '/large.bin', '/assets/app-01234567.js', '/nothing-here']
const OFF: [method: string, path: string][] = [
  ['POST', PATH.cache],
  ['PUT', PATH.cache],
  ['DELETE', PATH.cache],
  ['POST', PATH.hop],
  ['DELETE', PATH.hop],
  ['GET', PATH.discovery],
  ['POST', PATH.announce],
]

export function everyRequest(target: Target, lease: RegisterResponse): RawRequest[] {
  const request = (method: string, path: string, fields: readonly string[] = []): RawRequest => {
    const body = method === 'POST' || method === 'PUT' ? BODY : ''
    const type = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${body.length}`]
    const common = [
      `Host: ${target.rootHost}:${target.port}`,
      `Authorization: Bearer ${target.adminToken}`,
      `X-Svc-Access-Token: ${lease.access_token}`,
    ]
    const lines = [`${method} ${path} HTTP/1.1`, ...common, ...type, ...fields]
    return { method, path, head: `${lines.join('\r\n')}\r\n\r\n`, body }
  }
  const sdk = [PATH.sdkEntry, PATH.sdkImportMap]
  const files = [...INSTALL_SLUGS, 'node', 'node.gz', 'linux-amd64.gz', 'SHA256SUMS']
  const installer = [PATH.installSh, PATH.installPs1, ...files.map(installBinPath)]
  return [
    ...Object.values(ENDPOINTS).map(({ method, path }) => request(method, path)),
    ...Object.values(ENDPOINTS).map(({ path }) => request('OPTIONS', path)),
    ...OFF.map(([method, path]) => request(method, path)),
    ...[...sdk, ...installer].flatMap((path) => [request('GET', path), request('HEAD', path)]),
    ...FILES.flatMap((path) => [
      request('GET', path),
      request('HEAD', path),
      request('GET', path, ['Range: bytes=100-']),
      request('GET', path, ['Range: bytes=999999999-']),
      request('GET', path, ['Accept-Encoding: br, gzip']),
    ]),
  ]
}
