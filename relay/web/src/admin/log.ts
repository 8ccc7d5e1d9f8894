// The changes that were made in this tab, and how one is made and taken back.
import { ApiError } from '../common/api.ts'
import { Store } from '../common/store.ts'
import { DONE } from '../texts/admin.ts'
import type { Change } from './change.ts'
import { ask } from './confirm.tsx'
import { asAdmin } from './session.ts'

/** Entries that are kept; the oldest go first. */
const ENTRIES_MAX = 100

export interface Entry {
  id: number
  at: number
  change: Change
  isUndone: boolean
}

interface Log {
  /** The newest first. */
  entries: readonly Entry[]
  /** What is said of the newest. */
  message: string
}

export const log: Store<Log> = new Store<Log>({ entries: [], message: '' })

let lastId = 0

/** Makes a change, after its question was answered if it has one. @returns whether it is made */
export async function make(change: Change): Promise<boolean> {
  if (change.question !== undefined && !(await ask(change.question))) return false
  if (!(await send(change.text, change.request))) return false
  lastId += 1
  const entry = { id: lastId, at: Date.now(), change, isUndone: false }
  log.set({ entries: [entry, ...log.value.entries].slice(0, ENTRIES_MAX), message: change.text })
  return true
}

export async function undo({ id, change }: Entry): Promise<void> {
  if (!(await send(change.text, change.undo))) return
  const entries = log.value.entries.map((one) => (one.id === id ? { ...one, isUndone: true } : one))
  log.set({ entries, message: DONE.undone(change.text) })
}

export function dismiss(): void {
  log.set({ ...log.value, message: '' })
}

async function send(text: string, { path, body }: Change['request']): Promise<boolean> {
  try {
    await asAdmin(path, body)
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    log.set({ ...log.value, message: DONE.failed(text, error.message) })
    return false
  }
}
