// Makes the changes of all callers one at a time, in the order of the calls.

import { untilAborted } from '@svc/protocol/timers'
import { DNS_CHANGES_WAITING_MAX } from './limits.ts'
import { type DnsProvider, DnsProviderError } from './provider.ts'

/**
 * `dnssec` is queued too, since it may enable DNSSEC. Waiting for name servers to have a record, and `canAnswer`, do
 * not block the queue: both may take minutes.
 * @returns a provider whose calls reject with the fault `unavailable` while too many changes wait
 */
export function oneAtATime(provider: DnsProvider): DnsProvider {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const inOrder = async <T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    if (waiting >= DNS_CHANGES_WAITING_MAX)
      throw new DnsProviderError('unavailable', 'too many changes of DNS records wait for the provider')
    waiting++
    const answer = last.then(() => {
      signal?.throwIfAborted()
      return call()
    })
    last = answer.catch(() => {}).finally(() => waiting--)
    return await untilAborted(answer, signal)
  }
  return {
    name: provider.name,
    canAnswer: (signal, tell) =>
      untilAborted(provider.canAnswer(signal, tell), signal).catch(() => {
        tell?.('the DNS gave no answer in time')
        return false
      }),
    addTxt: async (name, value, signal, wait) => {
      await inOrder(() => provider.addTxt(name, value, signal, 'taken'), signal)
      if (wait !== 'taken') await provider.waitForTxt?.(name, value, signal)
    },
    removeTxt: (name, value, signal) => inOrder(() => provider.removeTxt(name, value, signal), signal),
    setAddresses: (name, addresses, signal) =>
      inOrder(() => provider.setAddresses(name, addresses, signal), signal),
    dnssec: (signal) => inOrder(() => provider.dnssec(signal), signal),
    close: () => provider.close(),
  }
}
