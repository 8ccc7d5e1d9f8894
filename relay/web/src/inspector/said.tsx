// What an action of the inspector came to, shown for some seconds.

import { Store, useStore } from '../common/store.ts'
import type { VNode } from '../preact.ts'
import { SAID } from './texts.ts'

/** In milliseconds. */
const SHOWN_MS = 6_000

const said: Store<{ text: string; isWrong: boolean }> = new Store({ text: '', isWrong: false })
let timer: ReturnType<typeof setTimeout> | undefined

export function say(text: string, isWrong = false): void {
  clearTimeout(timer)
  said.set({ text, isWrong })
  timer = setTimeout(() => said.set({ text: '', isWrong: false }), SHOWN_MS)
}

/** Does something, and says why it failed. @returns whether it succeeded */
export async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act()
    return true
  } catch (error) {
    say((error as Error).message, true)
    return false
  }
}

export async function copy(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    say(done)
  } catch {
    say(SAID.notCopied, true)
  }
}

/** Hands a text to the browser as a file. */
export function save(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), SHOWN_MS)
}

export function Said(): VNode {
  const { text, isWrong } = useStore(said)
  return (
    <div class="message" role="status" data-shown={text !== ''} data-wrong={isWrong}>
      <bdi>{text}</bdi>
    </div>
  )
}
