// Shows the recipient of the payments that the relay settles, and their outcomes.
import { CopyButton } from '../common/copy-button.tsx'
import type { VNode } from '../preact.ts'
import { PAYMENTS, SECTIONS } from '../texts/admin.ts'
import type { PageProps } from './page-props.ts'

export function PaymentsPage({ view: { payments } }: PageProps): VNode {
  const { network_name, pay_to, settled, refused, failed, open } = payments
  const counts = [
    [PAYMENTS.settled, settled],
    [PAYMENTS.refused, refused],
    [PAYMENTS.failed, failed],
    [PAYMENTS.open, open],
  ] as const
  return (
    <>
      <h1>{SECTIONS.payments}</h1>
      <section class="card" aria-labelledby="payments-heading">
        <h2 id="payments-heading">{PAYMENTS.title}</h2>
        <p class="quiet">{PAYMENTS.about(network_name)}</p>
        <dl class="fields">
          <div>
            <dt>{PAYMENTS.payTo}</dt>
            <dd>
              <code>{pay_to}</code> <CopyButton text={pay_to} label={PAYMENTS.copy} />
            </dd>
          </div>
          {counts.map(([name, count]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{count}</dd>
            </div>
          ))}
        </dl>
      </section>
    </>
  )
}
