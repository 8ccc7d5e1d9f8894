// Serves the development CA's certificate in the formats that systems import. Only a relay on localhost has one.

import { PEM_MEDIA_TYPE } from '@svc/protocol'
import { CA_FORMATS, type CaFormat, exportCa } from '../../certificates/ca-export.ts'
import { sendBody } from '../http/body-response.ts'
import type { BodyWriter } from '../http/body-writer.ts'
import { pathOf } from '../http/request.ts'
import type { Handler } from '../http/server.ts'
import { protectPage, refuseMethod } from './static-files.ts'

/**
 * Systems act on a file's type and name: Firefox and browsers on Apple's systems offer to import an `inline` file;
 * Windows and Android recognize a certificate by `.crt`.
 */
const FORMATS: Record<CaFormat, { mediaType: string; disposition: string }> = {
  pem: { mediaType: PEM_MEDIA_TYPE, disposition: 'attachment; filename="svc-ca.pem"' },
  der: { mediaType: 'application/x-x509-ca-cert', disposition: 'inline; filename="svc-ca.crt"' },
  p12: { mediaType: 'application/x-pkcs12', disposition: 'attachment; filename="svc-ca.p12"' },
  mobileconfig: {
    mediaType: 'application/x-apple-aspen-config',
    disposition: 'inline; filename="svc-ca.mobileconfig"',
  },
}

/**
 * @param authority returns the PEM of the CA's certificate; undefined without a CA
 * @param next handles every other path, and these paths without a CA
 */
export function createCaFiles(
  authority: () => string | undefined,
  writer: BodyWriter,
  next: Handler,
): Handler {
  const files = new AuthorityFiles()
  return async (request, response) => {
    const format = formatOf(pathOf(request))
    const pem = format && authority()
    if (format === undefined || pem === undefined) return await next(request, response)
    protectPage(response)
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response)
    const body = await files.of(pem, format)
    const { mediaType, disposition } = FORMATS[format]
    const content = { 'Content-Type': mediaType, 'Content-Disposition': disposition }
    await sendBody(writer, request, response, body, { content, common: { 'Cache-Control': 'no-cache' } })
  }
}

/** Creates each file once per certificate, since deriving the key of a PKCS #12 file takes time. */
class AuthorityFiles {
  #pem = ''
  readonly #files = new Map<CaFormat, Promise<Buffer>>()

  of(pem: string, format: CaFormat): Promise<Buffer> {
    if (pem !== this.#pem) this.#files.clear()
    this.#pem = pem
    const file = this.#files.get(format) ?? makeFile(pem, format)
    this.#files.set(format, file)
    return file
  }
}

async function makeFile(pem: string, format: CaFormat): Promise<Buffer> {
  return Buffer.from(await exportCa(pem, format))
}

function formatOf(path: string): CaFormat | undefined {
  return CA_FORMATS.find((format) => path === `/ca.${format}`)
}
