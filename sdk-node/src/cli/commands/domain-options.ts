// Converts the options about custom domains to those of `expose`.

import { SvcError } from '@svc/sdk-core'
import type { ExposeOptions } from '../../expose/options.ts'
import type { SiteOptions } from '../options/parsed-command.ts'
import { readPem } from '../options/pem-file.ts'
import { readSecret } from '../options/secret.ts'

/** @throws SvcError `invalid_option` */
export async function domainOptions(options: SiteOptions): Promise<Pick<ExposeOptions, 'domains' | 'acme'>> {
  const { domain, acmeAgreeTerms, acmeEmail, acmeDirectory, acmeEab } = options
  const { domainCertificate, domainKey } = options
  if ((domainCertificate === undefined) !== (domainKey === undefined))
    throw new SvcError('invalid_option', '--domain-certificate and --domain-key belong together')
  if (domain === undefined) {
    const others = [domainCertificate, acmeAgreeTerms, acmeEmail, acmeDirectory, acmeEab]
    if (others.every((other) => other === undefined)) return {}
    throw new SvcError('invalid_option', '--acme-… and --domain-certificate are for --domain')
  }
  if (domainCertificate !== undefined && domainKey !== undefined) {
    const chain = (await readPem('--domain-certificate', domainCertificate)).toString()
    const key = (await readSecret('--domain-key', `file:${domainKey}`)).toString()
    return { domains: domain.map((name) => ({ domain: name, certificate: { chain, key } })) }
  }
  if (!acmeAgreeTerms)
    throw new SvcError(
      'invalid_option',
      '--domain gets its certificate from Let’s Encrypt, or from --acme-directory: --acme-agree-terms says that you agree to its terms of service',
    )
  return {
    domains: domain,
    acme: {
      agreeTerms: true,
      email: acmeEmail,
      directory: acmeDirectory,
      externalAccountBinding: acmeEab === undefined ? undefined : await bindingOf(acmeEab),
    },
  }
}

async function bindingOf(text: string): Promise<{ keyId: string; hmacKey: string }> {
  const [, keyId, secret] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (keyId === undefined || secret === undefined)
    throw new SvcError('invalid_option', '--acme-eab has to be ID=KEY, such as kid-1=file:key.txt')
  return { keyId, hmacKey: await readSecret('--acme-eab', secret) }
}
