// Serves the installer: scripts and programs from the operator's directory, without the envelope.

import { join } from 'node:path'
import { installBinPath, PATH, PROGRAM_SLUGS } from '@svc/protocol'
import type { BodyWriter } from '../http/body-writer.ts'
import { sendText } from '../http/envelope.ts'
import { sendFile } from '../http/file-response.ts'
import type { Handler, Routing } from '../http/server.ts'
import { findFile } from '../http/stored-file.ts'

const NOT_FOUND = 404

interface Artifact {
  /** Path relative to the directory. */
  file: string
  mediaType: string
}

/** @param directory has `install.sh`, `install.ps1` and `bin/<slug>`, all optional; undefined: the relay has no installer */
export function createInstaller(directory: string | undefined, writer: BodyWriter): Routing {
  const routing: Routing = {
    [PATH.installSh]: both(serve(directory, writer, { file: 'install.sh', mediaType: 'text/x-shellscript' })),
    [PATH.installPs1]: both(serve(directory, writer, { file: 'install.ps1', mediaType: 'text/plain' })),
  }
  for (const slug of PROGRAM_SLUGS) {
    const program = { file: join('bin', slug), mediaType: 'application/octet-stream' }
    routing[installBinPath(slug)] = both(serve(directory, writer, program))
  }
  return routing
}

function both(handler: Handler): Record<string, Handler> {
  return { GET: handler, HEAD: handler }
}

function serve(directory: string | undefined, writer: BodyWriter, { file, mediaType }: Artifact): Handler {
  return async (request, response) => {
    // Error texts are shell comments, since users pipe the script into a shell.
    const artifact = directory === undefined ? undefined : await findFile(join(directory, file))
    if (artifact === undefined) return sendText(response, NOT_FOUND, '# this relay does not have that file\n')
    await sendFile(writer, request, response, artifact, {
      content: { 'Content-Type': mediaType, 'X-Content-Type-Options': 'nosniff' },
      common: { 'Cache-Control': 'no-cache' },
    })
  }
}
