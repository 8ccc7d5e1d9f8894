// Serves the installer without the envelope: its scripts and its downloads, from the operator's directory or from the
// one that comes with this relay. A script that is not in the directory is rendered for this relay.

import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { installBinPath, PATH } from '@svc/protocol'
import { CHECKSUMS, DOWNLOADS } from '../../core/api/endpoints/download-names.ts'
import { sendBody } from '../../core/api/http/body-response.ts'
import type { BodyWriter } from '../../core/api/http/body-writer.ts'
import { sendText } from '../../core/api/http/envelope.ts'
import { sendFile } from '../../core/api/http/file-response.ts'
import { getAndHead, type Handler, type Routing } from '../../core/api/http/server.ts'
import { findFile } from '../../core/api/http/stored-file.ts'
import type { ClientAddresses } from '../../core/client-address/client-addresses.ts'
import { takesCoding } from '../../core/http/content-coding.ts'
import { BUILT_IN_DIRECTORIES, findDirectory } from './directory.ts'
import { Checksums, type Offer } from './offer.ts'
import { renderInstallPs1, renderInstallSh } from './scripts.ts'
import { UnpackedResponses } from './unpacked-response.ts'

const NOT_FOUND = 404
const SAFE = { 'X-Content-Type-Options': 'nosniff' }
const REVALIDATED = { 'Cache-Control': 'no-cache' }

export interface InstallerOptions {
  /**
   * The operator's directory: `install.sh`, `install.ps1` and `bin`, all optional; undefined: the one that comes with
   * the relay.
   */
  directory: string | undefined
  /** Origin of the relay's URL, which the scripts download from. */
  origin: string
  release: string
  writer: BodyWriter
  clientAddresses: ClientAddresses
}

/** @param builtIn directories that may have downloads when the operator names none */
export function createInstaller(
  options: InstallerOptions,
  builtIn: readonly string[] = BUILT_IN_DIRECTORIES,
): Routing {
  const installer = new Installer(options, builtIn)
  const routing: Routing = {
    [PATH.installSh]: getAndHead(installer.script('install.sh', 'text/x-shellscript', renderInstallSh)),
    [PATH.installPs1]: getAndHead(installer.script('install.ps1', 'text/plain', renderInstallPs1)),
    [installBinPath(CHECKSUMS)]: getAndHead(installer.stored(CHECKSUMS, 'text/plain')),
  }
  for (const { name, file, mediaType } of DOWNLOADS) {
    routing[installBinPath(name)] = getAndHead(installer.download(file, mediaType))
    routing[installBinPath(`${name}.gz`)] = getAndHead(installer.stored(`${file}.gz`, 'application/gzip'))
  }
  return routing
}

class Installer {
  readonly #options: InstallerOptions
  readonly #builtIn: readonly string[]
  readonly #sums = new Checksums()
  readonly #unpacked: UnpackedResponses

  constructor(options: InstallerOptions, builtIn: readonly string[]) {
    this.#options = options
    this.#builtIn = builtIn
    this.#unpacked = new UnpackedResponses(options.writer, options.clientAddresses)
  }

  /** Serves the operator's script, or if there is none, the one that `render` makes. */
  script(file: string, mediaType: string, render: (offer: Offer) => Promise<string>): Handler {
    const { directory, writer } = this.#options
    return async (request, response) => {
      const own = directory === undefined ? undefined : await findFile(join(directory, file))
      if (own !== undefined) return await sendFile(writer, request, response, own, headersOf(mediaType))
      const rendered = Buffer.from(await render(await this.#offer()))
      await sendBody(writer, request, response, rendered, headersOf(mediaType))
    }
  }

  /** Serves an executable, compressed for clients that accept that. */
  download(file: string, mediaType: string): Handler {
    const { writer } = this.#options
    return async (request, response) => {
      const [plain, packed] = [await this.#find(file), await this.#find(`${file}.gz`)]
      const { content, common } = headersOf(mediaType)
      const varies = packed === undefined ? common : { ...common, Vary: 'Accept-Encoding' }
      const isPacked = packed !== undefined && takesCoding(`${request.headers['accept-encoding']}`, 'gzip')
      if (isPacked)
        await sendFile(writer, request, response, packed, {
          content: { ...content, 'Content-Encoding': 'gzip' },
          common: varies,
        })
      else if (plain !== undefined)
        await sendFile(writer, request, response, plain, { content, common: varies })
      else if (packed !== undefined)
        await this.#unpacked.send(request, response, packed, { content, common: varies })
      else refuse(response)
    }
  }

  stored(file: string, mediaType: string): Handler {
    return async (request, response) => {
      const found = await this.#find(file)
      if (found === undefined) return refuse(response)
      await sendFile(this.#options.writer, request, response, found, headersOf(mediaType))
    }
  }

  async #directory(): Promise<string | undefined> {
    return this.#options.directory ?? (await findDirectory(this.#builtIn))
  }

  async #find(file: string): ReturnType<typeof findFile> {
    const directory = await this.#directory()
    return directory === undefined ? undefined : await findFile(join(directory, 'bin', file))
  }

  async #offer(): Promise<Offer> {
    const { origin, release } = this.#options
    const directory = await this.#directory()
    return { origin, release, sums: directory === undefined ? new Map() : await this.#sums.read(directory) }
  }
}

function headersOf(mediaType: string) {
  return { content: { 'Content-Type': mediaType, ...SAFE }, common: REVALIDATED }
}

/** Sends an error as a comment, since users pipe the response into a shell. */
function refuse(response: ServerResponse): void {
  sendText(response, NOT_FOUND, '# this relay does not have that file\n')
}
