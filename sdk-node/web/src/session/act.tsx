// Carries out changes that the user asks for, and says in one place what came of each.

import type { ApiError } from '@svc/relay-web/common/api.ts'
import { Store, useStore } from '@svc/relay-web/common/store.ts'
import type { VNode } from '@svc/relay-web/preact.ts'
import { AGENT_PATH } from '../../../src/agent/api-messages.ts'
import { ACT, APP } from '../texts/texts.ts'
import { ask } from './session.ts'

/** Milliseconds for which a message is shown. */
const MESSAGE_MS = 8_000

interface Said {
  text: string
  isWrong: boolean
  /** The file was edited meanwhile, and has to be read first. */
  mayReload: boolean
}

const said: Store<Said | undefined> = new Store<Said | undefined>(undefined)
let timer: ReturnType<typeof setTimeout> | undefined

/**
 * @param done what is said when it has worked
 * @returns whether it has
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

/** @returns a sentence for the user: the agent's own, where it is about what the user entered */
export function explain({ code, message }: ApiError): string {
  return ACT.reasons[code] ?? message
}

export function say(message: Said | undefined): void {
  clearTimeout(timer)
  said.set(message)
  if (message !== undefined) timer = setTimeout(() => said.set(undefined), MESSAGE_MS)
}

/** At the lower edge of the window, where it moves nothing. */
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
