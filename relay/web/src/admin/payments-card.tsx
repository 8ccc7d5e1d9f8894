// Shows the recipient of the payments that the relay settles, and their outcomes.
import '../style/admin/overview.css'
import { CopyableCode } from '../common/copyable-code.tsx'
import type { VNode } from '../preact.ts'
import { PAYMENTS, SECTIONS } from '../texts/admin.ts'
import type { PageProps } from './page-props.ts'

export function PaymentsPage({ view: { payments } }: PageProps): VNode {
  const { network_name, pay_to, settled, refused, failed, open } = payments
  const counts = [
    [...PAYMENTS.settled, settled],
    [...PAYMENTS.refused, refused],
    [...PAYMENTS.failed, failed],
    [...PAYMENTS.open, open],
  ] as const
  return (
    <>
      <h1>{SECTIONS.payments}</h1>
      <section class="card" aria-labelledby="payments-heading">
        <h2 id="payments-heading">{PAYMENTS.title}</h2>
        <p class="quiet">{PAYMENTS.about(network_name)}</p>
        <p class="quiet">{PAYMENTS.payTo}</p>
        <CopyableCode code={pay_to} label={PAYMENTS.copy} />
      </section>
      <dl class="tiles">
        {counts.map(([name, about, count]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {count.toLocaleString('en')}
              <small>{about}</small>
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}
