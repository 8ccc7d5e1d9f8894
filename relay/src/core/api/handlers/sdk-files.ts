// Serves the browser SDK that belongs to this relay, to pages of every origin: its entry `/sdk.js`, the modules that this
// loads, the script for pages without modules, and an import map with the integrity of each file.

import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { installBinPath, PATH } from '@svc/protocol'
import { installation } from '../../installation.ts'
import { sendBody } from '../http/body-response.ts'
import type { BodyWriter } from '../http/body-writer.ts'
import { sendText } from '../http/envelope.ts'
import { sendFile } from '../http/file-response.ts'
import { pathOf } from '../http/request.ts'
import { getAndHead, type Handler, type Routing } from '../http/server.ts'
import { findFile } from '../http/stored-file.ts'
import { bestOf, refuseMethod } from './static-files.ts'

const NOT_FOUND = 404
const CONFLICT = 409
const SERVICE_UNAVAILABLE = 503
/** For what a path means for good: a year, as RFC 9111 has it for "never expires". */
const FOR_GOOD = 'public, max-age=31536000, immutable'
/** For what the next release replaces: 5 minutes. */
const FOR_MINUTES = 'public, max-age=300'
const JAVASCRIPT = 'text/javascript; charset=utf-8'
/** A module below {@link PATH.sdkModules}, whose name changes with its content. */
const MODULE = /^[\w-]+-[\w-]{8}\.js$/
/** The package whose entry the import map names, so that a page imports as with a bundler. */
const PACKAGE = '@svc/sdk-browser'
/** Names of files in the directory of the pages. */
const ENTRY = 'sdk.js'
const MANIFEST = 'sdk/manifest.json'

/** The build's description of the SDK's files. */
interface Manifest {
  release: string
  /** The digest of each file that is loaded as a module, as Subresource Integrity writes it, by the file's path. */
  integrity: Record<string, string>
}

export interface SdkFiles {
  /** Origin of the relay's URL. */
  origin: string
  /** Release of the relay, which the query `version` has to match. */
  release: string
  writer: BodyWriter
}

/** Routes of the SDK's files with fixed paths; an operator's own pages cannot take them. */
export function createSdkFiles({ origin, release, writer }: SdkFiles): Routing {
  const entry = getAndHead(ifVersionFits(release, (cacheControl) => serve(ENTRY, cacheControl, writer)))
  return {
    [PATH.sdkEntry]: entry,
    [installBinPath('js-wasm')]: entry,
    [installBinPath('wasm-exec')]: getAndHead(
      ifVersionFits(release, (cacheControl) => serveScript(origin, cacheControl, writer)),
    ),
    [PATH.sdkImportMap]: getAndHead(serveImportMap(origin, writer)),
  }
}

/** @param next handles every path that is not of the SDK's modules */
export function createSdkModules(writer: BodyWriter, next: Handler): Handler {
  return async (request, response) => {
    const path = pathOf(request)
    if (!path.startsWith(PATH.sdkModules)) return await next(request, response)
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response)
    const name = path.slice(PATH.sdkModules.length)
    if (!MODULE.test(name)) return refuse(response, NOT_FOUND, 'The SDK has no such module.')
    await serve(join(PATH.sdkModules, name), FOR_GOOD, writer)(request, response)
  }
}

/** @param make makes the handler of a request whose `version` fits, or that has none */
function ifVersionFits(release: string, make: (cacheControl: string) => Handler): Handler {
  return async (request, response) => {
    const version = new URLSearchParams(request.url?.split('?')[1]).get('version')
    if (version !== null && version !== release) {
      const reason = `This relay is release ${release}; it serves the SDK of that release and of no other.`
      return refuse(response, CONFLICT, reason)
    }
    // After an update the files may be newer than the process that serves them.
    const isFixed = version !== null && (await readManifest())?.release === release
    await make(isFixed ? FOR_GOOD : FOR_MINUTES)(request, response)
  }
}

function serve(file: string, cacheControl: string, writer: BodyWriter): Handler {
  return async (request, response) => {
    const stored = await findFile(join(installation().pages(), file))
    if (stored === undefined) return await refuseMissing(response)
    const [best, coding] = await bestOf(stored, request.headers['accept-encoding'])
    embeddable(response)
    await sendFile(writer, request, response, best, {
      content: { 'Content-Type': JAVASCRIPT, ...(coding !== undefined && { 'Content-Encoding': coding }) },
      common: { Vary: 'Accept-Encoding', 'Cache-Control': cacheControl },
    })
  }
}

/**
 * Answers with a script that puts `globalThis.svc` there. It names the entry by its URL, since a script of another origin
 * does not learn its own (HTML, "create a classic script", muted errors).
 */
function serveScript(origin: string, cacheControl: string, writer: BodyWriter): Handler {
  return async (request, response) => {
    const manifest = await readManifest()
    if (manifest === undefined) return await refuseMissing(response)
    const script = globalScript(entryUrl(origin, manifest), manifest.release)
    embeddable(response)
    await sendBody(writer, request, response, Buffer.from(script), {
      content: { 'Content-Type': JAVASCRIPT },
      common: { 'Cache-Control': cacheControl },
    })
  }
}

function globalScript(entry: string, release: string): string {
  return `// Puts the SDK of this relay into \`globalThis.svc\`, for pages without modules.
{
  const load = () => import(${JSON.stringify(entry)})
  globalThis.svc = {
    release: ${JSON.stringify(release)},
    load,
    publish: async (options) => (await load()).publish(options),
  }
}
`
}

/** Answers with an import map that pins the SDK's entry and modules, for a page of any origin. */
function serveImportMap(origin: string, writer: BodyWriter): Handler {
  return async (request, response) => {
    const manifest = await readManifest()
    if (manifest === undefined) return await refuseMissing(response)
    const entry = entryUrl(origin, manifest)
    const integrity = Object.entries(manifest.integrity).map(([path, digest]) => [
      path === PATH.sdkEntry ? entry : `${origin}${path}`,
      digest,
    ])
    const map = { imports: { [PACKAGE]: entry }, integrity: Object.fromEntries(integrity) }
    embeddable(response)
    await sendBody(writer, request, response, Buffer.from(`${JSON.stringify(map, null, 2)}\n`), {
      content: { 'Content-Type': 'application/importmap+json' },
      common: { 'Cache-Control': 'no-cache' },
    })
  }
}

function entryUrl(origin: string, { release }: Manifest): string {
  return `${origin}${PATH.sdkEntry}?version=${release}`
}

/** @returns undefined where the files are not built */
async function readManifest(): Promise<Manifest | undefined> {
  const file = await findFile(join(installation().pages(), MANIFEST))
  return file && JSON.parse(await readFile(file.path, 'utf8'))
}

async function refuseMissing(response: ServerResponse): Promise<void> {
  if ((await readManifest()) !== undefined)
    return refuse(response, NOT_FOUND, "This relay's release of the SDK has no such module. Reload the page.")
  const reason =
    "This relay's SDK is not built. Its operator can build it with `npm run site`; the API works without it."
  refuse(response, SERVICE_UNAVAILABLE, reason)
}

/** Sends an error as a comment, since a person reads it where a script was expected. */
function refuse(response: ServerResponse, status: number, reason: string): void {
  embeddable(response)
  sendText(response, status, `// ${reason}\n`, { 'Content-Type': JAVASCRIPT, 'Cache-Control': 'no-store' })
}

/** Lets pages of every origin load the response, isolated ones (COEP) too. The API server adds the headers of CORS. */
function embeddable(response: ServerResponse): void {
  response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin')
  response.setHeader('X-Content-Type-Options', 'nosniff')
}
