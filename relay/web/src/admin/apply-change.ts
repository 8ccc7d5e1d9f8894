// How a change is made and taken back, and what is said of the newest that was made in this tab.
import { ApiError } from '../common/api.ts'
import { Store } from '../common/store.ts'
import { DONE } from '../texts/admin.ts'
import { callAsAdmin } from './admin-login.ts'
import type { ChangeRequest } from './change-request.ts'
import { confirm } from './confirm.tsx'

interface LastChange {
  message: string
  /** What the message is of, while that can be taken back. */
  change?: ChangeRequest
}

export const lastChange: Store<LastChange> = new Store<LastChange>({ message: '' })

/** Makes a change, after its question was answered if it has one. @returns whether it is made */
export async function applyChange(change: ChangeRequest): Promise<boolean> {
  if (change.question !== undefined && !(await confirm(change.question))) return false
  if (!(await send(change.text, change.request))) return false
  lastChange.set({ message: change.text, change })
  return true
}

export async function undoChange({ text, undo }: Pick<ChangeRequest, 'text' | 'undo'>): Promise<void> {
  if (await send(text, undo)) lastChange.set({ message: DONE.undone(text) })
}

export function dismiss(): void {
  lastChange.set({ message: '' })
}

async function send(text: string, { path, body }: ChangeRequest['request']): Promise<boolean> {
  try {
    await callAsAdmin(path, body)
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    lastChange.set({ message: DONE.failed(text, error.message) })
    return false
  }
}
