// A tool server in this tab: an assistant shows its owner a text, or asks a question, which the owner answers here.
import { CopyableCode } from '../../common/copyable-code.tsx'
import { formatClock } from '../../common/format.ts'
import { useStore } from '../../common/store.ts'
import { useState, type VNode } from '../../preact.ts'
import { TOOLS } from '../../texts/tools.ts'
import { publication } from '../publication.ts'
import type { Demo } from './demo.ts'
import { mcpServer } from './mcp-server.ts'
import { textPage } from './text-page.ts'
import { type Call, createToolCalls, type ToolCalls } from './tool-calls.ts'

export function createDemo(): Demo {
  const calls = createToolCalls()
  const about = (): Response =>
    textPage({ title: TOOLS.pageTitle, text: TOOLS.pageText, foot: TOOLS.pageFoot })
  return { fetch: mcpServer(calls.tools, about), View: () => <Calls calls={calls.calls} /> }
}

/** What most clients take as their list of servers. */
function configurationFor(url: string): string {
  return JSON.stringify({ mcpServers: { tab: { type: 'http', url: `${url}/` } } }, undefined, 2)
}

function Calls({ calls }: Pick<ToolCalls, 'calls'>): VNode {
  const list = useStore(calls)
  const url = useStore(publication)?.url ?? ''
  return (
    <section class="card" aria-labelledby="tools-heading">
      <h2 id="tools-heading">{TOOLS.title}</h2>
      <p class="quiet">{TOOLS.connect}</p>
      <CopyableCode code={url === '' ? '' : configurationFor(url)} label={TOOLS.copy} />
      <h3>{TOOLS.calls}</h3>
      <div role="log" aria-label={TOOLS.calls}>
        {list.length === 0 && <p class="quiet">{TOOLS.noCalls}</p>}
        <ol class="calls">
          {list.map((call) => (
            <OneCall key={call.id} {...call} />
          ))}
        </ol>
      </div>
    </section>
  )
}

function OneCall({ id, at, text, state, answered, answer }: Call): VNode {
  const [typed, setTyped] = useState('')
  const submit = (event: Event): void => {
    event.preventDefault()
    answer?.(typed)
  }
  return (
    <li>
      <p>
        <time class="quiet">{formatClock(at)}</time> <span dir="auto">{text}</span>
      </p>
      {state === 'waiting' && (
        <form class="row" onSubmit={submit}>
          <input
            aria-label={TOOLS.answerTo(text)}
            id={`answer-${id}`}
            required
            autocomplete="off"
            enterkeyhint="send"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <button type="submit">{TOOLS.answer}</button>
        </form>
      )}
      {state === 'answered' && <p class="quiet">{TOOLS.answered(answered ?? '')}</p>}
      {state === 'over' && <p class="quiet">{TOOLS.over}</p>}
    </li>
  )
}
