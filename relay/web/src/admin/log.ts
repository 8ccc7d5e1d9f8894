// How a change is made and taken back, and what is said of the newest that was made in this tab.
import { ApiError } from '../common/api.ts'
import { Store } from '../common/store.ts'
import { DONE } from '../texts/admin.ts'
import type { Change } from './change.ts'
import { ask } from './confirm.tsx'
import { asAdmin } from './session.ts'

interface Log {
  message: string
  /** What the message is of, while that can be taken back. */
  change?: Change
}

export const log: Store<Log> = new Store<Log>({ message: '' })

/** Makes a change, after its question was answered if it has one. @returns whether it is made */
export async function make(change: Change): Promise<boolean> {
  if (change.question !== undefined && !(await ask(change.question))) return false
  if (!(await send(change.text, change.request))) return false
  log.set({ message: change.text, change })
  return true
}

export async function undo({ text, undo }: Pick<Change, 'text' | 'undo'>): Promise<void> {
  if (await send(text, undo)) log.set({ message: DONE.undone(text) })
}

export function dismiss(): void {
  log.set({ message: '' })
}

async function send(text: string, { path, body }: Change['request']): Promise<boolean> {
  try {
    await asAdmin(path, body)
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    log.set({ message: DONE.failed(text, error.message) })
    return false
  }
}
