// Registers the service worker of the share target: for people who installed the app, since nobody else has it in a share sheet.
import workerUrl from './worker.ts?worker&url'

const SCOPE = '/share-target/'

export async function registerShareTarget(): Promise<void> {
  await navigator.serviceWorker?.register(workerUrl, { scope: SCOPE }).catch(() => {}) // Sharing alone is missing then.
}
