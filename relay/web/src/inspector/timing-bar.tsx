// Where an exchange's time went, as a bar.

import type { VNode } from '../preact.ts'
import { DETAIL, ms } from './texts.ts'
import { spansOf } from './timing.ts'
import type { EntryDetail } from './types.ts'

export function TimingBar({ times }: { times: EntryDetail['times'] }): VNode | null {
  const spans = spansOf(times)
  if (spans.length === 0) return null
  return (
    <div class="timing">
      <div class="bar" aria-hidden="true">
        {spans.map(({ part, percent }) => (
          <span key={part} data-part={part} style={{ width: `${percent}%` }} />
        ))}
      </div>
      <dl class="legend" aria-label={DETAIL.timing}>
        {spans.map((span) => (
          <div key={span.part} data-part={span.part}>
            <dt>{DETAIL.spans[span.part]}</dt>
            <dd>{ms(span.ms)}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
