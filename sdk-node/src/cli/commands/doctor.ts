// `svc doctor`: compares the certificates that a visit from this machine sees with those that it stores for the site.

import type { X509Certificate } from 'node:crypto'
import { canonicalLabel, nameOfAddress, normalizeName } from '@svc/protocol'
import { identityFromKey, parseRelay, SvcError } from '@svc/sdk-core'
import type { CopyStatus } from '../../agent/api-messages.ts'
import { type KeptDomain, readKeptDomains } from '../../identity/domain-store.ts'
import { loadIdentityFile } from '../../identity/identity-file.ts'
import { type KeptCertificate, readKeptCertificate } from '../../identity/site-keys.ts'
import { type ShownChain, shownChain } from '../../probe/shown-chain.ts'
import { NO_RELAY } from '../options/command-line.ts'
import type { ParsedCommand } from '../options/parsed-command.ts'
import { readPem } from '../options/pem-file.ts'
import { EXIT, type ExitCode } from '../report/exit-codes.ts'
import { explainError, meaningOf } from '../report/explain-error.ts'
import { until } from '../report/format-stats.ts'
import { printable } from '../report/printable.ts'
import { type DoctorReport, HEALTHY_VERDICTS, type Reporter } from '../report/report.ts'
import { readStatus } from './status-socket.ts'

type Options = Extract<ParsedCommand, { command: 'doctor' }>['options']

type Finding = Pick<DoctorReport, 'verdict' | 'message' | 'certificate' | 'advice'>

/**
 * @param statusFolder the folder of the sockets of running `svc`
 * @returns `EXIT.differs` unless every hostname presents the expected certificate
 */
export async function examine(options: Options, tell: Reporter, statusFolder: string): Promise<ExitCode> {
  if (options.relay.length === 0) throw new SvcError('invalid_option', NO_RELAY)
  const ca = options.ca === undefined ? undefined : await readPem('--ca', options.ca)
  const { address } = identityFromKey(await loadIdentityFile(options.identityPath))
  const name = normalizeName(options.name ?? nameOfAddress(address))
  if (name === undefined) throw new SvcError('invalid_option', `${options.name} is no name of a site`)
  const copies = await copiesOf(statusFolder)
  let isHealthy = true
  for (const relay of options.relay.map(parseRelay)) {
    const kept = await readKeptCertificate(options.identityPath, { relay: relay.host, name, address })
    const relays = await shownChain(relay, ca, undefined, options.proxy).catch(() => undefined)
    const canonical = canonicalLabel(name, address.toLowerCase())
    for (const label of [name, canonical]) {
      const url = new URL(relay.origin)
      url.hostname = `${label}.${relay.hostname}`
      const copy = copies.get(url.origin)
      const finding = await lookAt(url, {
        ca,
        proxy: options.proxy,
        kept,
        relays,
        copy,
        isCanonical: label === canonical,
      })
      isHealthy &&= HEALTHY_VERDICTS.has(finding.verdict)
      tell({ event: 'doctor', relay: relay.origin, url: url.origin, ...finding })
    }
    for (const domain of await readKeptDomains(options.identityPath)) {
      const url = new URL(relay.origin)
      url.hostname = domain.domain
      const finding = await lookAtDomain(url, domain, options.proxy)
      isHealthy &&= HEALTHY_VERDICTS.has(finding.verdict)
      tell({ event: 'doctor', relay: relay.origin, url: url.origin, ...finding })
    }
  }
  return isHealthy ? EXIT.ok : EXIT.differs
}

interface Compared {
  ca: string | Buffer | undefined
  proxy: string | undefined
  kept: KeptCertificate | undefined
  /** The chain that the relay presents at its own host; undefined when it cannot be reached. */
  relays: ShownChain | undefined
  /** The relay's copy of the site's files, from a running `svc`. */
  copy: CopyStatus | undefined
  isCanonical: boolean
}

/** Returns the relays' copies that running `svc` processes know, by origin of the canonical URL. */
async function copiesOf(statusFolder: string): Promise<Map<string, CopyStatus>> {
  const copies = new Map<string, CopyStatus>()
  for (const report of await readStatus(statusFolder)) {
    if (report.event !== 'status') continue
    const { canonical_url, cache } = report
    if (canonical_url !== undefined && cache?.present) copies.set(canonical_url, cache)
  }
  return copies
}

async function lookAt(url: URL, compared: Compared): Promise<Finding> {
  try {
    return compare(await shownChain(url, compared.ca, undefined, compared.proxy), compared)
  } catch (error) {
    return unreachable(error, 'Is the site online? `svc status` lists what runs on this machine.')
  }
}

