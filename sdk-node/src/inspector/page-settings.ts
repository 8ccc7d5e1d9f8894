// What a person chose for the page of the inspector. It is in a file, because the page has another origin at each command, and a browser
// would forget it.

import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isRecord } from '@svc/sdk-core'
import { readPrivateFile, replacePrivateFile } from '../identity/private-file.ts'
import type { PageSettings } from './api-messages.ts'

const USUAL: PageSettings = { single_keys: true }

/** PageSettingsStore keeps the settings. */
export interface PageSettingsStore {
  read(): Promise<PageSettings>
  write(settings: PageSettings): Promise<void>
}

/** Keeps nothing: for a program that has no place for it. */
export const WITHOUT_SETTINGS: PageSettingsStore = {
  read: async () => USUAL,
  write: async () => {},
}

export class PageSettingsFile implements PageSettingsStore {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** Resolves with the defaults where there is no file, or none of ours. */
  async read(): Promise<PageSettings> {
    try {
      const value: unknown = JSON.parse(await readPrivateFile(this.#path, 'invalid_option'))
      return isRecord(value) && value.single_keys === false ? { single_keys: false } : USUAL
    } catch {
      return USUAL
    }
  }

  async write(settings: PageSettings): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
    await replacePrivateFile(this.#path, `${JSON.stringify(settings)}\n`)
  }
}
