// Writes audit.jsonl: one line for each change of the policy, with its time and the administrator's name and address.

import { open, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuditResponse, Invitation, PolicyStep } from '@svc/protocol'
import { GroupCommit } from '../storage/group-commit.ts'
import type { WriteHealth } from '../storage/write-health.ts'
import { auditPage } from './audit-pages.ts'
import type { FileChanges } from './policy-difference.ts'

/** Size of a file of policy changes, some 15,000 of them. The relay rotates it before it would be larger. */
export const AUDIT_FILE_MAX_BYTES: number = 4 * 1024 * 1024
/** Files of policy changes that are kept, the newest included. */
export const AUDIT_FILES_MAX = 4
/** Lines that wait while the disk accepts none. The relay drops the oldest first. */
const AUDIT_LINES_WAITING_MAX = 1024
const FILE = 'audit.jsonl'
const WATCHED = {
  name: FILE,
  meanwhile: 'it makes changes of the policy, and keeps their last lines until it can',
}
const PRIVATE_MODE = 0o600
const LINE_FEED = 10

/** A change that an administrator made through the API, or an operator by editing policy.json. */
export type AuditedChange =
  | Exclude<PolicyStep, { kind: 'leases' }>
  | { kind: 'file'; made: FileChanges }
  | { kind: 'invitation'; made: Pick<Invitation, 'id'> & Partial<Invitation> & { is_valid: boolean } }
  | { kind: 'administrator'; made: { name: string; is_allowed: boolean } }

/** Who made a change. */
export interface Auditor {
  /** Normalized client address. */
  address: string
  /** Name of the administrator. */
  by: string
}

export class AuditLog {
  readonly #path: string
  /** Lines that are not in the file yet, the oldest first. */
  #waiting: string[] = []
  readonly #commits: GroupCommit

  constructor(directory: string, health: WriteHealth) {
    this.#path = join(directory, FILE)
    this.#commits = new GroupCommit(() =>
      health.watch(
        WATCHED,
        () => this.#write(),
        () => this.#commits.commit(),
      ),
    )
  }

  /**
   * Resolves when the line is on disk or the write failed. WriteHealth reports a failure and retries the write.
   * @param auditor undefined for an edit of policy.json, and for what nobody did
   */
  async record(auditor: Auditor | undefined, change: AuditedChange): Promise<void> {
    const { address = null, by = null } = auditor ?? {}
    const entry = { time: new Date().toISOString(), address, by, ...change }
    this.#waiting.push(`${JSON.stringify(entry)}\n`)
    await this.#commits.commit().catch(() => {})
  }

  /**
   * The lines that are in the files, in pages, newest first.
   * @param after `next` of the page before; empty for the first page
   * @throws RelayError `invalid_request` for another cursor
   */
  async page(after: string): Promise<AuditResponse> {
    const paths = Array.from({ length: AUDIT_FILES_MAX }, (_, number) => this.#nameOf(number))
    return await auditPage(paths, after)
  }

  async #write(): Promise<void> {
    const lines = this.#waiting
    this.#waiting = []
    try {
      const text = lines.join('')
      await this.#rotate(Buffer.byteLength(text))
      await append(this.#path, text)
    } catch (error) {
      this.#waiting = [...lines, ...this.#waiting].slice(-AUDIT_LINES_WAITING_MAX)
      throw error
    }
  }

  /** Renames a full file to `audit.jsonl.1`, that one to `audit.jsonl.2`, and so on. */
  async #rotate(added: number): Promise<void> {
    const size = await sizeOf(this.#path)
    if (size === 0 || size + added <= AUDIT_FILE_MAX_BYTES) return
    for (let number = AUDIT_FILES_MAX - 1; number > 0; number--)
      await rename(this.#nameOf(number - 1), this.#nameOf(number)).catch(ignoreMissing)
  }

  #nameOf(number: number): string {
    return number === 0 ? this.#path : `${this.#path}.${number}`
  }
}

/** Appends lines. A partial line that a crash or a full disk left stays a separate line. */
async function append(path: string, text: string): Promise<void> {
  const file = await open(path, 'a+', PRIVATE_MODE)
  try {
    await file.chmod(PRIVATE_MODE)
    const { size } = await file.stat()
    const last = Buffer.alloc(1, LINE_FEED)
    if (size > 0) await file.read(last, 0, 1, size - 1)
    await file.appendFile(last[0] === LINE_FEED ? text : `\n${text}`)
    await file.datasync()
  } finally {
    await file.close()
  }
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(ignoreMissing)
  return found?.size ?? 0
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
