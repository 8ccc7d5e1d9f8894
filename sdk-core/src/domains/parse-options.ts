// Checks the options `domains` and `acme`.

import { CUSTOM_DOMAINS_MAX, DOMAIN_NAME_MAX_CHARS } from '@svc/protocol'
import type { AccountTerms } from '../acme/account.ts'
import { DEFAULT_DIRECTORY } from '../acme/limits.ts'
import { isRecord } from '../control/json-checks.ts'
import { SvcError } from '../errors.ts'
import { isUrl } from '../platform-objects.ts'
import type { AcmeOptions, BroughtDomain } from './options.ts'

/** The checked options. */
export interface DomainSettings {
  domains: { domain: string; certificate: BroughtDomain['certificate'] | undefined }[]
  /** Undefined when each certificate is brought. */
  acme: AcmeSettings | undefined
}

/** The checked AcmeOptions. */
interface AcmeSettings extends AccountTerms {
  /** The URL of the directory. */
  directory: string
  dnsOverHttps: string | undefined
}

const ACME_NAMES: readonly string[] = [
  'agreeTerms',
  'email',
  'directory',
  'externalAccountBinding',
  'dnsOverHttps',
] satisfies (keyof AcmeOptions)[]
const EMAIL = /^[^\s@,?]+@[^\s@,?]+$/
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

/** @throws SvcError `invalid_option` that says what is wrong */
export function parseDomainOptions(domains: readonly unknown[], acme: unknown): DomainSettings {
  if (domains.length > CUSTOM_DOMAINS_MAX)
    throw wrong(`domains has ${domains.length} entries; at most ${CUSTOM_DOMAINS_MAX} are allowed`)
  const parsed = domains.map(parseDomain)
  const names = parsed.map(({ domain }) => domain)
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined) throw wrong(`domains names ${twice} twice`)
  const orders = parsed.find(({ certificate }) => certificate === undefined)
  const settings = acme === undefined ? undefined : parseAcme(acme)
  if (orders && settings === undefined)
    throw wrong(
      `${orders.domain} needs a certificate: set acme: { agreeTerms: true } to get it from Let's Encrypt, whose terms you then agree to, or bring one as { domain, certificate: { chain, key } }`,
    )
  return { domains: parsed, acme: orders && settings }
}

function parseDomain(given: unknown): DomainSettings['domains'][number] {
  if (typeof given === 'string') return { domain: domainName(given), certificate: undefined }
  if (!isRecord(given) || typeof given.domain !== 'string')
    throw wrong('domains has an entry that is neither a name nor { domain, certificate }')
  const domain = domainName(given.domain)
  const { chain, key } = Object(given.certificate)
  if (typeof chain !== 'string' || typeof key !== 'string')
    throw wrong(`${domain}: certificate needs chain and key, both PEM`)
  return { domain, certificate: { chain, key } }
}

/** Returns the A-labels of a name. */
function domainName(given: string): string {
  const why = (reason: string): SvcError => wrong(`domains: ${JSON.stringify(given)} ${reason}`)
  if (given.includes('*')) throw why('is a wildcard, which tls-alpn-01 cannot prove')
  if (/[/:@?#\s]/.test(given)) throw why('is not a name: leave out https:// and the port')
  const host = URL.parse(`https://${given.replace(/\.$/, '')}`)?.hostname ?? ''
  if (/^\[|^\d+(?:\.\d+){3}$/.test(host)) throw why('is an IP address')
  const labels = host.split('.')
  if (!labels.every((label) => LABEL.test(label)) || host.length > DOMAIN_NAME_MAX_CHARS)
    throw why('is not a domain name')
  if (labels.length < 2) throw why('has only one label')
  return host
}

function parseAcme(given: unknown): AcmeSettings {
  if (!isRecord(given)) throw wrong('acme must be an object')
  const unknown = Object.keys(given).find((name) => !ACME_NAMES.includes(name))
  if (unknown !== undefined) throw wrong(`acme has no option ${unknown}`)
  const { agreeTerms, email, directory = DEFAULT_DIRECTORY, externalAccountBinding, dnsOverHttps } = given
  if (agreeTerms !== true)
    throw wrong("acme.agreeTerms must be true: that you agree to the authority's terms of service")
  if (email !== undefined && (typeof email !== 'string' || !EMAIL.test(email)))
    throw wrong('acme.email must be one address')
  return {
    email,
    directory: httpsUrl('acme.directory', directory),
    externalAccountBinding: parseBinding(externalAccountBinding),
    dnsOverHttps: dnsOverHttps === undefined ? undefined : httpsUrl('acme.dnsOverHttps', dnsOverHttps),
  }
}

function parseBinding(given: unknown): AccountTerms['externalAccountBinding'] {
  if (given === undefined) return undefined
  const { keyId, hmacKey } = Object(given)
  if (typeof keyId !== 'string' || typeof hmacKey !== 'string' || !/^[\w-]+=*$/.test(hmacKey))
    throw wrong('acme.externalAccountBinding needs keyId, and hmacKey in base64url')
  return { keyId, hmacKey }
}

function httpsUrl(option: string, given: unknown): string {
  const url = typeof given === 'string' || isUrl(given) ? URL.parse(String(given)) : null
  if (url?.protocol !== 'https:') throw wrong(`${option} must be an https URL`)
  return url.href
}

function wrong(message: string): SvcError {
  return new SvcError('invalid_option', message)
}
