// Makes the user's changes, and shows their outcomes in one place.

import type { ApiError } from '@svc/relay-web/common/api.ts'
import { Store, useStore } from '@svc/relay-web/common/store.ts'
import type { VNode } from '@svc/relay-web/preact.ts'
import { AGENT_PATH } from '../../../src/agent/api-messages.ts'
import { ACT, APP } from '../texts/texts.ts'
import { ask } from './session.ts'

/** How long a message is shown, in milliseconds. */
const MESSAGE_MS = 8_000

interface Said {
  text: string
  isWrong: boolean
  /** True when the file was edited meanwhile and must be reloaded first. */
  mayReload: boolean
}

const said: Store<Said | undefined> = new Store<Said | undefined>(undefined)
let timer: ReturnType<typeof setTimeout> | undefined

/**
 * @param done the message on success
 * @returns whether it succeeded
 */
export async function act(
  path: string,
  body: object,
  done: string,
  refresh: () => Promise<void>,
): Promise<boolean> {
  try {
    await ask(path, { body })
  } catch (error) {
    const { code } = error as ApiError
    say({ text: explain(error as ApiError), isWrong: true, mayReload: code === 'config_changed' })
    return false
  }
  say({ text: done, isWrong: false, mayReload: false })
  await refresh()
  return true
}

/** @returns the message for the user: the agent's own if it is about the user's input */
export function explain({ code, message }: ApiError): string {
  return ACT.reasons[code] ?? message
}

export function say(message: Said | undefined): void {
  clearTimeout(timer)
  said.set(message)
  if (message !== undefined) timer = setTimeout(() => said.set(undefined), MESSAGE_MS)
}

/** Shown at the bottom of the window, without shifting the layout. */
export function Message({ isGone }: { isGone: boolean }): VNode {
  const now = useStore(said)
  const text = isGone ? APP.goneWithData : (now?.text ?? '')
  const reload = (): void => void act(AGENT_PATH.reload, {}, ACT.reloaded, async () => {})
  return (
    <div class="message" role="status" data-shown={text !== ''} data-wrong={isGone || now?.isWrong === true}>
      <bdi>{text}</bdi>
      {!isGone && now?.mayReload && (
        <button type="button" class="small" onClick={reload}>
          {ACT.reload}
        </button>
      )}
    </div>
  )
}
