// The journal of payments as a file. Each record is on the disk before the facilitator continues.

import { open, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type JournalFile, openLogJournal, type PaymentJournal } from '@svc/payment'
import { createPrivateFile, replacePrivateFile } from '../identity/private-file.ts'

/**
 * Opens the journal of a facilitator in this process, for `createFacilitator`. Only one process at a time may open it.
 * @param path the file. It is created at the first payment, readable only by its owner.
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

/** Syncs a folder: after a crash, a renamed file is there only if its folder was also synced. Windows has no such call. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
