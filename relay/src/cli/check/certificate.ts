// Checks the certificate that visitors would get: where it comes from, and how long it is valid.

import { X509Certificate } from 'node:crypto'
import { NODATA, NOTFOUND, Resolver } from 'node:dns/promises'
import { join } from 'node:path'
import { type Certificates, readDevelopmentCertificates } from '../../core/certificates/certificate-files.ts'
import { type CertificateSource, findCertificateSource } from '../../core/certificates/certificate-source.ts'
import { ACCOUNT_KEY_FILE, REGISTRATION_FILE } from '../../core/certificates/managed-files.ts'
import { PREVIOUS_CERTIFICATE_FILE } from '../../core/certificates/previous-certificates.ts'
import { type Found, ok, warning } from '../../core/check/finding.ts'
import type { Settings } from '../../core/config/settings.ts'
import { readPrivateIfPresent } from '../../core/storage/state-file.ts'
import { checkAcmeAccount } from '../../features/acme/check.ts'
import { EMBEDDED } from '../../features/dns/index.ts'

const DAY_MS = 86_400_000
/** Time for the one query to the system's resolvers. */
const NS_QUESTION_MS = 2_000
/** Error codes that mean that there are no records. Any other error says nothing about the name. */
const NO_RECORDS: ReadonlySet<string | undefined> = new Set([NODATA, NOTFOUND])
/**
 * Certificates of public CAs are usually renewed a month before they expire: with fewer days than this, renewal was
 * missed.
 */
const DAYS_LEFT_MIN = 14

/** @throws SettingsError as a start does */
export async function checkCertificate(settings: Settings): Promise<Found[]> {
  const { identityPath, rootHost } = settings
  // A start refuses this file when it is open to others, and deletes it when it is useless.
  await readPrivateIfPresent(join(identityPath, PREVIOUS_CERTIFICATE_FILE))
  const source = await findCertificateSource(settings)
  if (source.kind === 'manual') return [validity(source.certificates, 'fullchain.pem')]
  if (source.kind === 'managed') {
    const account = await checkAcmeAccount(settings)
    const isRefused = account.some(({ status }) => status === 'warning')
    const served = source.certificates && validity(source.certificates, 'fullchain.pem')
    if (isRefused) return [...account, ...(served ? [served] : [])]
    return [...checkManaged(settings, source, await proofOf(settings)), ...account]
  }
  const { authority, current } = await readDevelopmentCertificates(settings)
  if (current !== undefined) return [validity(current, 'fullchain.pem, of the development CA,')]
  const ca = authority === undefined ? 'creates a development CA, which' : 'has a development CA, which'
  return [ok(`The relay ${ca} issues a certificate for ${rootHost} and *.${rootHost}.`)]
}

function checkManaged(
  { rootHost, acme }: Settings,
  { certificates, problem, acmeDirectory }: CertificateSource & { kind: 'managed' },
  how: string,
): Found[] {
  const { host } = new URL(acme.directory)
  if (certificates !== undefined && acmeDirectory === undefined)
    return [
      warning(
        `fullchain.pem is not the certificate that the relay got by ACME: the relay orders another one at ${host} at its start, by ${how}. Move ${ACCOUNT_KEY_FILE} and ${REGISTRATION_FILE} away to keep yours.`,
      ),
      validity(certificates, 'fullchain.pem'),
    ]
  const names = certificates?.hasWildcard === true ? `${rootHost} and *.${rootHost}` : rootHost
  const isOfOther = acmeDirectory !== undefined && acmeDirectory !== acme.directory
  if (isOfOther && certificates !== undefined) {
    const change = `fullchain.pem comes from ${new URL(acmeDirectory).host}: the relay orders another one at ${host} at its start, by ${how}.`
    return [ok(change), validity(certificates, 'fullchain.pem, by ACME,')]
  }
  const found = [ok(`The relay renews the certificate of ${names} at ${host}, by ${how}.`)]
  if (certificates !== undefined) return [validity(certificates, 'fullchain.pem, by ACME,'), ...found]
  const first = ok(
    `The relay gets a certificate for ${rootHost} at ${host}, by ${how}, and serves nobody before.`,
  )
  return problem === undefined ? [first] : [warning(`${problem}: the relay gets another certificate.`), first]
}

/** How names are proven, and with `auto` the reason. */
async function proofOf({ rootHost, acme, acmeDnsProvider = EMBEDDED }: Settings): Promise<string> {
  if (acme.challenge !== 'auto') return acme.challenge
  if (acmeDnsProvider !== EMBEDDED)
    return `dns-01 where ${acmeDnsProvider} answers for ${rootHost}, else tls-alpn-01`
  const resolver = new Resolver({ timeout: NS_QUESTION_MS, tries: 1 })
  const here = "this relay's name server"
  try {
    const servers = await resolver.resolveNs(rootHost)
    return `dns-01 where ${servers.join(' and ')} lead to ${here}, else tls-alpn-01`
  } catch (error) {
    return NO_RECORDS.has((error as NodeJS.ErrnoException).code)
      ? `tls-alpn-01, since the public DNS does not delegate ${rootHost} to ${here}`
      : `dns-01 where the public DNS delegates ${rootHost} to ${here}, else tls-alpn-01`
  }
}

function validity({ chain, algorithm }: Certificates, source: string): Found {
  const leaf = new X509Certificate(chain[0]!)
  const days = Math.floor((leaf.validToDate.getTime() - Date.now()) / DAY_MS)
  const until = `until ${leaf.validToDate.toISOString().slice(0, 10)}, for ${days} days`
  if (days < DAYS_LEFT_MIN) return warning(`${source} is valid only ${until}: renew it.`)
  const kind = algorithm === 'RSA_PSS_SHA256' ? 'RSA' : algorithm === 'Ed25519' ? 'Ed25519' : 'ECDSA P-256'
  return ok(`${source} is valid ${until} (${kind}, ${chain.length} in the chain).`)
}
