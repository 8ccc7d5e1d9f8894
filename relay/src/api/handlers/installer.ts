// Serves the installer: scripts and binaries from the operator's directory, without the envelope.

import { join } from 'node:path'
import { INSTALL_SLUGS, type InstallSlug, installBinPath, PATH } from '@svc/protocol'
import type { BodyWriter } from '../http/body-writer.ts'
import { sendText } from '../http/envelope.ts'
import { sendFile } from '../http/file-response.ts'
import type { Handler, Routing } from '../http/server.ts'
import { findFile } from '../http/stored-file.ts'

const NOT_FOUND = 404
const CONFLICT = 409

interface Artifact {
  /** Path relative to the directory. */
  file: string
  mediaType: string
  /** Release of the file, which must match the one that a request names. */
  release?: string
}

/** @param directory has `install.sh`, `install.ps1` and `bin/<slug>`, all optional; undefined: the relay has no installer */
export function createInstaller(directory: string | undefined, release: string, writer: BodyWriter): Routing {
  const routing: Routing = {
    [PATH.installSh]: both(serve(directory, writer, { file: 'install.sh', mediaType: 'text/x-shellscript' })),
    [PATH.installPs1]: both(serve(directory, writer, { file: 'install.ps1', mediaType: 'text/plain' })),
  }
  for (const slug of INSTALL_SLUGS)
    routing[installBinPath(slug)] = both(serve(directory, writer, binary(slug, release)))
  return routing
}

function binary(slug: InstallSlug, release: string): Artifact {
  const file = join('bin', slug)
  if (slug === 'js-wasm') return { file, mediaType: 'application/wasm', release }
  if (slug === 'wasm-exec') return { file, mediaType: 'text/javascript', release }
  return { file, mediaType: 'application/octet-stream' }
}

function both(handler: Handler): Record<string, Handler> {
  return { GET: handler, HEAD: handler }
}

function serve(
  directory: string | undefined,
  writer: BodyWriter,
  { file, mediaType, release }: Artifact,
): Handler {
  return async (request, response) => {
    const version = new URLSearchParams(request.url?.split('?')[1]).get('version')
    // Error texts are shell comments, since users pipe the script into a shell.
    if (release !== undefined && version !== null && version !== release)
      return sendText(response, CONFLICT, `# this relay is release ${release}\n`)
    const artifact = directory === undefined ? undefined : await findFile(join(directory, file))
    if (artifact === undefined) return sendText(response, NOT_FOUND, '# this relay does not have that file\n')
    await sendFile(writer, request, response, artifact, {
      content: { 'Content-Type': mediaType, 'X-Content-Type-Options': 'nosniff' },
      common: { 'Cache-Control': 'no-cache' },
    })
  }
}
