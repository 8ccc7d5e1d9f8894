// Sites whose visitors have client certificates. `publish` loads this only for them.

import { SvcError } from '../errors.ts'
import type { SiteOptions } from '../site/options.ts'
import type { ClientCertificateCheck, ClientCertificateOptions } from './options.ts'

const RULES: Readonly<Record<keyof ClientCertificateOptions, string>> = {
  ca: 'string',
  required: 'boolean',
  crl: 'string',
}

/** Fields about the visitor's certificate, in lower case. */
const FIELD = /^(?:x[-_])?client[-_]cert/

/**
 * Returns the options of a site that asks its visitors for certificates.
 * @throws SvcError `invalid_option`
 */
export async function siteWithClientCertificates(
  options: SiteOptions,
  given: ClientCertificateOptions,
): Promise<SiteOptions> {
  const clientCertificates = await checkOf(given)
  if (options.cache)
    throw wrong('and cache exclude each other: the relay gives its copy of the files to everybody')
  if (options.certificate === 'shared')
    throw wrong(
      'needs certificate: own, since the relay does not sign for a site that asks visitors for theirs',
    )
  if (options.allowFields?.some((name) => FIELD.test(name)))
    throw wrong('excludes fields about client certificates in allowFields: visitors could write them')
  return { ...options, tls: { ...options.tls, clientCertificates } }
}

async function checkOf(given: ClientCertificateOptions): Promise<ClientCertificateCheck> {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(RULES, name)) throw wrong(`has no option ${name}`)
    const type = RULES[name as keyof ClientCertificateOptions]
    if (value !== undefined && typeof value !== type) throw wrong(`: ${name} must be a ${type}`)
  }
  const { ca, required = true, crl } = given
  if (ca === undefined) throw wrong('needs ca')
  const { clientAuthentication, describeCertificate, readCertificate } = await import('@svc/tls/late')
  try {
    const describe: ClientCertificateCheck['describe'] = async (der) =>
      describeCertificate(readCertificate(der))
    return { ...clientAuthentication({ ca, required, crl }), ca, required, crl, describe }
  } catch (cause) {
    throw wrong(`: ${(cause as Error).message}`, cause)
  }
}

function wrong(why: string, cause?: unknown): SvcError {
  const message = `tls.clientCertificates${why.startsWith(':') ? '' : ' '}${why}`
  return new SvcError('invalid_option', message, { cause })
}
