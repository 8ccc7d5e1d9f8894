// Keeps the records that the relay made at external DNS providers in a file, so that it removes only these.

import { join } from 'node:path'
import type { RecordType } from '@svc/dns/providers'
import { z } from '../../../core/config/schema.ts'
import { SettingsError } from '../../../core/config/settings.ts'
import { GroupCommit } from '../../../core/storage/group-commit.ts'
import { readIfPresent, sizeIfPresent, writePrivate } from '../../../core/storage/state-file.ts'
import { DnsProviderError } from '../provider.ts'
import { JOURNAL_MAX_BYTES, JOURNAL_RECORDS_MAX, JOURNAL_RECORDS_RESERVED } from './limits.ts'

export const RECORD_JOURNAL_FILE = 'dns-records.json'

/** A record that the relay made. */
export interface MadeRecord {
  provider: string
  zone: string
  name: string
  type: RecordType
  value: string
}

/** What a record is for: the relay itself and its certificates, or the ENS name of a site. */
export type RecordUse = 'relay' | 'site'

const FILE = z.object({
  version: z.literal(1),
  records: z.array(
    z.object({
      provider: z.string(),
      zone: z.string(),
      name: z.string(),
      type: z.enum(['A', 'AAAA', 'TXT']),
      value: z.string(),
    }),
  ),
})

/** Callers add a record before they ask the provider to create it, and remove it once the provider no longer has it. */
export class RecordJournal {
  readonly #path: string
  readonly #records: Map<string, MadeRecord>
  readonly #commit = new GroupCommit(() => this.#write())

  private constructor(path: string, records: readonly MadeRecord[]) {
    this.#path = path
    this.#records = new Map(records.map((record) => [keyOf(record), record]))
  }

  /** @throws SettingsError when the file is damaged or cannot be read; it stays as it is */
  static async open(identityPath: string): Promise<RecordJournal> {
    const path = join(identityPath, RECORD_JOURNAL_FILE)
    if ((await sizeIfPresent(path)) > JOURNAL_MAX_BYTES)
      throw new SettingsError(path, `has more than ${JOURNAL_MAX_BYTES} bytes`)
    return new RecordJournal(path, parse(path, await readIfPresent(path)))
  }

  has(record: MadeRecord): boolean {
    return this.#records.has(keyOf(record))
  }

  /**
   * A site's record may replace another one even when sites have used all their room, so that its addresses follow the
   * relay's. The old and the new one then share the reserved room for a moment.
   * @throws DnsProviderError `full` for a record of a site, `unavailable` for one of the relay
   */
  requireRoom(records: readonly MadeRecord[], use: RecordUse, replaced = 0): void {
    const added = records.filter((record) => !this.has(record)).length
    if (added === 0) return
    const size = this.#records.size + added
    const sitesMax = JOURNAL_RECORDS_MAX - JOURNAL_RECORDS_RESERVED
    const isMore = added > replaced
    if (use === 'site' && ((isMore && size > sitesMax) || size > JOURNAL_RECORDS_MAX))
      throw new DnsProviderError(
        'full',
        `the relay has ${sitesMax} DNS records, as many as sites may fill: further sites get no ENS names`,
      )
    if (size > JOURNAL_RECORDS_MAX)
      throw new DnsProviderError(
        'unavailable',
        `the relay has ${JOURNAL_RECORDS_MAX} DNS records, and makes no more`,
      )
  }

  /** The records at one provider, in one zone. */
  recordsOf(provider: string, zone: string): MadeRecord[] {
    return [...this.#records.values()].filter((one) => one.provider === provider && one.zone === zone)
  }

  /**
   * Resolves when the file has the records.
   * @param replaced number of records that will be removed once these are added
   * @throws DnsProviderError as {@link requireRoom} does; StateFileError
   */
  async add(records: readonly MadeRecord[], use: RecordUse, replaced = 0): Promise<void> {
    this.requireRoom(records, use, replaced)
    const added = records.filter((record) => !this.has(record))
    if (added.length === 0) return
    for (const record of added) this.#records.set(keyOf(record), record)
    try {
      await this.#commit.commit()
    } catch (error) {
      for (const record of added) this.#records.delete(keyOf(record))
      throw error
    }
  }

  /** @throws StateFileError; the file then still names the records, which is harmless */
  async remove(records: readonly MadeRecord[]): Promise<void> {
    const removed = records.filter((record) => this.#records.delete(keyOf(record)))
    if (removed.length > 0) await this.#commit.commit()
  }

  async #write(): Promise<void> {
    const file = { version: 1, records: [...this.#records.values()] }
    await writePrivate(this.#path, `${JSON.stringify(file)}\n`)
  }
}

function parse(path: string, text: string | undefined): MadeRecord[] {
  if (text === undefined) return []
  try {
    const { records } = FILE.parse(JSON.parse(text))
    if (records.length <= JOURNAL_RECORDS_MAX) return records
  } catch {
    // It is refused below.
  }
  throw new SettingsError(
    path,
    'is not the list of DNS records that the relay made; without it, remove those records at the DNS provider yourself',
  )
}

function keyOf({ provider, zone, name, type, value }: MadeRecord): string {
  return JSON.stringify([provider, zone, name, type, value])
}
