// The journal of payments as a file, of which each record is on the disk before the facilitator goes on.

import { open, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type JournalFile, openLogJournal, type PaymentJournal } from '@svc/payment'
import { createPrivateFile, replacePrivateFile } from '../identity/private-file.ts'

/**
 * Opens the journal of a facilitator in this process, for `createFacilitator`. One process at a time may have it open.
 * @param path of the file. It is created at the first payment, and readable for its owner alone.
 * @throws PaymentError `journal_failed` when the disk has changed it; the error of the file system
 */
export async function openPaymentJournal(path: string): Promise<PaymentJournal> {
  return openLogJournal(fileAt(path))
}

function fileAt(path: string): JournalFile {
  return {
    read: () =>
      readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      }),
    append: async (text) => {
      const file = await open(path, 'a')
      try {
        await file.writeFile(text)
        await file.datasync()
      } finally {
        await file.close()
      }
    },
    replace: async (text) => {
      await createPrivateFile(path, '')
      await replacePrivateFile(path, text)
      await syncFolder(dirname(path))
    },
  }
}

/** A file that was renamed is in its folder after a crash only when the folder was written, too. Windows has no such call. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
