// Asks the user for confirmation before a change that closes connections.
import type { VNode } from '../preact.ts'
import { COMMON } from '../texts/common.ts'
import { Modal } from './modal.tsx'
import { Store, useStore } from './store.ts'

interface Question {
  text: string
  answer(isYes: boolean): void
}

const question: Store<Question | undefined> = new Store<Question | undefined>(undefined)

/** Resolves with the answer; a closed dialog means no. */
export function confirm(text: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  question.set({
    text,
    answer: (isYes) => {
      question.set(undefined)
      resolve(isYes)
    },
  })
  return promise
}

export function Confirm(): VNode | null {
  const now = useStore(question)
  if (now === undefined) return null
  return (
    <Modal title={COMMON.sure} onClose={() => now.answer(false)}>
      <p>{now.text}</p>
      <div class="row end">
        <button type="button" class="plain" onClick={() => now.answer(false)}>
          {COMMON.cancel}
        </button>
        <button type="button" class="danger" onClick={() => now.answer(true)}>
          {COMMON.yes}
        </button>
      </div>
    </Modal>
  )
}
