// The visitors who wait until the owner of this tab's site lets them in.

import type { KnockingVisitor } from '@svc/sdk-browser'
import type { VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'

export function Knocks({ visitors }: { visitors: readonly KnockingVisitor[] }): VNode {
  return (
    <section class="knocks" aria-labelledby="knocks-heading">
      <h3 id="knocks-heading">
        {LANDING.knocks} <output class="count">{visitors.length}</output>
      </h3>
      {visitors.length === 0 && <p class="quiet">{LANDING.noKnocks}</p>}
      <ul class="visits">
        {visitors.map((visitor) => (
          <Knock key={visitor.code} visitor={visitor} />
        ))}
      </ul>
    </section>
  )
}

function Knock({ visitor }: { visitor: KnockingVisitor }): VNode {
  const { code, address = LANDING.unknownAddress, browser, path } = visitor
  const answers: readonly (readonly [text: string, answer: () => void])[] = [
    [LANDING.admit, () => visitor.admit()],
    [LANDING.admitAlways, () => visitor.admit({ always: true })],
    [LANDING.refuse, () => visitor.refuse()],
    [LANDING.refuseAlways, () => visitor.refuse({ always: true })],
  ]
  return (
    <li>
      <p>
        <strong>{code}</strong> {address}, {browser}, <code>{path}</code>
      </p>
      <div class="answers">
        {answers.map(([text, answer], at) => (
          <button
            key={text}
            type="button"
            class={at === 0 ? '' : 'plain'}
            aria-label={`${text}: ${code}`}
            onClick={answer}
          >
            {text}
          </button>
        ))}
      </div>
    </li>
  )
}
