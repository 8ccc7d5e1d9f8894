// Serves the documentation at `/docs`, which `npm run docs` builds into this package, unless the operator's files have a folder of
// that name. If it is not built, a text says so.

import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { installation } from '../../installation.ts'
import type { BodyWriter } from '../http/body-writer.ts'
import { sendText } from '../http/envelope.ts'
import { pathOf } from '../http/request.ts'
import type { Handler } from '../http/server.ts'
import { findFile } from '../http/stored-file.ts'
import { createStaticFiles, PAGE_POLICY, protectPage } from './static-files.ts'

const SERVICE_UNAVAILABLE = 503
/** Where the documentation is; the paths of its files begin after it. */
const DOCUMENTATION = /^\/docs(?=\/|$)/

/** The search is WebAssembly. Nothing else is allowed beyond what the relay's pages may do. */
const POLICY: string = PAGE_POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")

/**
 * @param operatorFiles directory of the operator's files; undefined: the root host has the built-in pages
 * @param origin of the relay's URL
 * @param otherwise handles every other path
 */
export function createDocumentation(
  operatorFiles: string | undefined,
  writer: BodyWriter,
  origin: string,
  otherwise: Handler,
): Handler {
  let files: Handler | undefined
  return async (request, response) => {
    if (!DOCUMENTATION.test(pathOf(request)) || (await hasIndex(operatorFiles, 'docs')))
      return await otherwise(request, response)
    // an executable unpacks the files when somebody wants them
    const directory = installation().documentation()
    files ??= createStaticFiles(directory, () => false, writer, {
      prefix: DOCUMENTATION,
      policy: POLICY,
      origin,
    })
    if (!(await hasIndex(directory))) return sayUnbuilt(response)
    await files(request, response)
  }
}

async function hasIndex(directory: string | undefined, folder = ''): Promise<boolean> {
  return directory !== undefined && (await findFile(join(directory, folder, 'index.html'))) !== undefined
}

function sayUnbuilt(response: ServerResponse): void {
  protectPage(response)
  sendText(
    response,
    SERVICE_UNAVAILABLE,
    'The documentation is not built yet. `npm start` builds it beside the relay, within a minute; elsewhere `npm run docs` does.\n',
    { 'Cache-Control': 'no-store' },
  )
}
