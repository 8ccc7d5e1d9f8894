// Applies and undoes changes of the policy, and keeps the message about this tab's last change.
import { ApiError } from '../common/api.ts'
import { confirm } from '../common/confirm.tsx'
import { Store } from '../common/store.ts'
import { DONE } from '../texts/admin.ts'
import { callAsAdmin } from './admin-login.ts'
import type { ApiCall, ChangeRequest } from './change-request.ts'

interface LastChange {
  message: string
  /** The change of the message, while it can be undone. */
  change?: ChangeRequest
}

export const lastChange: Store<LastChange> = new Store<LastChange>({ message: '' })

/** Applies a change, after the administrator confirmed it if it has a question. @returns whether it was applied */
export async function applyChange(change: ChangeRequest): Promise<boolean> {
  if (change.question !== undefined && !(await confirm(change.question))) return false
  const requests = [change.request].flat()
  const [done, why] = await send(requests)
  if (why === undefined) {
    lastChange.set({ message: change.text, change })
    return true
  }
  const message = DONE.failed(change.text, why)
  // What was made of a large change can be taken back.
  const undo = [change.undo].flat().slice(0, done)
  lastChange.set(done === 0 ? { message } : { message, change: { ...change, undo } })
  return false
}

export async function undoChange({ text, undo }: Pick<ChangeRequest, 'text' | 'undo'>): Promise<void> {
  const [, why] = await send([undo].flat())
  lastChange.set({ message: why === undefined ? DONE.undone(text) : DONE.failed(text, why) })
}

export function dismiss(): void {
  lastChange.set({ message: '' })
}

/** Stops at a request that the relay refuses. @returns how many it accepted, and why it refused the next */
async function send(calls: readonly ApiCall[]): Promise<[accepted: number, why: string | undefined]> {
  for (const [index, { path, body }] of calls.entries())
    try {
      await callAsAdmin(path, body)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return [index, error.message]
    }
  return [calls.length, undefined]
}