/** The site alone has the key of a custom domain's certificate, which the relay's own CA does not sign. */
async function lookAtDomain(
  url: URL,
  { publicKey }: KeptDomain,
  proxy: string | undefined,
): Promise<Finding> {
  try {
    const { chain, refusal } = await shownChain(url, undefined, undefined, proxy)
    const certificate = describe(chain[0])
    if (!chain[0].publicKey.equals(publicKey))
      return {
        verdict: 'suspected',
        message:
          "its key is not the site's: something else answers for the domain, such as a relay that ends TLS itself",
        certificate,
        advice: `Leave this relay. \`svc domain check ${url.hostname}\` says whether a CAA record keeps others from getting a certificate.`,
      }
    if (refusal !== undefined) return untrusted(refusal, certificate)
    return { verdict: 'own', message: OWN, certificate }
  } catch (error) {
    return unreachable(error, `\`svc domain check ${url.hostname}\` looks at its DNS records.`)
  }
}

const OWN = "the site's own certificate, as this machine keeps it"
const RESTART = 'Restart what publishes the site: it then shows what its file has.'
const WHO_ELSE =
  'Does another machine or page publish this site? If none does, something answers in its place: leave this relay.'
const AFTER_CACHE =
  'If svc served it with --cache, the relay keeps that copy also when svc has ended, and nothing is wrong. If not: '

function unreachable(error: unknown, advice: string): Finding {
  return { verdict: 'unreachable', message: explainError(error).message, advice }
}

function untrusted(refusal: string, certificate: string): Finding {
  const meaning = meaningOf(refusal)
  return {
    verdict: 'untrusted',
    message: `clients refuse the certificate: ${refusal}${meaning === undefined ? '' : ` (${meaning})`}`,
    certificate,
    advice: 'If only this machine refuses it, give its CA with --ca FILE. Otherwise tell who runs the relay.',
  }
}

function compare({ chain, refusal }: ShownChain, { kept, relays, copy, isCanonical }: Compared): Finding {
  const [leaf] = chain
  const certificate = describe(leaf)
  if (refusal !== undefined) return untrusted(refusal, certificate)
  if (kept !== undefined && leaf.publicKey.equals(kept.publicKey)) return compareOwn(chain, kept.chain)
  if (copy !== undefined)
    return {
      verdict: 'cached',
      message: `the relay's: it ends TLS here for its copy of the site's files, ${until(copy.expires_at)}`,
      certificate,
    }
  const advice = isCanonical && kept !== undefined ? AFTER_CACHE + WHO_ELSE : WHO_ELSE
  const other = { verdict: 'other_key', certificate, advice } as const
  const ofRelay = relays?.chain[0]
  if (ofRelay !== undefined && leaf.publicKey.equals(ofRelay.publicKey)) {
    const message = "the relay's key: the relay signs for each visitor"
    const own = kept?.chain[0]
    if (own === undefined) return { verdict: 'shared', message, certificate }
    return { ...other, message: `${message}; this machine keeps one of the site's own, ${describe(own)}` }
  }
  const here = kept
    ? "neither the site's own nor the relay's"
    : "not the relay's, and this machine has no key of the site"
  return { ...other, message: `its key is ${here}` }
}

/** For a certificate with the site's own key. */
function compareOwn(chain: ShownChain['chain'], [own, ...others]: readonly X509Certificate[]): Finding {
  const certificate = describe(chain[0])
  if (own?.fingerprint256 !== chain[0].fingerprint256)
    return {
      verdict: 'other_certificate',
      message: `another one with the site's own key; this machine keeps ${own ? describe(own) : 'none'}`,
      certificate,
      advice: RESTART,
    }
  const known = new Set(chain.map(({ fingerprint256 }) => fingerprint256))
  const missing = others.filter(({ fingerprint256 }) => !known.has(fingerprint256))
  if (missing.length === 0) return { verdict: 'own', message: OWN, certificate }
  return {
    verdict: 'other_chain',
    message: `the site's own, but without ${missing.map(({ subject }) => oneLine(subject)).join(' and ')}, which some clients need`,
    certificate,
    advice: RESTART,
  }
}

function describe({ serialNumber, issuer, validToDate }: X509Certificate): string {
  return `${serialNumber}, until ${validToDate.toISOString().slice(0, 10)}, by ${oneLine(issuer)}`
}

/** Joins a certificate's name, which has a line for each part. */
function oneLine(name: string): string {
  return printable(name.replaceAll('\n', ', '))
}
