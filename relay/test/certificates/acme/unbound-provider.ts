// A DNS provider whose zone is a real name server, the unbound that the authority asks.

import type { Unbound } from '../../../../tools/programs/unbound.ts'
import { type DnsProvider, DnsProviderError } from '../../../src/features/dns/provider.ts'

export interface UnboundProvider extends DnsProvider {
  /** What was published at each moment: `add` and `remove`, with the name. */
  readonly changes: string[]
  /** Refuses what is added from now on. */
  refuses: boolean
  /** What {@link DnsProvider.canAnswer} says. */
  answers: boolean
}

export function unboundProvider(unbound: Unbound): UnboundProvider {
  const values = new Map<string, Set<string>>()
  const publish = (name: string): void => {
    unbound.remove(`${name}.`)
    for (const value of values.get(name) ?? []) unbound.add(`${name}. 0 IN TXT "${value}"`)
  }
  const unsupported = async (): Promise<never> => {
    throw new DnsProviderError('unsupported', 'only TXT records')
  }
  const provider: UnboundProvider = {
    name: 'unbound',
    changes: [],
    refuses: false,
    answers: true,
    canAnswer: async () => provider.answers,
    addTxt: async (name, value) => {
      if (provider.refuses) throw new DnsProviderError('unauthorized', 'the token is wrong')
      provider.changes.push(`add ${name}`)
      values.set(name, (values.get(name) ?? new Set()).add(value))
      publish(name)
    },
    removeTxt: async (name, value) => {
      provider.changes.push(`remove ${name}`)
      values.get(name)?.delete(value)
      publish(name)
    },
    setAddresses: unsupported,
    dnssec: unsupported,
    close: async () => {},
  }
  return provider
}
