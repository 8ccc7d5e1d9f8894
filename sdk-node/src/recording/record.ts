// Records the exchanges of a site in a HAR file.

import type { DirectlyHandled, SvcError } from '@svc/sdk-core'
import { HarRecorder } from '@svc/sdk-core/recording'
import { HarFile } from './har-file.ts'

/** A SiteRecording records in a file. */
export interface SiteRecording {
  wrap(handler: DirectlyHandled): DirectlyHandled
  /** Resolves when all is written. */
  close(): Promise<void>
  /** Removes the file of a site that could not start. */
  abandon(): Promise<void>
}

/**
 * @param onError called once when the file cannot be written any more
 * @throws SvcError `invalid_option` when it cannot be created
 */
export async function recordIn(path: string, onError: (error: SvcError) => void): Promise<SiteRecording> {
  const file = await HarFile.create(path)
  let isBroken = false
  let isOver = false
  const recorder = new HarRecorder(async (entry) => {
    if (isBroken || isOver) return
    await file.add(entry).catch((error: SvcError) => {
      isBroken = true
      onError(error)
    })
  })
  return {
    wrap: (handler) => recorder.wrap(handler),
    close: async () => {
      await recorder.flushed()
      if (!isOver) await file.close()
      isOver = true
    },
    abandon: async () => {
      if (!isOver) await file.remove()
      isOver = true
    },
  }
}
