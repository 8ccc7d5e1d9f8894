// Makes tokens and takes them back: changes that have no way back, unlike those of the policy.
import { ApiError } from '../common/api.ts'
import { confirm } from '../common/confirm.tsx'
import { DONE } from '../texts/admin.ts'
import { callAsAdmin } from './admin-login.ts'
import { lastChange } from './apply-change.ts'

/** @returns the relay's answer; undefined when it refused, which the page says */
export async function make<Made>(path: string, body: object, text: string): Promise<Made | undefined> {
  try {
    const made = await callAsAdmin<Made>(path, body)
    lastChange.set({ message: text })
    return made
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    lastChange.set({ message: DONE.failed(text, error.message) })
    return undefined
  }
}

/** Takes a token back, after the administrator confirmed it. */
export async function takeBack(path: string, body: object, text: string, question: string): Promise<void> {
  if (await confirm(question)) await make(path, body, text)
}
