// Proves names by `dns-01` (RFC 8555 §8.4): a TXT record at `_acme-challenge` below the name, through the DNS provider.

import type { Logger } from '../../core/log/log.ts'
import { type DnsProvider, DnsProviderError } from '../dns/provider.ts'
import { AcmeError } from './authority.ts'
import type { Prover } from './proofs.ts'

export function dnsProver(provider: DnsProvider, log: Logger): Prover {
  return {
    type: 'dns-01',
    show: async (name, value, signal) => {
      const record = `_acme-challenge.${name}`
      const remove = async (): Promise<void> => {
        try {
          // Without the order's signal, which may be aborted already.
          await provider.removeTxt(record, value)
        } catch (error) {
          log.warn(
            { record, reason: (error as Error).message },
            'a TXT record of the ACME challenge stays, since the DNS provider did not remove it',
          )
        }
      }
      try {
        await provider.addTxt(record, value, signal)
        return remove
      } catch (error) {
        // The record may already be at some of the name servers.
        await remove()
        throw errorOf(error, provider.name, record)
      }
    },
  }
}

function errorOf(error: unknown, provider: string, record: string): unknown {
  if (!(error instanceof DnsProviderError)) return error
  const { message, retryAfterMs } = error
  const line = `the DNS provider ${provider} did not publish the TXT record ${record}: ${message}`
  return new AcmeError('dns_failed', line, {
    cause: error,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}
