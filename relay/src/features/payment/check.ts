// Checks what the payment facilitator needs: its libraries, a recipient, full nodes of its network, and a journal.

import { loadFacilitator, NETWORKS, openLogJournal } from '@svc/payment'
import { error, type Found, off, ok, warning } from '../../core/check/finding.ts'
import type { Settings } from '../../core/config/settings.ts'
import { paymentJournalFile } from './journal-file.ts'

export async function checkPayment({ payment, identityPath }: Settings): Promise<Found[]> {
  const { isEnabled, network, payTo, endpoints } = payment
  if (!isEnabled) return [off('X402_ENABLED is false: the relay settles no payments.')]
  try {
    await loadFacilitator()
  } catch (cause) {
    return [error((cause as Error).message)]
  }
  const nodes = endpoints ?? NETWORKS[network].endpoints
  const { name } = NETWORKS[network]
  const found = [
    ok(`The relay settles payments to ${payTo} on ${name}, by ${nodes.map(originOf).join(', ')}.`),
    await checkJournal(identityPath),
  ]
  const open = nodes.filter((url) => new URL(url).protocol === 'http:' && !isLoopback(new URL(url).hostname))
  if (open.length > 0)
    found.push(
      warning(
        `X402_ENDPOINTS has ${open.map(originOf).join(', ')}: who is on the way there can lie about payments.`,
      ),
    )
  return found
}

async function checkJournal(identityPath: string): Promise<Found> {
  const health = { watch: () => Promise.reject(new Error('a check writes nothing')) }
  try {
    const journal = await openLogJournal(paymentJournalFile(identityPath, health))
    const { length } = await journal.open()
    return ok(
      length === 0
        ? 'No payment is open.'
        : `${length} payments are open: a start asks the chain about them.`,
    )
  } catch (cause) {
    return error((cause as Error).message)
  }
}

/** URLs may contain an account's key. */
function originOf(url: string): string {
  return new URL(url).origin
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
}
