// The visitors who wait to be let in, and the owner's answers. It is not there while nobody waits.

import type { VNode } from '@svc/relay-web/preact.ts'
import { AGENT_PATH, type AgentKnock, type AnswerKnockRequest } from '../../../src/agent/api-messages.ts'
import { act } from '../session/act.tsx'
import { KNOCKS } from '../texts/texts.ts'

interface KnocksCardProps {
  knocks: readonly AgentKnock[]
  refresh: () => Promise<void>
}

export function KnocksCard({ knocks, refresh }: KnocksCardProps): VNode | null {
  if (knocks.length === 0) return null
  return (
    <section class="card" aria-labelledby="knocks">
      <h2 id="knocks">{KNOCKS.title}</h2>
      <ul class="knocks">
        {knocks.map((knock) => (
          <Knock key={`${knock.tunnel} ${knock.code}`} knock={knock} refresh={refresh} />
        ))}
      </ul>
    </section>
  )
}

function Knock({ knock, refresh }: { knock: AgentKnock; refresh: () => Promise<void> }): VNode {
  const { tunnel, code, address = KNOCKS.unknownAddress, browser, path } = knock
  const answer = (admit: boolean, always: boolean): void => {
    const body: AnswerKnockRequest = { code, admit, always }
    void act(AGENT_PATH.answerKnock, body, KNOCKS.answered(code, admit), refresh)
  }
  return (
    <li>
      <p>
        <strong>{code}</strong> {[tunnel, address, browser].filter(Boolean).join(', ')}, <code>{path}</code>
      </p>
      <div class="actions">
        {KNOCKS.answers.map(({ text, admit, always }) => (
          <button
            key={text}
            type="button"
            class="small"
            aria-label={`${text}: ${code}`}
            onClick={() => answer(admit, always)}
          >
            {text}
          </button>
        ))}
      </div>
    </li>
  )
}
