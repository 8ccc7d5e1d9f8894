// Applies and undoes changes of the policy, and keeps the message about this tab's last change.
import { ApiError } from '../common/api.ts'
import { confirm } from '../common/confirm.tsx'
import { Store } from '../common/store.ts'
import { DONE } from '../texts/admin.ts'
import { callAsAdmin } from './admin-login.ts'
import type { ChangeRequest } from './change-request.ts'

interface LastChange {
  message: string
  /** The change of the message, while it can be undone. */
  change?: ChangeRequest
}

export const lastChange: Store<LastChange> = new Store<LastChange>({ message: '' })

/** Applies a change, after the administrator confirmed it if it has a question. @returns whether it was applied */
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
