// Keeps the journal of payments in the state directory. It has no secrets: what it says about payments is on the chain,
// too.

import { join } from 'node:path'
import type { JournalFile } from '@svc/payment'
import {
  appendPrivate,
  probePrivateWrite,
  readIfPresent,
  writePrivate,
} from '../../core/storage/state-file.ts'
import type { WriteHealth } from '../../core/storage/write-health.ts'

const PAYMENT_JOURNAL_FILE = 'payments.jsonl'
const WATCHED = { name: PAYMENT_JOURNAL_FILE, meanwhile: 'it settles no payments' }

/** @param directory the state directory */
export function paymentJournalFile(directory: string, health: Pick<WriteHealth, 'watch'>): JournalFile {
  const path = join(directory, PAYMENT_JOURNAL_FILE)
  const probe = (): Promise<void> => watched(() => probePrivateWrite(path, ' '))
  const watched = (write: () => Promise<void>): Promise<void> => health.watch(WATCHED, write, probe)
  return {
    read: () => readIfPresent(path),
    append: (text) => watched(() => appendPrivate(path, text)),
    replace: (text) => watched(() => writePrivate(path, text)),
  }
}
